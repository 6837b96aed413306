"""The graph of a log's events if its history has branches, and one order that is the same in every clone.

Git's union of two logs has the lines of both in an order that depends on who merged whom. The result of this
module depends only on the set of events.
"""

import re
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

import msgspec

from agentplane.text.log import event_line


_TS = re.compile(rb'"ts":"([^"]*)"')
_GENESIS = bytes(32)


class EventGraph(msgspec.Struct, frozen=True):
    """Events in the common order.

    Each event comes after the events that it names. Otherwise, the earlier event comes first.
    """

    lines: tuple[bytes, ...]
    heads: tuple[int, ...]
    """The places of events that no other event names."""
    repeated: bool
    """True if the file has a line twice, or lines in another order than `lines`."""
    missing: tuple[str, ...]
    """Events that are named but not in the log."""
    strands: list[int]
    clocks: list[dict[int, int]]
    """For each event, its last ancestor in every other strand. Events of one strand share this mapping."""

    def reaches(self, one: int, other: int) -> bool:
        """True if `one` is `other` or an ancestor of it."""
        strand = self.strands[one]
        if strand == self.strands[other]:
            return one <= other
        return self.clocks[other].get(strand, -1) >= one

    def apart(self, place: int) -> bool:
        """True if an event is in the history of some heads only."""
        return not all(self.reaches(place, head) for head in self.heads)


def of(log: Iterable[bytes]) -> EventGraph:
    found: dict[bytes, bytes] = {}
    read: list[bytes] = []
    for line in log:
        read.append(line)
        found.setdefault(_name_of(line), line)
    parents = {name: event_line.parents_of(line) for name, line in found.items()}
    order = _ordered(found, parents)
    place = {name: number for number, name in enumerate(order)}
    lines = tuple(found[name] for name in order)
    strands, clocks = _strands([[place[p] for p in parents[name] if p in place] for name in order])
    named = {parent for name in order for parent in parents[name]}
    return EventGraph(
        lines=lines,
        heads=tuple(number for number, name in enumerate(order) if name not in named),
        repeated=list(lines) != read,
        missing=tuple(sorted(name.hex() for name in named if name not in place and name != _GENESIS)),
        strands=strands,
        clocks=clocks,
    )


def _name_of(line: bytes) -> bytes:
    return event_line.digest_of(line) if event_line.has_form(line) else line


def _ordered(found: dict[bytes, bytes], parents: dict[bytes, tuple[bytes, ...]]) -> list[bytes]:
    """Return the events with parents first. If several could come next, the one with the earliest time does."""
    waits = {name: sum(parent in found for parent in set(parents[name])) for name in found}
    below: dict[bytes, list[bytes]] = {}
    for name in found:
        for parent in set(parents[name]):
            below.setdefault(parent, []).append(name)
    ready = [(_time_of(found[name]), name) for name, count in waits.items() if not count]
    heapify(ready)
    order = []
    while ready:
        _, name = heappop(ready)
        order.append(name)
        for child in below.get(name, ()):
            waits[child] -= 1
            if not waits[child]:
                heappush(ready, (_time_of(found[child]), child))
    return order


def _time_of(line: bytes) -> bytes:
    stated = _TS.search(line)
    return stated[1] if stated else b""


def _strands(parents: list[list[int]]) -> tuple[list[int], list[dict[int, int]]]:
    """Divide the history into strands without forks.

    For each event, return its last ancestor in other strands.
    """
    strands: list[int] = []
    clocks: list[dict[int, int]] = []
    tips: dict[int, int] = {}
    for number, above in enumerate(parents):
        own = next((strands[p] for p in above if tips[strands[p]] == p), len(tips))
        if len(above) == 1 and strands[above[0]] == own:
            clock = clocks[above[0]]
        else:
            clock = _known_by(above, strands, clocks)
        strands.append(own)
        clocks.append(clock)
        tips[own] = number
    return strands, clocks


def _known_by(above: list[int], strands: list[int], clocks: list[dict[int, int]]) -> dict[int, int]:
    clock: dict[int, int] = {}
    for parent in above:
        for strand, reach in (*clocks[parent].items(), (strands[parent], parent)):
            clock[strand] = max(clock.get(strand, -1), reach)
    return clock
