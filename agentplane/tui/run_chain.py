"""Whether the log is what it was: its chain of hashes, looked at behind the screen."""

import time
from collections.abc import Callable, Iterable, Iterator

import msgspec

from agentplane.plane.layout import Layout
from agentplane.text import chain, files
from agentplane.text.visible import one_line
from agentplane.tui.run_book import Place, place_of


_SLICE = 2_000
"""Lines between two pauses, in which the screen is drawn and keys are answered."""
_PAUSE = 0.003


class Checked(msgspec.Struct, frozen=True):
    """What was found of a log up to a place."""

    place: Place
    told: str
    sound: bool
    count: int = 0
    head: str | None = None
    """The last event, where all that follow it can be checked from there on."""


class Stopped(Exception):
    """Broken off."""


def check(layout: Layout, before: Checked | None, goes_on: Callable[[], bool]) -> Checked:
    """The whole log; or what was added, where it still holds what was found sound. In a thread."""
    place = place_of(layout)
    if before is not None and before.place == place:
        return before
    if before is not None and before.head and place_of(layout, before.place.size) == before.place:
        lines = (line for _, line in chain.lines(layout.log, before.place.size))
        more = chain.follow(_paced(lines, goes_on), before.head)
        if more is not None:
            return _sound(place, before.count + more[0], more[1])
    with files.reading(layout.log) as stream:
        report = chain.verify_lines(_paced(stream, goes_on))
    if report.faults:
        first = report.faults[0]
        more_faults = f" (and {len(report.faults) - 1} more)" if len(report.faults) > 1 else ""
        told = f"log broken at line {first.line}: {one_line(first.what, 80)}{more_faults}; agentplane doctor"
        return Checked(place, told, sound=False)
    if report.torn:
        return Checked(place, f"log: line {report.torn.line} was not written to its end", sound=False)
    return _sound(place, report.count, report.heads[0] if len(report.heads) == 1 else None)


def _sound(place: Place, count: int, head: str | None) -> Checked:
    return Checked(
        place, f"log verified: {count:,} event{'' if count == 1 else 's'}", sound=True, count=count, head=head
    )


def _paced(lines: Iterable[bytes], goes_on: Callable[[], bool]) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        yield line
        if number % _SLICE == 0:
            if not goes_on():
                raise Stopped
            time.sleep(_PAUSE)
