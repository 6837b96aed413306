"""The records that queries filter and sort, one for each candidate, approved entry or run. Their texts are in lower case.

Making a record is slower than matching it, so callers that match often keep their records.
"""

from datetime import date

import msgspec

from agentplane.memory import expiry, postpone
from agentplane.memory.entry import Entry
from agentplane.memory.expiry import Expiry
from agentplane.memory.view import HandEdit
from agentplane.review.inbox import Reviewed
from agentplane.runs.query.timeline import TimelineRow
from agentplane.text import moments


class QueryRecord(msgspec.Struct, frozen=True, gc=False):
    key: str
    """The id of its row in a list."""
    text: str
    """The text in which words are found."""
    id: str = ""
    statement: str = ""
    kind: str = ""
    status: str = ""
    tool: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    run: str = ""
    task: str = ""
    outcome: str = ""
    layer: str = ""
    at: float | None = None
    """When it was last updated, in seconds."""
    states: frozenset[str] = frozenset()


def values_of(record: QueryRecord, field: str) -> tuple[str, ...]:
    """Return the values of a text field that completion offers."""
    match field:
        case "kind":
            return (record.kind,)
        case "tool":
            return record.tool
        case "by":
            return record.by
        case "tag":
            return record.tags
        case "path":
            return record.scope
        case "run":
            return (record.run.partition("-")[2],)
        case "task":
            return (record.task,)
        case "layer":
            return (record.layer,)
        case "id":
            return (record.id,)
    raise ValueError(field)


def of_candidate(entry: Entry) -> QueryRecord:
    """Return the record of a candidate. Words are found in its statement and in the fields of its header."""
    head = entry.head
    source = head.source or ""
    words = (entry.id, entry.statement, head.type, *head.tags, *head.scope, head.proposed_by or "", source)
    return _of_entry(entry, " ".join(words))


def of_approved(entry: Entry) -> QueryRecord:
    """Return the record of an approved entry. Words are found in all of its text."""
    text = entry.raw.decode(errors="replace")
    return _of_entry(entry, f"{entry.id} {text} {' '.join(entry.head.tags)} {entry.head.type}")


def _of_entry(entry: Entry, text: str) -> QueryRecord:
    head = entry.head
    proposed_by = (head.proposed_by or "").casefold()
    approved_by = (head.approved_by or "").casefold()
    return QueryRecord(
        key=entry.id,
        text=text.casefold(),
        id=entry.id.casefold(),
        statement=entry.statement.casefold(),
        kind=head.type.casefold(),
        status=head.status.casefold(),
        tool=(proposed_by,) if proposed_by else (),
        by=tuple(filter(None, (proposed_by, approved_by))),
        tags=tuple(tag.casefold() for tag in head.tags),
        scope=tuple(path.casefold() for path in head.scope),
        run=(head.source or "").casefold(),
        layer=(head.layer or "").casefold(),
        at=moments.seconds(head.updated or ""),
    )


replace = msgspec.structs.replace


def with_states(record: QueryRecord, states: frozenset[str]) -> QueryRecord:
    return replace(record, states=states) if states else record


def states_of_candidate(
    entry: Entry, reviewed: Reviewed | None, today: date, *, edited: bool
) -> frozenset[str]:
    """Return the values of `is:` that a candidate has."""
    postponed = postpone.of(entry.head, today)
    return _named(
        conflict=reviewed is not None and reviewed.contested,
        flagged=reviewed is not None and bool(reviewed.flags),
        ready=reviewed is not None and reviewed.clean,
        unchecked=reviewed is None or not reviewed.checked,
        expired=expiry.is_over(entry.head, today),
        pinned=entry.head.pinned,
        snoozed=postponed is not None and postponed.reason == "snoozed",
        sent_back=entry.head.sent_back is not None,
        edited=edited,
    )


def states_of_approved(entry: Entry, expiring: Expiry | None, *, edited: bool) -> frozenset[str]:
    """Return the values of `is:` that an approved entry has."""
    return _named(
        expired=expiring is not None and expiring.state == "expired",
        expiring=expiring is not None and expiring.state == "soon",
        pinned=entry.head.pinned,
        edited=edited,
    )


def of_edit(edit: HandEdit, entry: Entry | None) -> QueryRecord:
    """Return the record of a manual edit, and of the entry that it changed if that can still be read."""
    states = frozenset({"manual-edit"})
    text = f"{edit.id} {edit.change} {edit.file}".casefold()
    if entry is None:
        return QueryRecord(edit.id, text, edit.id.casefold(), states=states)
    made = of_candidate(entry)
    return replace(made, text=f"{text} {made.text}", states=states)


def _named(*, edited: bool, **states: bool) -> frozenset[str]:
    found = {name.replace("_", "-") for name, has in states.items() if has}
    return frozenset({*found, "manual-edit"} if edited else found)


def of_run(row: TimelineRow) -> QueryRecord:
    """Return the record of a run, or of another event in the log."""
    words = (row.run_id, row.task, row.title, row.tool, row.summary, *row.command)
    words = (*words, row.verb, row.actor, *row.ids)
    tool, actor = (row.tool or "").casefold(), (row.actor or "").casefold()
    return QueryRecord(
        key=row.run_id or row.op or "",
        text=" ".join(filter(None, words)).casefold(),
        id=(row.run_id or row.op or "").casefold(),
        tool=tuple(filter(None, (tool, actor))),
        by=tuple(filter(None, (tool, actor))),
        run=(row.run_id or "").casefold(),
        task=(row.task or "").casefold(),
        outcome=row.outcome if row.run_id else "",
        layer=(row.layer or "").casefold(),
        at=moments.seconds(row.ts or ""),
    )
