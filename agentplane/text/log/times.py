"""The times of the events in a log, and their order by time and then by their place in the chain.

`ts` is the time of an event according to its logger. A program may log a run long after it ended, and a clock
may be wrong. So each line that agentplane writes also has a stamp from agentplane's own clock. The stamp is
`ts` in an operation, a joined history or a wrapped run, and `written` in other runs. A line is never older
than the lines before it. So an event can't be later than the stamp of its own line or of any later line. The
moment of an event is its `ts`, limited by these stamps.

A reader that starts at the end limits everything unread by the smallest stamp so far. An event is next as
soon as its moment reaches that limit. Events that were logged late wait until the reader comes to their time.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from heapq import heappop, heappush
from math import inf

import msgspec

from agentplane.text.json import decode
from agentplane.text.log import event_line


WRITTEN = "written"
"""The key of the stamp in the event of a run. It sorts after all others, so it is at the end of the line."""

_END = re.compile(
    rb'"ts":"([^"\\]{0,64})"(,"verb":"[^"\\]*")?(?:,"written":"([^"\\]{0,64})")?,"hash_self":"[0-9a-f]{64}"\}\n\Z'
)
_END_BYTES = 400
_WRAPPED = b'"made_at":"'
_RUN = b'"kind":"run"'
_RUN_ID = re.compile(rb'"run_id":"(\d{8}T\d{6}Z)-')
_LEAP = re.compile(r"^(.{10}T\d\d:\d\d:)60")
_DAY = 86_400.0
_WINDOW = 256
"""Number of lines in a row without a stamp that are read before a jump back in time is believed. Older
versions wrote such lines.
"""
_NEAR = 8


class LineTimes(msgspec.Struct, frozen=True, gc=False):
    """The times that one line states, in seconds."""

    ts: float | None
    stamp: float | None
    """The time when agentplane wrote the line. None in runs of older versions."""

    @property
    def moment(self) -> float:
        """Return the moment of an event that no other line follows."""
        ts = inf if self.ts is None else self.ts
        return ts if self.stamp is None else min(ts, self.stamp)


class _Line(msgspec.Struct, frozen=True):
    kind: str = ""
    ts: str = ""
    written: str = ""


_line = decode.Json(_Line)


def read(ts: str) -> datetime | None:
    """Return a time, or None if the text is not a time.

    A leap second is read as the second before it, as computer clocks show it.
    """
    try:
        return datetime.fromisoformat(ts)
    except ValueError:
        pass
    try:
        # RFC 3339 allows both, but fromisoformat() allows neither.
        return datetime.fromisoformat(_LEAP.sub(r"\g<1>59", ts.upper()))
    except ValueError:
        return None


def seconds_of(ts: str) -> float | None:
    """Return a time as seconds, or None if the text is not a time. A time without a zone is in UTC."""
    found = read(ts)
    if found is None:
        return None
    try:
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def of(line: bytes) -> LineTimes:
    """Return the times that a line of the log states."""
    found = _END.search(line, max(0, len(line) - _END_BYTES))
    if found is None:
        return _of_other(line)
    ts = _seconds(found[1])
    if found[3] is not None:
        return LineTimes(ts, _seconds(found[3]))
    has_stamp = found[2] is not None or event_line.is_merge(line) or _is_wrapped(line)
    return LineTimes(ts, ts if has_stamp else None)


def replaces(new: float, old: float) -> bool:
    """True if an event at one moment replaces an earlier line's information from another moment."""
    return new >= old


def newest_first(lines: Iterable[bytes]) -> Iterator[tuple[float, bytes]]:
    """Yield the lines of a log with their moments, latest moment first.

    `lines` come from the last to the first. Only as many are read as the order needs.
    """
    held: list[tuple[float, int, bytes]] = []
    limits = _Limits()
    for number, line in enumerate(lines):
        moment = limits.take(line)
        heappush(held, (-moment, number, line))
        limit = limits.unread
        while held and -held[0][0] >= limit:
            yield _pop(held)
    while held:
        yield _pop(held)


def follow(lines: Iterable[bytes], latest: float) -> bool:
    """True if added lines don't change the order of the earlier lines.

    `latest` is the last moment of the earlier lines.
    """
    for line in lines:
        stated = of(line)
        if stated.moment < latest or (stated.stamp is not None and stated.stamp < latest):
            return False
    return True


class _Limits:
    """The latest moment that a line can have, while a log is read from its end."""

    def __init__(self) -> None:
        self._of: dict[bytes, float] = {}
        """The smallest stamp of the lines that follow an unread line, by the hash of the unread line."""
        self._else = inf
        """The limit for lines that no read line names."""
        self._guess = inf
        """The time when the last read line was written. It may come only from the line's run ID."""
        self._jump: list[float] = []

    def take(self, line: bytes) -> float:
        """Return the moment of the next line."""
        stated = of(line)
        stamp = inf if stated.stamp is None else stated.stamp
        if not event_line.has_form(line):  # the chain no longer shows which line follows which
            self._else = min(self.unread, stamp)
            self._of.clear()
            return min(stated.moment, self._else)
        limit = min(self._of.pop(event_line.digest_of(line), self._else), stamp)
        for parent in event_line.parents_of(line):
            self._of[parent] = min(self._of.get(parent, inf), limit)
        self._update_guess(line, stated)
        return min(stated.moment, limit)

    @property
    def unread(self) -> float:
        """The limit for unread lines. None of them is later."""
        if len(self._of) > 1:  # two branches that were joined
            return max(self._of.values())
        return min(max(self._of.values(), default=self._else), self._guess)

    def _update_guess(self, line: bytes, stated: LineTimes) -> None:
        written = _minted(line) if stated.stamp is None else stated.stamp
        if written is None:
            return
        if self._guess - written <= _DAY or self._guess == inf:
            self._guess = written
            self._jump.clear()
            return
        # A program can give an ID with any day.
        self._jump.append(written)
        if len(self._jump) >= _WINDOW:
            self._guess = max(self._jump[-_NEAR:])
            self._jump.clear()


def _pop(held: list[tuple[float, int, bytes]]) -> tuple[float, bytes]:
    moment, _, line = heappop(held)
    return -moment, line


def _minted(line: bytes) -> float | None:
    """Return the time when the run ID of a line was created."""
    found = _RUN_ID.search(line)
    return None if found is None else _seconds(found[1])


def _is_wrapped(line: bytes) -> bool:
    return _WRAPPED in line and _RUN in line


def _seconds(ts: bytes) -> float | None:
    return seconds_of(ts.decode(errors="replace"))


def _of_other(line: bytes) -> LineTimes:
    """Return the times of a line that agentplane did not write in this form."""
    try:
        read = _line.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return LineTimes(None, None)
    ts = seconds_of(read.ts)
    if read.written:
        return LineTimes(ts, seconds_of(read.written))
    return LineTimes(ts, ts if read.kind in ("op", "merge") or _is_wrapped(line) else None)
