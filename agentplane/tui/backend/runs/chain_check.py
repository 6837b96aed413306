"""A check of the log's hash chain in the background."""

import time
from collections.abc import Callable, Iterable, Iterator

import msgspec

from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.text.log import chain
from agentplane.text.visible import one_line
from agentplane.tui.backend.runs.log_pager import Place, place_of


_SLICE = 2_000
"""The number of lines between two pauses. The pauses leave time for drawing and for keys."""
_PAUSE = 0.003


class Checked(msgspec.Struct, frozen=True):
    """The result of checking a log up to a place."""

    stamp: tuple[int, int, int]
    place: Place
    told: str
    sound: bool
    count: int = 0
    head: str | None = None
    """The hash of the last event if the log has a single head, or else None. A later check can start from it."""


class Stopped(Exception):
    """Raised if the caller stops a check."""


def check(
    layout: Layout, before: Checked | None, goes_on: Callable[[], bool], *, whole: bool = False
) -> Checked:
    """Check the log. If its earlier lines were found sound, only the added lines are checked.

    With `whole` all lines are checked. This belongs in a thread, because it pauses.
    """
    stamp, place = _stamp(layout), place_of(layout)
    if before is not None and before.stamp == stamp:
        return before
    if before is not None and before.head and not whole and _went_on(layout, before, place):
        lines = (line for _, line in chain.lines(layout.log, before.place.size))
        more = chain.follow(_paced(lines, goes_on), before.head)
        if more is not None:
            return _sound(stamp, place, before.count + more[0], more[1])
    with files.reading(layout.log) as stream:
        report = chain.verify_lines(_paced(stream, goes_on))
    if report.faults:
        first = report.faults[0]
        more_faults = f" (and {len(report.faults) - 1} more)" if len(report.faults) > 1 else ""
        told = f"log broken at line {first.line}: {one_line(first.what, 80)}{more_faults}"
        return Checked(stamp, place, told, sound=False)
    if report.torn:
        told = f"log: line {report.torn.line} is incomplete"
        return Checked(stamp, place, told, sound=False)
    return _sound(stamp, place, report.count, report.heads[0] if len(report.heads) == 1 else None)


def failed(told: str) -> Checked:
    """Return the result of a check that ended with an error. `told` is the message."""
    return Checked((0, 0, 0), Place(0, b""), told, sound=False)


def _went_on(layout: Layout, before: Checked, now: Place) -> bool:
    return now.size > before.place.size and place_of(layout, before.place.size) == before.place


def _stamp(layout: Layout) -> tuple[int, int, int]:
    found = layout.log.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _sound(stamp: tuple[int, int, int], place: Place, count: int, head: str | None) -> Checked:
    return Checked(
        stamp,
        place,
        f"log verified: {count:,} event{'' if count == 1 else 's'}",
        sound=True,
        count=count,
        head=head,
    )


def _paced(lines: Iterable[bytes], goes_on: Callable[[], bool]) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        yield line
        if number % _SLICE == 0:
            if not goes_on():
                raise Stopped
            time.sleep(_PAUSE)
