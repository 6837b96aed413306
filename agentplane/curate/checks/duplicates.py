"""Approved entries that say the same thing, in groups. Each group can be merged into one entry."""

import re
from collections.abc import Iterator, Sequence
from functools import cmp_to_key
from itertools import combinations
from math import sqrt

from agentplane.curate.finding import Finding, Lines, Pair, Proof
from agentplane.curate.pairs import entry_pairs
from agentplane.curate.pairs.clusters import clusters
from agentplane.curate.pairs.keep_both import KeptPairs
from agentplane.curate.pairs.relations import basis_of
from agentplane.curate.remedies import Deprecate, EditEntry, MergeEntries
from agentplane.curate.subject import Subject
from agentplane.match.words import counted
from agentplane.memory.entry import Entry
from agentplane.text.visible import one_line


LONG_BODY = 60
"""Number of words from which the text after a statement counts as its own document."""
LIKE_BODY = 0.95
"""Minimum similarity of two documents. A later decision often has the same heading as the decision that it changes."""
FEWEST_WORDS = 2
"""An entry with a shorter statement has a heading instead, such as `Context`."""

_MARKUP = re.compile(r"[\[<{(].*[\])}>]|[#|].*|\W*")
_MOST_COPIES = 50
"""Up to this number of entries with the same statement, every two of them are compared."""
_SHORT = 40
_LONGEST = 160
_RATIONALE = "Rationale:"
_SAME_WORDS = "the same words"


def check(subject: Subject) -> Iterator[Finding]:
    wanted = {entry.id for entry in subject.entries}
    alike = _Alike(subject)
    for group in clusters(alike.entries, alike.same, alike.may_join):
        if not wanted.isdisjoint(entry.id for entry in group):
            yield _finding(subject, group, alike)


class _Alike:
    """The entries in force that say the same thing as another entry."""

    def __init__(self, subject: Subject) -> None:
        self._kept = KeptPairs(subject.memory)
        self._reasons: dict[frozenset[str], str] = {}
        self._contradicting: set[frozenset[str]] = set()
        self.same: dict[str, list[str]] = {}
        found: dict[str, Entry] = {}
        for one, other, reason in self._pairs(subject):
            if self.may_join(one, other) and not _are_documents(one, other):
                found |= {one.id: one, other.id: other}
                self._reasons[frozenset((one.id, other.id))] = reason
                self.same.setdefault(one.id, []).append(other.id)
                self.same.setdefault(other.id, []).append(one.id)
        self.entries = sorted(found.values(), key=cmp_to_key(_by_age))

    def _pairs(self, subject: Subject) -> Iterator[tuple[Entry, Entry, str]]:
        """Yield the pairs with the same statement, and then the pairs that say the same thing in other words."""
        for group in entry_pairs.groups(subject):
            if _is_sentence(group[0].statement):
                yield from ((one, other, _SAME_WORDS) for one, other in _copies(group))
        for pair in list(entry_pairs.related(subject)):
            judged = [judged for judged in (pair.forth, pair.back) if judged is not None]
            if all(one.kind == "duplicate" for one in judged):
                yield pair.newer, pair.older, "; ".join(judged[0].reasons)
            else:
                self._contradicting.add(frozenset(pair.ids))

    def may_join(self, one: Entry, other: Entry) -> bool:
        """True if two entries can be in one group. A person may have kept them apart."""
        return (
            one.head.type == other.head.type
            and frozenset((one.id, other.id)) not in self._contradicting
            and not entry_pairs.are_apart(one, other)
            and not self._kept.has(one, other)
        )

    def reason(self, one: Entry, other: Entry) -> str:
        return self._reasons.get(frozenset((one.id, other.id)), "")


def _is_sentence(statement: str) -> bool:
    """False for markup and headings, which many entries share by accident."""
    return not _MARKUP.fullmatch(statement) and counted(statement).total() >= FEWEST_WORDS


def _by_age(one: Entry, other: Entry) -> int:
    return 1 if entry_pairs.is_newer(one, other) else -1


def _copies(group: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Yield the pairs in a group of entries with the same statement. In a very large group, each pair contains the
    first entry.
    """
    if len(group) <= _MOST_COPIES:
        yield from combinations(group, 2)
    else:
        yield from ((group[0], other) for other in group[1:])


def _are_documents(one: Entry, other: Entry) -> bool:
    """True if both statements are headings of texts that differ."""
    bodies = [entry.body.strip().partition("\n")[2].strip() for entry in (one, other)]
    if not all(map(_is_document, bodies)):
        return False
    first, second = map(counted, bodies)
    shared = sum(first[word] * second[word] for word in first.keys() & second.keys())
    lengths = [sqrt(sum(count * count for count in bag.values())) for bag in (first, second)]
    return shared < LIKE_BODY * lengths[0] * lengths[1]


def _is_document(body: str) -> bool:
    """True if a text contains more than the rationale of the statement."""
    words = len(body.split())
    return words >= LONG_BODY or (words > 0 and not body.startswith(_RATIONALE))


def _finding(subject: Subject, group: Sequence[Entry], alike: _Alike) -> Finding:
    ids = tuple(entry.id for entry in group)
    names = [one_line(id_, _SHORT) for id_ in ids]
    return Finding(
        "duplicate",
        ids,
        subject.shown(group[0]),
        f"{', '.join(names[:-1])} and {names[-1]} say the same thing",
        _proof(subject, group, alike),
        (MergeEntries(ids), Deprecate(ids[1:]), EditEntry(ids[0])),
        basis=basis_of(group),
    )


def _proof(subject: Subject, group: Sequence[Entry], alike: _Alike) -> Proof:
    if len(group) == 2:
        one, other = group
        return Pair(one.id, other.id, one.statement, other.statement, alike.reason(one, other))
    lines = (f"{one_line(entry.id, _SHORT)}: {one_line(entry.statement, _LONGEST)}" for entry in group)
    return Lines(subject.shown(group[0]), "\n".join(lines))
