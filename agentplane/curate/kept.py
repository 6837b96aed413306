"""The result of the last pass, kept so that other commands know it without running the checks.

The files are derived, and the next pass makes them again. The course of the health figure is the exception: it
begins again if a person deletes `cache/`.
"""

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


# `status` and hooks read the counts, and they need none of the checks.
if TYPE_CHECKING:
    from agentplane.curate.curator import Curation
    from agentplane.curate.finding import Finding

T = TypeVar("T")

COUNTS = cache.CacheFile("curator-counts")
MARKS = cache.CacheFile("curator-marks")
COURSE = cache.CacheFile("curator-course")

_MOST_POINTS = 1000
_DECISIONS = frozenset(("renew", "dismiss"))


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """An open finding without its proof."""

    key: str
    kind: Kind
    ids: tuple[str, ...]
    severity: Severity
    group: Group
    since: date
    """The day on which a pass found it first."""


class Counts(msgspec.Struct, frozen=True):
    """The number of open findings in each group."""

    state: str
    """The memory and the decisions about findings that the pass saw."""
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
    """Return a text that changes with the memory, and when a person renews entries or dismisses findings."""
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


def keep(layout: Layout, ledger: Ledger, made: "Curation", at: datetime) -> None:
    """Keep the result of a pass over all entries."""
    _save(layout, ledger.head, state_of(ledger), at, _marked(layout, made.findings, made.day))
    if made.health is not None:
        point = Point(made.day, made.health.percent, made.health.entries, len(made.findings))
        earlier = tuple(one for one in course(layout) if one.day < made.day)
        cache.save(layout, COURSE, msgspec.json.encode((*earlier, point)[-_MOST_POINTS:]))


def keep_part(
    layout: Layout, ledger: Ledger, made: "Curation", looked_at: Collection[str], state: str | None = None
) -> None:
    """Replace what is kept about some entries with the result of a pass over them.

    `state` is the new state of everything that is kept. None leaves it as it is, because nobody looked at the
    other entries. Nothing is kept before the first whole pass, because the counts would be too low.
    """
    before = counts(layout)
    if before is None:
        return
    wanted = set(looked_at)
    others = tuple(mark for mark in marks(layout) if wanted.isdisjoint(mark.ids))
    found = (*others, *_marked(layout, made.findings, made.day))
    _save(layout, ledger.head, state or before.state, before.at, found)


def _save(layout: Layout, head: str | None, state: str, at: datetime, found: tuple[Mark, ...]) -> None:
    groups: dict[Group, int] = {}
    for mark in found:
        groups[mark.group] = groups.get(mark.group, 0) + 1
    cache.save_as_of(layout, head, MARKS, msgspec.json.encode(found))
    cache.save_as_of(layout, head, COUNTS, msgspec.json.encode(Counts(state, at, groups)))


def _marked(layout: Layout, findings: "tuple[Finding, ...]", day: date) -> tuple[Mark, ...]:
    """Return the marks of findings, each with the day on which it was found first."""
    since = {mark.key: mark.since for mark in marks(layout)}
    return tuple(
        Mark(one.key, one.kind, one.ids, one.severity, one.row.group, since.get(one.key, day))
        for one in findings
    )


def _read(layout: Layout, file: cache.CacheFile, codec: decode.Json[T]) -> T | None:
    data = cache.load(layout, file)
    try:
        return codec.decode(data) if data else None
    except msgspec.MsgspecError:
        return None
