"""What is looked at of a statement whenever it stands beside another, worked out once for each."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from agentplane.claims import vocabulary as words
from agentplane.claims.lines import Item
from agentplane.claims.statement import parse
from agentplane.claims.stems import CONTEXTS
from agentplane.claims.tokens import NEGATORS


MOST = 40
"""So many words of a statement are aligned."""
HEAVY = 0.9
"""A word of this weight says what the statement is about."""
REACH = 3
"""So many words behind a denial is what it denies."""
_DENYING = NEGATORS | {"without", "non"}
_VERBS = words.listed(
    "is are was were be must may can cannot should shall will never always has have do does don't doesn't"
)
_BETWEEN = words.listed(
    "the a an our its their your this that one only single plain new own always must should"
)


class Told:
    """The words of one statement, and where those stand that matter."""

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
        """Where the second part begins, and 1 where the parts stand in the order of time, -1 where not."""
        self.verb = next((at for at, word in enumerate(self.lower) if at and word in _VERBS), -1)
        """Where it says something of what it began with."""
        self.refused = _refused(self.lower, heavy)
        """The words that stand right behind a denial."""
        self.contexts = _told_apart(self.items)
        self.before = _before(self.lower)
        """For each word, where the one stands that it follows but for articles and the like; -1 for none."""
        self.places: dict[str, list[int]] = {}
        """By its stem, where a word stands."""
        for at in self.weighty:
            self.places.setdefault(self.items[at].stem, []).append(at)


@lru_cache(maxsize=16_384)
def told(source: str) -> Told:
    return Told(source)


def _before(said: Sequence[str]) -> list[int]:
    found: list[int] = []
    last = -1
    for at, word in enumerate(said):
        found.append(last)
        if word not in _BETWEEN:
            last = at
    return found


def _order(said: Sequence[str], clauses: Sequence[int]) -> tuple[int, int] | None:
    for at, word in enumerate(said):
        if at == 0 and word in ("before", "after"):
            # `Before A, B`: where the comma is, if there is one.
            comma = next((place for place in range(1, len(said)) if clauses[place] != clauses[0]), None)
            return None if comma is None else (comma, -1 if word == "before" else 1)
        if word == "afterwards" and "first" in said[:at]:
            return said.index("first"), 1
        if word in ("before", "then", "afterwards"):
            return at, 1
        if word == "after":
            return at, -1
    return None


def _refused(said: Sequence[str], heavy: Sequence[int]) -> list[int]:
    found = (
        next((place for place in heavy if at < place <= at + REACH), -1)
        for at, word in enumerate(said)
        if word in _DENYING
    )
    return [place for place in found if place >= 0]


def _told_apart(items: Sequence[Item]) -> Mapping[int, set[str]]:
    """What of iOS and Android and the like it speaks of."""
    found: dict[int, set[str]] = {}
    for item in items:
        line = CONTEXTS.get(item.stem)
        if line is not None:
            found.setdefault(line, set()).add(item.stem)
    return found
