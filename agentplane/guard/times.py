"""The check that an operation's time matches its id, is not in the future, and is not days before its
ancestors.

Times decide where branches meet. The later text counts until it is settled, and the earlier entry keeps its
id. An operation that settles takes its time from the events that it joins, which may include the event of a
run. Therefore it may be older than the operation before it. It must not be later than all events that it
joins, or in the future.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from agentplane.findings import Finding, Instruction
from agentplane.guard import proven_ops
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.plane.layout import LOG
from agentplane.plane.ledger.log_events import OP
from agentplane.text.log import event_line


_SKEW = timedelta(days=1)
"""Tolerated difference between correct clocks."""


_TS = re.compile(rb'"ts":"([^"]*)"')
_SETTLES = b'"verb":"settle"'


def findings(base: Side, now: Side, done: Sequence[LoggedOp], at: datetime) -> Iterator[Finding]:
    fresh = [op for op in done if op.line not in base.lines]
    by_hash = (
        {event_line.stated_by(line): line for line in now.log if event_line.has_form(line)} if fresh else {}
    )
    for op in fresh:
        yield from _times(op, now, by_hash, at)


def _times(op: LoggedOp, now: Side, by_hash: Mapping[bytes, bytes], at: datetime) -> Iterator[Finding]:
    where, event = now.where(LOG, op.number), op.event
    remedies = (
        Instruction(
            "Correct the clock of the machine that made the change, remove the operation, and repeat the change."
        ),
    )
    moment = _moment(event.ts)
    if moment is None:
        yield Finding(
            "op-without-time", "error", where, f"{op.name} doesn't have a valid timestamp", remedies, event.op
        )
        return
    if event.op[:16] != f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}":
        what = f"{op.name} has a different time in its ID than in its log line"
        yield Finding("op-time-unlike-id", "error", where, what, remedies, event.op)
    if moment > at + _SKEW:
        what = f"{op.name} is dated in the future ({shown(event.ts, 30)})"
        yield Finding("op-from-future", "error", where, what, remedies, event.op)
    if (event.verb, event.channel) == proven_ops.SETTLES:
        joined = _joined(op.line, by_hash)
        if len(joined) > 1 and moment > max(joined):
            what = f"{op.name} is dated later than every event that it reconciles ({shown(event.ts, 30)})"
            yield Finding("op-too-late", "error", where, what, remedies, event.op)
        return
    earlier = [found for line in _parents(op.line, by_hash) if (found := _moment(proven_ops.time_of(line)))]
    if earlier and moment < max(earlier) - _SKEW:
        what = f"{op.name} is dated more than a day before the event that it follows ({shown(event.ts, 30)})"
        yield Finding("op-too-early", "error", where, what, remedies, event.op)


def _parents(line: bytes, by_hash: Mapping[bytes, bytes]) -> list[bytes]:
    """Return the operation events that an event follows directly. The times of runs are not trusted here."""
    if not event_line.is_intact(line):
        return []
    names = (name.hex().encode() for name in event_line.parents_of(line))
    found = (by_hash.get(name, b"") for name in names)
    return [event for event in found if OP.matches(event) and _SETTLES not in event]


def _joined(line: bytes, by_hash: Mapping[bytes, bytes]) -> list[datetime]:
    """Return the times of all events that an operation follows directly, including runs."""
    names = (
        [name.hex().encode() for name in event_line.parents_of(line)] if event_line.is_intact(line) else []
    )
    stated = (_TS.search(by_hash.get(name, b"")) for name in names)
    return [moment for found in stated if found and (moment := _moment(found[1].decode(errors="replace")))]


def _moment(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else None
