"""Groups of entries that say the same thing."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from agentplane.memory.entry import Entry


Same = Mapping[str, Collection[str]]
"""For each ID, the IDs of the entries that say the same thing."""


def clusters(
    entries: Sequence[Entry], same: Same, may_join: Callable[[Entry, Entry], bool]
) -> list[tuple[Entry, ...]]:
    """Return the groups of entries that say the same thing, each in the order of `entries`.

    Every member says the same thing as one entry of its group, the center. So a chain of small differences can't join
    two
    different statements. `may_join` tells if two entries may be in one group at all.
    """
    by_id = {entry.id: entry for entry in entries}
    places = {id_: place for place, id_ in enumerate(by_id)}
    found = [
        tuple(by_id[id_] for id_ in sorted(group, key=places.__getitem__))
        for connected in _connected(by_id, same)
        for group in _split(connected, same, lambda one, other: may_join(by_id[one], by_id[other]))
    ]
    return sorted(found, key=lambda group: places[group[0].id])


def _connected(ids: Collection[str], same: Same) -> Iterator[list[str]]:
    """Yield the IDs that are connected through others, in the order of `ids`."""
    seen: set[str] = set()
    places = {id_: place for place, id_ in enumerate(ids)}
    for start in ids:
        if start in seen or not same.get(start):
            continue
        seen.add(start)
        waiting, found = [start], []
        while waiting:
            found.append(id_ := waiting.pop())
            new = [other for other in same.get(id_, ()) if other not in seen and other in places]
            seen.update(new)
            waiting += new
        yield sorted(found, key=places.__getitem__)


def _split(ids: Sequence[str], same: Same, may_join: Callable[[str, str], bool]) -> Iterator[list[str]]:
    """Yield groups, each with an entry that says the same as all others. The entry with the most others comes first."""
    left = dict.fromkeys(ids)
    while len(left) > 1:
        degrees = {id_: sum(other in left for other in same.get(id_, ())) for id_ in left}
        center = max(left, key=degrees.__getitem__)
        if not degrees[center]:
            return
        members = [center]
        for id_ in left:
            if id_ in same[center] and all(may_join(id_, member) for member in members):
                members.append(id_)
        if len(members) > 1:
            yield members
        for id_ in members:
            del left[id_]
