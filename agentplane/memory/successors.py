"""The entries that superseded an entry, and whether they belong together."""

from collections.abc import Mapping, Sequence

from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store import history


SPLIT = "split-entry"


def in_force(memory: Memory, entry: Entry) -> list[str]:
    """Return the accepted entries that superseded an entry."""
    found = ((link, memory.entries.get(link)) for link in entry.head.superseded_by)
    return [link for link, one in found if one and one.head.status == "accepted" and one.file != INBOX]


def forked(memory: Memory) -> dict[str, Sequence[str]]:
    """Return the entries with several successors in force that don't belong together, with these successors.

    The parts of a split entry belong together. Decisions on two branches don't.
    """
    several = {
        entry.id: found for entry in memory.entries.values() if len(found := in_force(memory, entry)) > 1
    }
    if not several:
        return {}
    parts = _parts(memory)
    return {
        id_: found for id_, found in several.items() if not any(map(set(found).issubset, parts.get(id_, ())))
    }


def _parts(memory: Memory) -> Mapping[str, Sequence[set[str]]]:
    """Return the parts of each split of an entry, with the ids that they got when branches met."""
    found: dict[str, list[set[str]]] = {}
    for record in history.in_force(memory.snapshot):
        if record.verb == SPLIT:
            split, *parts = record.ids
            found.setdefault(split, []).append(set(parts))
        elif record.verb == "settle":
            renumbered = {change.was: change.id for change in record.changes if change.was}
            for each in found.values():
                for ids in each:
                    ids.update([renumbered[id_] for id_ in ids if id_ in renumbered])
    return found
