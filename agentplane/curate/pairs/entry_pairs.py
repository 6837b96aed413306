"""The accepted entries whose statements have a certain relation, without pairs that a person linked or kept."""

from collections.abc import Iterable, Iterator

import msgspec

from agentplane.curate.pairs import relations
from agentplane.curate.pairs.compared import Judged
from agentplane.curate.subject import Subject
from agentplane.memory import expiry
from agentplane.memory.entry import Entry
from agentplane.text import globs


_DIGITS = 18


class EntryPair(msgspec.Struct, frozen=True):
    """Two entries, and the relation of the newer one to the older one or the other way around."""

    newer: Entry
    older: Entry
    forth: Judged | None
    """The relation of the newer one to the older one."""
    back: Judged | None

    @property
    def ids(self) -> tuple[str, str]:
        return self.newer.id, self.older.id


def groups(subject: Subject) -> Iterator[list[Entry]]:
    """Yield the entries in force with the same statement."""
    for entries in relations.of(subject).entries.values():
        if len(entries) > 1 and (found := _in_force(entries, subject)):
            yield found


def related(subject: Subject) -> Iterator[EntryPair]:
    """Yield the pairs of entries in force with a certain relation between different statements."""
    found = relations.of(subject)
    for key, partners in found.by_key.items():
        for partner in partners:
            # Each pair of statements is in one order or in both.
            if key < partner or key not in found.by_key.get(partner, {}):
                for one in _in_force(found.entries.get(key, ()), subject):
                    for other in _in_force(found.entries.get(partner, ()), subject):
                        yield _pair(one, other, found.between(key, partner), found.between(partner, key))


def _in_force(entries: Iterable[Entry], subject: Subject) -> list[Entry]:
    """Return the entries that haven't expired. Tools don't get expired entries."""
    return [entry for entry in entries if not expiry.is_over(entry.head, subject.today)]


def _pair(one: Entry, other: Entry, forth: Judged | None, back: Judged | None) -> EntryPair:
    return EntryPair(one, other, forth, back) if is_newer(one, other) else EntryPair(other, one, back, forth)


def is_newer(one: Entry, other: Entry) -> bool:
    """True if an entry was approved after another one. The numbers of one kind are given in that order."""
    mine, others = _numbered(one), _numbered(other)
    if mine[0] == others[0]:
        return mine > others
    return (one.head.updated or "", mine) > (other.head.updated or "", others)


def _numbered(entry: Entry) -> tuple[str, int, str]:
    """Return the prefix and the number of an ID, and the ID."""
    prefix, _, number = entry.id.rpartition("-")
    plain = number.isascii() and number.isdigit() and len(number) <= _DIGITS
    return prefix, int(number) if plain else 0, entry.id


def are_apart(one: Entry, other: Entry) -> bool:
    """True if a link says how two entries are related, or if no path is in the scope of both."""
    return _links(one, other) or _links(other, one) or not globs.can_meet(one.head.scope, other.head.scope)


def _links(one: Entry, other: Entry) -> bool:
    head = one.head
    return other.id in (*head.unrelated, *head.refines, *head.supersedes, *head.superseded_by)
