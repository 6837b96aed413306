"""A log that holds more than one line of history: which event follows which, and one order for everyone.

Git's union of two logs keeps the lines of both in an order that depends on who merged whom. What is
worked out here does not: it is a function of the set of events alone.
"""

import re
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

import msgspec

from agentplane.text.log import event_line


_TS = re.compile(rb'"ts":"([^"]*)"')
_GENESIS = bytes(32)


class Braid(msgspec.Struct, frozen=True):
    """Events by their place in the common order: each stands below those it names, the earlier one first."""

    lines: tuple[bytes, ...]
    heads: tuple[int, ...]
    """The places of events that no other event names."""
    repeated: bool
    """Whether the file holds a line twice, or lines in another order than this."""
    missing: tuple[str, ...]
    """Events that are named, but not in the log."""
    strands: list[int]
    clocks: list[dict[int, int]]
    """For each event, how far it knows every strand but its own. Events of one strand share it."""

    def reaches(self, one: int, other: int) -> bool:
        """Whether an event is another one, or comes before it in its history."""
        strand = self.strands[one]
        if strand == self.strands[other]:
            return one <= other
        return self.clocks[other].get(strand, -1) >= one

    def apart(self, place: int) -> bool:
        """Whether an event is history of some heads only."""
        return not all(self.reaches(place, head) for head in self.heads)


def of(log: Iterable[bytes]) -> Braid:
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
    return Braid(
        lines=lines,
        heads=tuple(number for number, name in enumerate(order) if name not in named),
        repeated=list(lines) != read,
        missing=tuple(sorted(name.hex() for name in named if name not in place and name != _GENESIS)),
        strands=strands,
        clocks=clocks,
    )


def _name_of(line: bytes) -> bytes:
    return bytes.fromhex(event_line.stated_by(line).decode()) if event_line.has_form(line) else line


def _ordered(found: dict[bytes, bytes], parents: dict[bytes, tuple[bytes, ...]]) -> list[bytes]:
    """Parents first; of those that could come next, the one with the earlier time."""
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
    """Cuts the history into strands that do not fork, and says for each event how far it knows the others."""
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
