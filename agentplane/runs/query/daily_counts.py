"""Runs and decisions per day, counted from the end of the log."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

import msgspec

from agentplane.memory.ids import is_candidate
from agentplane.plane.layout import Layout
from agentplane.plane.ledger.log_events import OP
from agentplane.runs.query import timeline
from agentplane.text.log import chain, times


_OLDER = 2_000
"""The count ends after this many consecutive older lines. Fewer older lines can come from a merged branch."""
_LOOK = 4_096
_SECONDS = 86_400
_APPROVES = ("approve", "supersede", "merge")


class Day(msgspec.Struct, frozen=True):
    day: date
    runs: int = 0
    failed: int = 0
    approved: int = 0
    """Approved candidates, including candidates that were merged into an entry or replaced one."""
    rejected: int = 0

    @property
    def acceptance(self) -> float | None:
        """The approved part of all decided candidates, or None if no decision was made."""
        decided = self.approved + self.rejected
        return self.approved / decided if decided else None


def count(layout: Layout, last: date, days: int, goes_on: Callable[[], bool] = lambda: True) -> list[Day]:
    """Return the days up to `last`, oldest first, in UTC. Reads only the needed part of the log."""
    first = last - timedelta(days=days - 1)
    begin = datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()
    end = begin + days * _SECONDS
    counts: dict[int, list[int]] = {}
    older = 0
    for number, line in enumerate(chain.lines_backwards(layout.log)):
        if number % _LOOK == 0 and not goes_on():
            break
        moment = times.of(line).moment
        if moment < begin:
            older += 1
            if older > _OLDER:
                break
            continue
        older = 0
        if moment >= end:
            continue
        _add(counts.setdefault(int((moment - begin) // _SECONDS), [0, 0, 0, 0]), line)
    return [Day(first + timedelta(days=place), *counts.get(place, (0, 0, 0, 0))) for place in range(days)]


def _add(counts: list[int], line: bytes) -> None:
    row = timeline.ROW.read(line) if timeline.RUN_ROW.matches(line) or OP.matches(line) else None
    if row is None:
        return
    if row.kind == "run":
        counts[0] += row.activity is None
        counts[1] += row.outcome == "failed"
    elif row.verb in _APPROVES:
        counts[2] += _candidates(row.ids)
    elif row.verb == "reject":
        counts[3] += _candidates(row.ids)


def _candidates(ids: Sequence[str]) -> int:
    return sum(map(is_candidate, ids))
