"""A check of the log's hash chain in the background."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.jobs import Done, Failed, Job, Lane, Progress, Result
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.text.log import chain
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line
from agentplane.tui.backend.runs.log_pager import Place, place_of


_SLICE = 2_000
"""The number of lines between two pauses. The pauses leave time for drawing and for keys."""
_PAUSE = 0.003

_WHOLE, _GROWN = "whole", "grown"


class Checked(msgspec.Struct, frozen=True):
    """The result of checking a log up to a place."""

    stamp: tuple[int, int, int]
    place: Place
    message: str
    sound: bool
    count: int = 0
    head: str | None = None
    """The hash of the last event if the log has a single head, or else None. A later check can start from it."""


class ChainChecker:
    """Checks a log in its own lane. A check that has begun goes on to its end, even while the log grows.

    However often a check is requested meanwhile, one more check follows.
    """

    def __init__(self, tell: Callable[[Checked], object]) -> None:
        """`tell` gets each new result. The lane's thread calls it."""
        self._tell = tell
        self._lane = Lane("chain")
        # Only jobs of the lane use this.
        self._latest: Checked | None = None

    def check(self, layout: Layout, *, whole: bool = False) -> None:
        """Check the added lines, or all lines if there is no result yet. With `whole`, check all lines.

        A check of all lines that waits or runs covers the same request.
        """
        if not whole:
            self._lane.submit(Job(partial(self._check, layout, whole=False), self._ended, _GROWN, priority=1))
        elif not self._lane.has(_WHOLE):
            self._lane.submit(Job(partial(self._check, layout, whole=True), self._ended, _WHOLE))

    def close(self) -> None:
        """Stop the running check, and start no other one."""
        self._lane.close()

    def _check(self, layout: Layout, progress: Progress, *, whole: bool) -> Checked:
        return check(layout, self._latest, progress, whole=whole)

    def _ended(self, result: Result[Checked]) -> None:
        match result:
            case Done(checked):
                self._use(checked)
            case Failed(error):
                what = error.what if isinstance(error, AgentplaneError) else str(error)
                self._use(_failed(f"Can't check the log: {one_line(what, 80)}"))

    def _use(self, checked: Checked) -> None:
        before, self._latest = self._latest, checked
        if checked != before:
            self._tell(checked)


def check(layout: Layout, before: Checked | None, progress: Progress, *, whole: bool = False) -> Checked:
    """Check the log. If its earlier lines were found sound, only the added lines are checked.

    With `whole` all lines are checked, unless the file is still the same. This belongs in a thread, because it
    pauses.
    """
    stamp, place = _stamp(layout), place_of(layout)
    if before is not None and before.stamp == stamp:
        return before
    if before is not None and before.head and not whole and _went_on(layout, before, place):
        lines = (line for _, line in chain.lines(layout.log, before.place.size))
        added = _beginning(lines, place.size - before.place.size)
        more = chain.follow(_paced(added, progress), before.head)
        if more is not None:
            return _sound(stamp, place, before.count + more[0], more[1])
    with files.reading(layout.log) as stream:
        report = chain.verify_lines(_paced(_beginning(stream, place.size), progress))
    if report.faults:
        first = report.faults[0]
        more_faults = f" (and {len(report.faults) - 1} more)" if len(report.faults) > 1 else ""
        message = f"log damaged at line {first.line}: {one_line(first.what, 80)}{more_faults}"
        return Checked(stamp, place, message, sound=False)
    if report.torn:
        message = f"line {report.torn} of the log is incomplete"
        return Checked(stamp, place, message, sound=False)
    return _sound(stamp, place, report.count, report.heads[0] if len(report.heads) == 1 else None)


def _failed(message: str) -> Checked:
    """Return the result of a check that ended with an error."""
    return Checked((0, 0, 0), Place(0, b""), message, sound=False)


def _went_on(layout: Layout, before: Checked, now: Place) -> bool:
    return now.size > before.place.size and place_of(layout, before.place.size) == before.place


def _stamp(layout: Layout) -> tuple[int, int, int]:
    found = layout.log.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _sound(stamp: tuple[int, int, int], place: Place, count: int, head: str | None) -> Checked:
    return Checked(
        stamp,
        place,
        f"log verified: {counted(count, 'event')}",
        sound=True,
        count=count,
        head=head,
    )


def _beginning(lines: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the lines in the first `size` bytes. Another process may add lines meanwhile."""
    for line in lines:
        size -= len(line)
        if size < 0:
            return
        yield line


def _paced(lines: Iterable[bytes], progress: Progress) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        yield line
        if number % _SLICE == 0:
            progress.report(number, 0, "Checking the log")
            time.sleep(_PAUSE)
