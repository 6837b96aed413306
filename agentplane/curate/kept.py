"""The stored result of the last pass, which other commands read without running the checks.

The files are derived, and the next pass makes them again. The earlier values of the health figure are the exception.
They are lost if a person deletes `cache/`.
"""

import hashlib
from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from agentplane.curate.kinds import Group, Kind
from agentplane.findings import Severity
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.ledger.ledger import Ledger
from agentplane.text.json import decode


# `status` and hooks read only the counts, so this module doesn't import the checks.
if TYPE_CHECKING:
    from agentplane.curate.curator import Curation
    from agentplane.curate.finding import Finding
    from agentplane.curate.recorded import Recorded
    from agentplane.curate.subject import Subject
    from agentplane.memory.view import Memory

T = TypeVar("T")

COUNTS = cache.CacheFile("curator-counts")
MARKS = cache.CacheFile("curator-marks", "2")
COURSE = cache.CacheFile("curator-course")

_MOST_POINTS = 1000
_SEEN_LENGTH = 12
_DECISIONS = frozenset(("renew", "dismiss"))


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """An open finding without its proof."""

    key: str
    kind: Kind
    ids: tuple[str, ...]
    severity: Severity
    group: Group
    since: date
    """The day on which a pass first found it."""
    seen: tuple[str, ...] = ()
    """A short digest of each of its entries, with the state of its evidence that was recorded."""


class Counts(msgspec.Struct, frozen=True):
    """The number of open findings in each group."""

    state: str
    """A digest of the memory and the decisions about findings at the time of the pass."""
    at: datetime
    groups: Mapping[Group, int]

    @property
    def to_decide(self) -> int:
        return self.groups.get("decide", 0)


class Point(msgspec.Struct, frozen=True):
    """The health figure of one day."""

    day: date
    percent: int
    entries: int
    findings: int


_counts = decode.Json(Counts)
_marks = decode.Json(tuple[Mark, ...])
_course = decode.Json(tuple[Point, ...])


def state_of(ledger: Ledger) -> str:
    """Return a text that changes if the memory changes, or if a person renews entries or dismisses findings."""
    decided = sum(note.verb in _DECISIONS or note.undoes is not None for note in ledger.ops)
    return f"{ledger.revision()} {decided}"


def counts(layout: Layout) -> Counts | None:
    """Return the counts of the last pass, or None if there was none."""
    return _read(layout, COUNTS, _counts)


def marks(layout: Layout) -> tuple[Mark, ...]:
    """Return the open findings of the last pass."""
    return _read(layout, MARKS, _marks) or ()


def course(layout: Layout) -> tuple[Point, ...]:
    """Return the health figure over time, one point for each day with a whole pass, oldest first."""
    return _read(layout, COURSE, _course) or ()


def valid_marks(memory: "Memory") -> tuple[Mark, ...]:
    """Return the findings of the last pass that still apply.

    A finding no longer applies if an entry was changed or renewed since the pass, or if a person dismissed the
    finding.
    """
    layout, ledger = memory.snapshot.layout, memory.snapshot.ledger
    found = marks(layout)
    if not found:
        return ()
    last = counts(layout)
    if last is not None and last.state == state_of(ledger):
        return found
    from agentplane.curate import recorded

    now = recorded.of(memory)
    return tuple(
        one for one in found if one.key not in now.dismissed and one.seen == _seen(memory, now, one.ids)
    )


def _seen(memory: "Memory", now: "Recorded", ids: Collection[str]) -> tuple[str, ...]:
    return tuple(_seen_entry(memory, now, id_) for id_ in ids)


def _seen_entry(memory: "Memory", now: "Recorded", id_: str) -> str:
    entry = memory.entries.get(id_)
    state = (entry.digest if entry else None, now.observed.get(id_))
    return hashlib.sha256(msgspec.msgpack.encode(state)).hexdigest()[:_SEEN_LENGTH]


def keep(subject: "Subject", made: "Curation", at: datetime) -> None:
    """Keep the result of a pass over all entries."""
    layout, ledger = subject.layout, subject.memory.snapshot.ledger
    _save(layout, ledger.head, state_of(ledger), at, _marked(subject, made.findings, made.day))
    if made.health is not None:
        point = Point(made.day, made.health.percent, made.health.entries, len(made.findings))
        earlier = tuple(one for one in course(layout) if one.day < made.day)
        cache.save(layout, COURSE, msgspec.json.encode((*earlier, point)[-_MOST_POINTS:]))


def keep_part(
    subject: "Subject", made: "Curation", looked_at: Collection[str], state: str | None = None
) -> None:
    """Replace what is kept about some entries with the result of a pass over them.

    `state` is the new state of everything that is kept. None leaves it unchanged, because the other
    entries weren't checked. Nothing is kept before the first whole pass, because the counts would be too low.
    """
    layout, ledger = subject.layout, subject.memory.snapshot.ledger
    before = counts(layout)
    if before is None:
        return
    wanted = set(looked_at)
    others = tuple(mark for mark in marks(layout) if wanted.isdisjoint(mark.ids))
    found = (*others, *_marked(subject, made.findings, made.day))
    _save(layout, ledger.head, state or before.state, before.at, found)


def _save(layout: Layout, head: str | None, state: str, at: datetime, found: tuple[Mark, ...]) -> None:
    groups: dict[Group, int] = {}
    for mark in found:
        groups[mark.group] = groups.get(mark.group, 0) + 1
    cache.save_as_of(layout, head, MARKS, msgspec.json.encode(found))
    cache.save_as_of(layout, head, COUNTS, msgspec.json.encode(Counts(state, at, groups)))


def _marked(subject: "Subject", findings: "tuple[Finding, ...]", day: date) -> tuple[Mark, ...]:
    """Return the marks of findings, each with the day on which it was found first."""
    since = {mark.key: mark.since for mark in marks(subject.layout)}
    return tuple(
        Mark(
            key=one.key,
            kind=one.kind,
            ids=one.ids,
            severity=one.severity,
            group=one.row.group,
            since=since.get(one.key, day),
            seen=_seen(subject.memory, subject.recorded, one.ids),
        )
        for one in findings
    )


def _read(layout: Layout, file: cache.CacheFile, codec: decode.Json[T]) -> T | None:
    data = cache.load(layout, file)
    try:
        return codec.decode(data) if data else None
    except msgspec.MsgspecError:
        return None
