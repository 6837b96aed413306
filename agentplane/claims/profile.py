"""The profile of one statement: the properties used in every comparison, computed once."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.statement import parse
from agentplane.claims.parse.stems import CONTEXTS
from agentplane.claims.parse.tokens import NEGATORS


MOST = 40
"""Maximum number of words that are aligned in a statement."""
HEAVY = 0.9
"""A word of this weight names the subject."""
REACH = 3
"""Maximum distance in words from a denial to the word that it denies."""
_DENYING = NEGATORS | {"without", "non"}
_VERBS = words.word_set(
    "is are was were be must may can cannot should shall will never always has have do does don't doesn't"
)
_BETWEEN = words.word_set(
    "the a an our its their your this that one only single plain new own always must should"
)


class StatementProfile:
    """The words of one statement, and the places of the important ones."""

    def __init__(self, source: str) -> None:
        self.items: tuple[Item, ...] = tuple(parse(source).line[:MOST])
        self.lower = [item.written.lower() for item in self.items]
        self.weighty = [at for at, item in enumerate(self.items) if item.weight]
        self.ranks = {at: rank for rank, at in enumerate(self.weighty)}
        heavy = [at for at, item in enumerate(self.items) if item.weight >= HEAVY]
        self.heavy_at = heavy
        self.heavy = len(heavy)
        self.head, self.tail = (heavy[0], heavy[-1]) if heavy else (-1, -1)
        self.order = _order(self.lower, [item.clause for item in self.items])
        """The start of the second part, with 1 if the parts are in the order of time and -1 if not."""
        self.verb = next((at for at, word in enumerate(self.lower) if at and word in _VERBS), -1)
        """The place of the first verb after the subject, or -1."""
        self.refused = _refused(self.lower, heavy)
        """The places of the words right after a denial."""
        self.contexts = _contexts(self.items)
        self.before = _before(self.lower)
        """For each word, the place of the previous word, not counting articles and the like. -1 if there is
        none.
        """
        self.places: dict[str, list[int]] = {}
        """The places of each stem."""
        for at in self.weighty:
            self.places.setdefault(self.items[at].stem, []).append(at)


@lru_cache(maxsize=16_384)
def profile_of(source: str) -> StatementProfile:
    return StatementProfile(source)


def _before(word_list: Sequence[str]) -> list[int]:
    found: list[int] = []
    last = -1
    for at, word in enumerate(word_list):
        found.append(last)
        if word not in _BETWEEN:
            last = at
    return found


def _order(word_list: Sequence[str], clauses: Sequence[int]) -> tuple[int, int] | None:
    for at, word in enumerate(word_list):
        if at == 0 and word in ("before", "after"):
            # The second part of `Before A, B` begins at the comma, if there is one.
            comma = next((place for place in range(1, len(word_list)) if clauses[place] != clauses[0]), None)
            return None if comma is None else (comma, -1 if word == "before" else 1)
        if word == "afterwards" and "first" in word_list[:at]:
            return word_list.index("first"), 1
        if word in ("before", "then", "afterwards"):
            return at, 1
        if word == "after":
            return at, -1
    return None


def _refused(word_list: Sequence[str], heavy: Sequence[int]) -> list[int]:
    found = (
        next((place for place in heavy if at < place <= at + REACH), -1)
        for at, word in enumerate(word_list)
        if word in _DENYING
    )
    return [place for place in found if place >= 0]


def _contexts(items: Sequence[Item]) -> Mapping[int, set[str]]:
    """Return the contexts of the statement, such as iOS or Android, for each line of the list of contexts."""
    found: dict[int, set[str]] = {}
    for item in items:
        line = CONTEXTS.get(item.stem)
        if line is not None:
            found.setdefault(line, set()).add(item.stem)
    return found
