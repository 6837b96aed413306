"""Links between entries: links to missing entries, and chains of entries that supersede each other."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store import history


Field = Literal["supersedes", "superseded_by", "refines", "unrelated"]
FIELDS: tuple[Field, ...] = ("supersedes", "superseded_by", "refines", "unrelated")
"""The header keys whose values must be ids of other entries."""


class DeadLink(msgspec.Struct, frozen=True):
    """A link to an entry that never existed."""

    field: Field
    id: str


def dead(memory: Memory, entry: Entry) -> tuple[DeadLink, ...]:
    """Return the links to ids that no entry has or ever had."""
    return tuple(
        DeadLink(field, id_)
        for field in FIELDS
        for id_ in getattr(entry.head, field)
        if id_ not in memory.entries and id_ not in memory.snapshot.ledger.known
    )


def successors_in_force(memory: Memory, entry: Entry) -> tuple[str, ...]:
    """Return the accepted entries that the header of an entry names as its successors."""
    entries = memory.entries
    return tuple(
        link
        for link in dict.fromkeys(entry.head.superseded_by)
        if link in entries and entries[link].head.status == "accepted" and entries[link].file != INBOX
    )


def forks(memory: Memory) -> dict[str, tuple[str, ...]]:
    """Return the entries with several successors in force that don't belong together, with these successors.

    The parts of a split entry belong together. Decisions on two branches don't.
    """
    found = {entry.id: successors_in_force(memory, entry) for entry in memory.entries.values()}
    several = {id_: successors for id_, successors in found.items() if len(successors) > 1}
    parts = _parts(memory) if several else {}
    return {
        id_: successors
        for id_, successors in several.items()
        if not any(map(set(successors).issubset, parts.get(id_, ())))
    }


def _parts(memory: Memory) -> Mapping[str, Sequence[set[str]]]:
    """Return the parts of each split of an entry, with the ids that they got when branches met."""
    found: dict[str, list[set[str]]] = {}
    for record in history.in_force(memory.snapshot):
        if record.verb == "split-entry":
            split, *parts = record.ids
            found.setdefault(split, []).append(set(parts))
        elif record.verb == "settle":
            renumbered = {change.was: change.id for change in record.changes if change.was}
            for ids in (ids for each in found.values() for ids in each):
                ids.update([renumbered[id_] for id_ in ids if id_ in renumbered])
    return found


def leads_to(memory: Memory, start: str, goal: str) -> bool:
    """True if the successors of an approved entry, and their successors, include another entry."""
    after = _successors(memory)
    reached, waiting = set[str](), [start]
    while waiting:
        id_ = waiting.pop()
        if id_ not in reached:
            reached.add(id_)
            waiting += after.get(id_, ())
    return goal in reached


def loops(memory: Memory) -> tuple[tuple[str, ...], ...]:
    """Return the groups of approved entries that supersede each other in a loop, in file order."""
    after = _successors(memory)
    leading = _among(after, _not_ending(after))
    circles = _among(leading, _not_ending(_reversed(leading)))
    return tuple(_groups(circles))


def _successors(memory: Memory) -> dict[str, set[str]]:
    """Return the successors of each approved entry, by both directions of the link."""
    found: dict[str, set[str]] = {entry.id: set() for entry in memory.shelf}
    for entry in memory.shelf:
        found[entry.id].update(id_ for id_ in entry.head.superseded_by if id_ in found)
        for replaced in entry.head.supersedes:
            if replaced in found:
                found[replaced].add(entry.id)
    return found


_Graph = Mapping[str, set[str]]


def _not_ending(graph: _Graph) -> set[str]:
    """Return the nodes from which a path leads into a circle."""
    before = _reversed(graph)
    open_ends = {id_: len(ids) for id_, ids in graph.items()}
    ends = [id_ for id_, count in open_ends.items() if not count]
    for end in ends:  # it grows
        for id_ in before[end]:
            open_ends[id_] -= 1
            if not open_ends[id_]:
                ends.append(id_)
    return graph.keys() - set(ends)


def _reversed(graph: _Graph) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {id_: set() for id_ in graph}
    for id_, ids in graph.items():
        for other in ids:
            found[other].add(id_)
    return found


def _among(graph: _Graph, nodes: set[str]) -> dict[str, set[str]]:
    return {id_: ids & nodes for id_, ids in graph.items() if id_ in nodes}


def _groups(graph: _Graph) -> list[tuple[str, ...]]:
    """Return the connected parts of a graph."""
    back = _reversed(graph)
    neighbors = {id_: ids | back[id_] for id_, ids in graph.items()}
    groups, left = [], dict.fromkeys(graph)
    while left:
        reached, waiting = set[str](), [next(iter(left))]
        while waiting:
            id_ = waiting.pop()
            if id_ not in reached:
                reached.add(id_)
                waiting += neighbors[id_]
        groups.append(tuple(id_ for id_ in left if id_ in reached))
        for id_ in reached:
            del left[id_]
    return groups
