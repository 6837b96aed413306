"""The operations of a log with their proven records, and the kind of actor behind each of them."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger import log_events
from agentplane.plane.ledger.log_events import Kind
from agentplane.plane.store import records
from agentplane.plane.store.records import Change, Record
from agentplane.plane.trust import rules


PERSONAL = ("terminal", "tui")
"""The channels that people use to decide."""
UNPERSONAL = ("mcp", "hook")
"""The channels that only programs use."""
SETTLES = ("settle", "merge")
"""Verb and channel of the operation that joins branches after a merge. It needs no decision."""

_TOOLS = frozenset(tool.name for tool in TOOLS if tool.variables)
"""The tools that agentplane recognizes by environment variables. Other names can belong to people."""
_WRITES = ("propose", "replace", "edit", "merge", "adopt", "merge-entries", "split-entry", "change-kind")
"""The verbs that provide a text. The other verbs move a text or stamp it."""


class EventFields(msgspec.Struct, frozen=True):
    """The fields of an operation event."""

    kind: Literal["op"]
    op: str
    ts: str
    verb: str
    actor: str
    channel: str
    ids: list[str]
    op_sha256: str


class LoggedOp(msgspec.Struct, frozen=True):
    """An operation event in the log, with its record if the record is proven."""

    number: int
    """The line number in the log."""
    line: bytes
    event: EventFields
    record: Record | None

    @property
    def changes(self) -> list[Change]:
        """The changes of the operation, or none if they are not proven."""
        return self.record.changes if self.record else []

    @property
    def name(self) -> str:
        return f"operation {shown(self.event.op, 40)} ({named(self.event.verb, self.event.ids)})"


class _Kind(msgspec.Struct, frozen=True):
    kind: str = ""
    run_id: str = ""
    summary: str | None = None


_OP = Kind("op", EventFields)
_RUN = Kind("run", _Kind)
_EVENT = Kind("", _Kind)


def of(side: Side) -> list[LoggedOp]:
    """Return all operation events of a log in log order, one for each operation."""
    found: dict[str, LoggedOp] = {}
    for number, line in enumerate(side.log, 1):
        event = _OP.read(line)
        if event and event.op not in found:
            record = records.read_head(side.heads.get(event.op_sha256), event.op)
            found[event.op] = LoggedOp(number, line, event, record)
    return list(found.values())


def runs_of(side: Side) -> set[str]:
    """Return the ids of the runs that have an event in the log."""
    return runs_among(side.log)


def runs_among(lines: Iterable[bytes]) -> set[str]:
    """Return the ids of the runs that have an event among these lines."""
    return {run.run_id for _, run in log_events.iterate(lines, kind=_RUN) if run.kind == "run"} - {""}


def called(line: bytes) -> str:
    """Return a short description of an event for a message."""
    if event := _OP.read(line):
        return f"{named(event.verb, event.ids)}, operation {shown(event.op, 40)}"
    other = _EVENT.read(line) or _Kind()
    return f"run {shown(other.run_id, 40)}" if other.kind == "run" else shown(other.kind, 20) or "no event"


def op_of(line: bytes) -> str | None:
    """Return the operation id of an operation event, or None for other lines."""
    event = _OP.read(line)
    return event.op if event else None


def time_of(line: bytes) -> str | None:
    """Return the time that an operation event states, or None for other lines."""
    event = _OP.read(line)
    return event.ts if event else None


def named(verb: str, ids: list[str]) -> str:
    """Return a short description, for example `approve CAND-7F3K2Q, DEC-001`."""
    more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
    return shown(verb, 20) + (f" {', '.join(shown(id_, 40) for id_ in ids[:3])}{more}" if ids else "")


def by_tool(record: Record) -> bool:
    """True if a coding tool did the operation, according to its record."""
    return record.channel in UNPERSONAL or bool({record.actor, record.program} & _TOOLS)


def is_tool(name: str | None) -> bool:
    return name in _TOOLS


def only_proposes(record: Record) -> bool:
    """True if the operation does only what everyone may do.

    Everyone may add new candidates to the inbox, or write an operation that changes no entry.
    """
    if record.prunes or record.redacted or record.undoes or record.observed or record.dismissed:
        return False
    fresh = all(map(_is_new_candidate, record.changes))
    return fresh and (record.verb == "propose" or not record.changes)


def _is_new_candidate(change: Change) -> bool:
    return (
        change.file == INBOX
        and (change.before, change.found, change.was) == (None, None, None)
        and change.left == change.after is not None
    )


def only_replaces(record: Record) -> bool:
    """True if the operation removes candidates that operations put into the inbox, and adds new ones.

    Whether their proposer may replace them is checked elsewhere.
    """
    if record.verb != "replace" or record.prunes or record.redacted or record.undoes:
        return False
    return all(
        _is_new_candidate(change)
        or (
            change.file == INBOX
            and change.was is None
            and change.before == change.found is not None
            and change.left is change.after is None
        )
        for change in record.changes
    )


def only_notes_settings(record: Record) -> bool:
    """True if the operation records the trust settings of its time and changes nothing."""
    changes_nothing = not (record.changes or record.prunes or record.redacted or record.undoes)
    return record.verb == rules.VERB and changes_nothing and rules.is_noted(record.settings)


def only_in_place(record: Record) -> bool:
    """True if the operation leaves its entries in the inbox, and only changed texts that operations had put
    there.
    """
    return not (record.prunes or record.redacted or record.undoes) and all(
        change.file == INBOX
        and change.was is None
        and change.before == change.found is not None
        and change.left == change.after is not None
        for change in record.changes
    )


def written_by_tool(ops: Iterable[LoggedOp]) -> dict[str, bool]:
    """Return, for each id, True if a tool wrote its text. The last operation that provided a text decides."""
    tools: dict[str, bool] = {}
    for op in ops:
        for change in op.changes:
            if op.record and op.record.verb in _WRITES and change.left is not None:
                tools[change.id] = by_tool(op.record)
            elif change.was in tools:
                tools[change.id] = tools[change.was]
    return tools
