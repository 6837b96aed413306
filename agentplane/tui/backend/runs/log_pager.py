"""The runs of a log, newest first, read from its end in pages as needed.

It doesn't use Textual. Only one thread at a time may call it.
"""

import os
import time
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from math import inf

import msgspec

from agentplane.plane.layout import Layout
from agentplane.query import match, records
from agentplane.query.parse import EMPTY, Query
from agentplane.runs.query import timeline
from agentplane.runs.query.timeline import TimelineRow
from agentplane.text import files
from agentplane.text.log import chain, times


PAGE = 200
_SECONDS = 0.3
"""The longest time for reading one page. If few rows match a filter, the rows found so far are shown."""
_LOOK = 256
_MARK = 80
"""Bytes before the end of a log that hold the hash of its last event."""


_FRESH_SECONDS = 10.0
"""The age up to which a new run folder may still lack the file that describes its run."""


class Place(msgspec.Struct, frozen=True):
    """The position up to which a log was read."""

    size: int
    last: bytes
    """The bytes right before the position. They contain a hash that vouches for all earlier lines."""


class Book:
    def __init__(self, layout: Layout, query: Query = EMPTY) -> None:
        self.layout = layout
        self.query = query
        self._test = match.test_of(query, datetime.now(UTC))
        self.open: list[TimelineRow] = []
        self.sealed: list[TimelineRow] = []
        self.ended = False
        """True if the beginning of the log was reached."""
        self._known: set[str] = set()
        self._place = place_of(layout)
        self._latest = -inf
        """The latest time of an event in the log."""
        self._lines = self._read(chain.lines_backwards(layout.log))
        self._rest = timeline.sealed_runs(self._lines)
        self._stamp = -1
        self.look_at_open()

    @property
    def rows(self) -> list[TimelineRow]:
        """The rows read so far, with open runs first."""
        return [*(row for row in self.open if row.run_id not in self._known), *self.sealed]

    def look_at_open(self) -> bool:
        """Look for open runs again. Return True if a run was opened, was lost or is gone."""
        stamp, fresh = self._stamp_of_runs()
        # There may be very many run records, so all of them are searched only if one was added.
        known = [row.run_id or "" for row in self.open] if stamp == self._stamp and not fresh else None
        self._stamp = stamp
        rows = timeline.open_runs(self.layout, known)
        found = [row for row in rows if self._matches(row)]
        changed = found != self.open
        self.open = found
        return changed

    def _stamp_of_runs(self) -> tuple[int, bool]:
        try:
            stamp = self.layout.runs.stat().st_mtime_ns
        except OSError:
            return 0, False
        return stamp, abs(time.time() - stamp / 1e9) < _FRESH_SECONDS

    def read(self, count: int, until: str | None = None) -> None:
        """Read until there are `count` sealed runs and the run `until` was found, or until the time is over."""
        end = time.monotonic() + _SECONDS
        while not self.ended and (len(self.sealed) < count or (until is not None and not self.has(until))):
            for _ in range(_LOOK):
                row = next(self._rest, None)
                if row is None:
                    self.ended = True
                    return
                self._take(row)
                if len(self.sealed) >= count and until in (None, row.run_id):
                    return
            if time.monotonic() > end:
                return

    def has(self, run_id: str) -> bool:
        return run_id in self._known or any(row.run_id == run_id for row in self.open)

    def grow(self) -> bool:
        """Add the new events from the end of the log. Return False if the book can't be used any more.

        This happens if the log was replaced, or if a new event is older than an earlier one.
        """
        now = place_of(self.layout)
        if now == self._place:
            return True
        if now.size < self._place.size or place_of(self.layout, self._place.size) != self._place:
            return False
        if self._place.size and not self._place.last.endswith(b"\n"):
            return False
        added = [line for _, line in chain.lines(self.layout.log, self._place.size)]
        if not times.follow(added, self._latest):
            return False
        self._place = now
        earlier, self.sealed = self.sealed, []
        for row in timeline.sealed_runs(self._read(reversed(added))):
            self._take(row)
        self.sealed += earlier
        return True

    def close(self) -> None:
        """Close the log file."""
        self._lines.close()
        self.ended = True

    def _read(self, lines: Iterator[bytes]) -> Generator[bytes, None, None]:
        """Yield the lines newest first. The result is a generator, because it has to be closed."""
        for moment, line in times.newest_first(lines):
            if moment < inf:
                self._latest = max(self._latest, moment)
            yield line

    def _take(self, row: TimelineRow) -> None:
        if self._fits(row):
            self.sealed.append(row)
            self._known.add(row.run_id or "")

    def _fits(self, row: TimelineRow) -> bool:
        return row.run_id not in self._known and self._matches(row)

    def _matches(self, row: TimelineRow) -> bool:
        return self.query == EMPTY or self._test(records.of_run(row))


def place_of(layout: Layout, size: int | None = None) -> Place:
    """Return the place at the end of a log, or at `size` bytes from its beginning."""
    with files.reading(layout.log) as stream:
        end = stream.seek(0, os.SEEK_END) if size is None else size
        stream.seek(max(end - _MARK, 0))
        return Place(end, stream.read(min(_MARK, end)))
