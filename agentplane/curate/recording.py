"""Recording the state of evidence in the operations that approve or renew entries."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from agentplane.memory.entry import Entry, Header, read_header
from agentplane.memory.view import Memory
from agentplane.plane.git import git
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.records import OBSERVING, PARTLY_OBSERVING, SUCCEEDING
from agentplane.text.markdown import document


if TYPE_CHECKING:
    from pathlib import Path

    from agentplane.curate.recorded import Observed
    from agentplane.plane.store.records import Observation


def with_observations(plan: Plan, memory: Memory) -> Plan:
    """Return the plan with the current state of the evidence of the entries that it approves or renews.

    An operation that changes the evidence of an entry counts as an approval. If it only sets fields, it counts as
    an approval of the evidence that it adds. Other operations keep the state that an earlier one recorded.
    """
    if plan.verb in SUCCEEDING:
        return _with_earlier(plan, memory)
    if plan.verb not in OBSERVING:
        return plan
    renewed = {id_: memory.get(id_).head.evidence for id_ in plan.observed}
    approved = _approved(plan.edits, memory)
    if plan.verb == PARTLY_OBSERVING:
        approved = {id_: added for id_, pieces in approved.items() if (added := _added(memory, id_, pieces))}
    wanted = {**renewed, **approved}
    if not wanted:
        return plan
    project = memory.snapshot.layout.project
    return msgspec.structs.replace(plan, observed=_observed(wanted, project), commit=git.head(project))


def _with_earlier(plan: Plan, memory: Memory) -> Plan:
    """Return a plan whose new texts keep the state that the evidence of the earlier entries had at their approval.

    A person who merges or splits entries doesn't check their evidence again. Only new pieces are observed now.
    """
    heads = {edit.id: head for edit in plan.edits if (head := _accepted(edit)) is not None}
    wanted = {id_: head.evidence for id_, head in heads.items() if head.evidence}
    if not wanted:
        return plan
    from agentplane.curate import recorded

    project = memory.snapshot.layout.project
    known = recorded.of(memory).observed
    earlier = [memory.entries[edit.id] for edit in plan.edits if edit.id in memory.entries]
    before = [_recorded(entry, known[entry.id], project) for entry in earlier if entry.id in known]
    texts = list(dict.fromkeys(text for pieces in wanted.values() for text in pieces))
    now = {found.evidence: found for found in _observed({"": texts}, project)[""]}
    states = {
        text: _oldest([states[text] for states in before if text in states], now[text]) for text in texts
    }
    carried = {id_: [states[text] for text in pieces] for id_, pieces in wanted.items()}
    commit = next(iter(heads.values())).anchor
    return msgspec.structs.replace(plan, observed=carried, commit=commit or git.head(project))


def _oldest(before: "Sequence[Observation]", now: "Observation") -> "Observation":
    """Return the earlier state of one piece of evidence.

    If entries recorded different states, a state that differs from the current one counts. A change stays visible.
    """
    return next((state for state in before if state != now), before[0] if before else now)


def _recorded(entry: Entry, found: "Observed", project: "Path") -> "dict[str, Observation]":
    """Return the recorded state of an entry's evidence. Git has the state of pieces that have none."""
    from agentplane.curate.anchors.compare import comparison

    states = {one.evidence: one for one in found.evidence or ()}
    missing = [text for text in entry.head.evidence if text not in states]
    if missing:
        with comparison(project, found.commit) as compared:
            states |= {one.evidence: one for one in compared.derived(missing, found.commit)}
    return states


def _approved(edits: Sequence[Edit], memory: Memory) -> dict[str, Sequence[str]]:
    """Return the evidence of each entry that is new, or that gets other evidence."""
    found: dict[str, Sequence[str]] = {}
    for edit in edits:
        head = _accepted(edit)
        if head is None:
            continue
        before = memory.entries.get(edit.id)
        is_same = before is not None and before.trusted and before.head.evidence == head.evidence
        if head.evidence and (edit.was is not None or not is_same):
            found[edit.id] = head.evidence
    return found


def _added(memory: Memory, id_: str, pieces: Sequence[str]) -> list[str]:
    """Return the pieces of evidence that an entry doesn't cite yet."""
    return [piece for piece in pieces if piece not in memory.entries[id_].head.evidence]


def _accepted(edit: Edit) -> Header | None:
    """Return the header of an accepted entry with evidence."""
    if edit.file == INBOX or edit.text is None or b"evidence" not in edit.text:
        return None
    blocks = document.parse(edit.text).blocks
    head = read_header(blocks[0].packed)[0] if blocks else None
    return head if head is not None and head.status == "accepted" else None


def _observed(wanted: Mapping[str, Sequence[str]], project: "Path") -> "dict[str, list[Observation]]":
    if not any(wanted.values()):
        return {id_: [] for id_ in wanted}
    from agentplane.curate.anchors.observe import observe
    from agentplane.curate.anchors.tree import WorkTree

    tree = WorkTree(project)
    return {id_: list(observe(evidence, tree)) for id_, evidence in wanted.items()}
