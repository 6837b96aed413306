"""The answer of each tool.

A handler takes a session and arguments, returns the output fields, and doesn't know the protocol.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from agentplane import commands
from agentplane.api import Logged
from agentplane.context import notes
from agentplane.context.choose import Ask
from agentplane.curate import doubts
from agentplane.errors import BadInput
from agentplane.mcp import tools
from agentplane.mcp.resources import NOT_REVIEWED
from agentplane.mcp.session import Session
from agentplane.memory.proposing import Proposal
from agentplane.retrieval.scan import Result, Wanted
from agentplane.text.visible import one_line, visible


_LONGEST = 1500
"""Maximum characters of one entry in the results of a search."""
_NEAR = 3

Fields = dict[str, Any]


def recall(session: Session, asked: tools.RecallArguments) -> Fields:
    if not asked.query.strip():
        raise BadInput("The query is empty.", where="query", todo="Pass the words to search for.")
    wanted = Wanted(asked.kind, asked.tag, asked.status, asked.path)
    memory = session.plane.memory.read_for_tools()
    found = session.plane.recall.find_in(memory, asked.query, limit=asked.limit, wanted=wanted)
    results = {"results": [_found(result) for result in found.results]}
    return results | _withheld(found.doubtful) | _notices(session) | session.sent_back(memory)


def _withheld(ids: Sequence[str]) -> Fields:
    """Return a field with the matching entries that the tool doesn't get, or no field."""
    return {"withheld": {"may_no_longer_be_true": list(ids)}} if ids else {}


def _notices(session: Session) -> Fields:
    """Return a field with the failures of extensions that the tool was not told yet, or no field."""
    failures = [
        one_line(f"{error.what} agentplane uses its built-in implementation instead. {error.todo}", _LONGEST)
        for error in session.new_failures()
    ]
    return {"notices": failures} if failures else {}


def _found(result: Result) -> Fields:
    text = visible(result.text)
    if not result.trusted:
        text = f"{NOT_REVIEWED}\n\n{notes.fenced(text)}"
    more = f"… (full text: agentplane://entry/{result.id})" if len(text) > _LONGEST else ""
    return {
        "id": result.id,
        "kind": result.kind,
        "score": result.score,
        "text": text[:_LONGEST] + more,
        "why": one_line(result.why, 200),
        "file": result.file,
        "expired": result.expired,
        "trusted": result.trusted,
        **({"doubt": result.doubt} if result.doubt else {}),
    }


def propose(session: Session, asked: tools.ProposeArguments) -> Fields:
    plane = session.plane
    proposal = Proposal(
        type=asked.type,
        statement=asked.statement,
        rationale=asked.rationale,
        evidence=asked.evidence,
        tags=asked.tags,
        source=session.source(),
    )
    offered = plane.inbox.offer(commands.Propose(proposal, relation=asked.relation, joins=True))
    withheld = doubts.withheld(offered.memory, doubts.of(offered.memory))
    entry, conflicting = offered.reviewed.entry, {one.conflict.id for one in offered.conflicts}
    near = plane.recall.find_in(
        offered.memory, asked.statement[:_LONGEST], limit=_NEAR + len(conflicting)
    ).results
    fields: Fields = {
        "id": entry.id,
        "conflicts": [
            {
                "with": one.conflict.id,
                "kind": one.conflict.kind,
                "score": one.conflict.score,
                # Reasons and statements quote the entry.
                "reasons": [] if one.conflict.id in withheld else list(one.conflict.reasons),
                "waits": one.waits,
                **({"statement": one.statement} if one.statement and one.conflict.id not in withheld else {}),
            }
            for one in offered.conflicts
        ],
        "near": [
            {"id": result.id, "score": result.score, "statement": one_line(result.statement, 300)}
            for result in near
            if result.trusted and result.id not in conflicting
        ][:_NEAR],
        "flags": [one_line(flag, 300) for flag in offered.reviewed.flags],
        "waiting": offered.waiting,
        "again": offered.again,
    }
    if offered.earlier:
        fields["rejected"] = msgspec.to_builtins(offered.earlier)
    return fields | _notices(session) | session.sent_back(offered.memory)


def context(session: Session, asked: tools.ContextArguments) -> Fields:
    reader = session.plane.origin.actor
    pack = session.plane.tools.pack(Ask(asked.task, tuple(asked.paths), asked.budget, reader=reader))
    receipt = pack.receipt
    return {
        "text": pack.text,
        "revision": receipt.revision,
        "tokens": receipt.tokens,
        "cut": [cut.id for cut in receipt.cut][:100],
        "expired": [cut.id for cut in receipt.cut if cut.kind == "expired"][:100],
    }


def record(session: Session, asked: tools.RecordArguments) -> Fields:
    # Facts have no confidence here, so that no policy trusts a confidence that a tool gave itself.
    event: Fields = {
        "summary": asked.summary,
        "derived_facts": asked.facts,
        "next_actions": asked.next,
        "receipts": asked.receipts,
        "outputs": [{"path": path} for path in asked.outputs],
    }
    event = {name: value for name, value in event.items() if value}
    if asked.event:
        return _recorded_event(session, asked.event, event)
    if not event:
        raise BadInput("Nothing to record.", todo="Pass at least a `summary` of the work.")
    session.plane.listeners.step("writing")
    if session.run is not None:
        session.plane.runs.note(session.run.run_id, event)
        return {"run_id": session.run.run_id, "open": True, "candidates": [], "refused": []}
    return _logged(session.log(event | ({"task": asked.task} if asked.task else {})))


def _recorded_event(session: Session, event: Fields, others: Fields) -> Fields:
    """Log a complete run in the form of a log line. The session's open run becomes its parent."""
    if others:
        raise BadInput(
            "`event` can't be combined with other fields.",
            where="event",
            todo="Move the other fields into `event`.",
        )
    facts = event.get("derived_facts")
    if isinstance(facts, list) and not all(isinstance(fact, str) for fact in facts):
        what = "Invalid derived_facts: over MCP, each item must be text or the ID of a fact."
        raise BadInput(what, where="event", todo="Pass each fact as text, without other fields.")
    session.plane.listeners.step("writing")
    parent = {"parent_run_id": session.run.run_id} if session.run else {}
    own = {name: value for name, value in event.items() if value is not None}
    return _logged(session.plane.runs.log({"tool": session.plane.origin.actor, **parent, **own}))


def _logged(logged: Logged) -> Fields:
    fields: Fields = {
        "run_id": logged.run_id,
        "open": False,
        "candidates": [one.id for one in logged.promoted],
        "refused": [one_line(why, 300) for why in logged.refused],
    }
    return fields | ({"awaited": list(logged.awaited)} if logged.awaited else {})


ANSWERS: Mapping[str, Callable[[Session, Any], Fields]] = {
    "recall": recall,
    "propose": propose,
    "context": context,
    "record": record,
}
