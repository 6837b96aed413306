"""The meaning of one statement: its words as vectors, and how far it denies, limits or generalizes.

It is computed once for each statement. The vectors are whole numbers, so their products are the same on every
machine.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import mul

import msgspec
import numpy as np
import numpy.typing as npt

from agentplane.claims.features.word_similarity import embeddings, learn
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.denials import Denials, denials_in
from agentplane.claims.parse.statement import parse
from agentplane.lazy import cached_property


Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.float32]
"""Whole numbers small enough that float32 represents them and their products exactly."""
STEPS = 254
MOST = 40
"""Maximum number of words that are compared in a statement, the same as for alignment."""

_ONLY = words.word_set("only solely alone exclusively sole just nowhere nobody")
_ALL = words.word_set(
    "all every each any everywhere anyone everybody everyone whole both included always other"
)
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")


class Sense:
    """The meaning of one statement."""

    def __init__(self, source: str) -> None:
        statement = parse(source)
        self.line = statement.line[:MOST]
        self.places = {at: row for row, at in enumerate(at for at, it in enumerate(self.line) if it.weight)}
        items = [self.line[at] for at in self.places]
        raw = embeddings([item.written.lower() for item in items])
        weights = np.array([item.weight for item in items])
        norms = np.round(np.sqrt((raw * raw).sum(axis=1)), 4) if items else np.zeros(0)
        # A rarer word has a longer vector. Without embeddings, all lengths are equal.
        norms = np.where(norms > 0, norms, 1.0)
        # int16 takes half the space of float32 and loses nothing, because these are whole numbers up to
        # `STEPS`.
        self.rows = np.rint(raw / norms[:, None] * STEPS).astype(np.int16)
        counts = weights * norms
        self.counts: list[float] = counts.tolist()
        self.total = float(counts.sum())
        self.heavy: list[float] = (norms * counts).tolist()
        self.stems = [item.stem for item in items]
        """The stems of the words in `rows`."""
        self.whole = _whole_numbers((raw * weights[:, None]).sum(axis=0)) if items else None
        self.source = source
        self.text: Whole | msgspec.UnsetType | None = msgspec.UNSET
        """The direction of the full text. `text_directions` sets it, because most pairs are decided without it."""
        whole = self.total or 1.0
        self.shares: dict[str, float] = {
            item.stem: count / whole for item, count in zip(items, self.counts, strict=True)
        }
        """The share of the statement that each of its words is."""

    @cached_property
    def denials(self) -> Denials:
        """The denials in the statement. They and the next two are only needed for a pair that has much in common."""
        return denials_in(self.line)

    @cached_property
    def only(self) -> bool:
        return not _ONLY.isdisjoint(self._word_list())

    @cached_property
    def all(self) -> bool:
        return not _ALL.isdisjoint(self._word_list())

    def _word_list(self) -> list[str]:
        return [item.written.lower() for item in self.line if not item.name or _WORD.fullmatch(item.written)]


@lru_cache(maxsize=16_384)
def sense(source: str) -> Sense:
    return Sense(source)


def senses(sources: Sequence[str]) -> list[Sense]:
    """Return the meanings of several statements. The words of all of them are embedded at once."""
    learn(item.written.lower() for source in sources for item in parse(source).line[:MOST] if item.weight)
    return [sense(source) for source in sources]


def text_directions(ones: Sequence[Sense]) -> list[Whole | None]:
    """Return the direction of the full text of each statement."""
    new = [one for one in ones if one.text is msgspec.UNSET]
    if new:
        for one, row in zip(new, embeddings([one.source[:800] for one in new]), strict=True):
            one.text = _whole_numbers(row)
    return [one.text if one.text is not msgspec.UNSET else None for one in ones]


def common(one: Sense, other: Sense) -> float:
    """Return the share of equal words, in the statement where that share is higher."""
    both = one.shares.keys() & other.shares.keys()
    if not both:
        return 0.0
    return max(sum(map(one.shares.__getitem__, both)), sum(map(other.shares.__getitem__, both)))


def share(one: Sense, coverage: Sequence[float]) -> float:
    """Return the covered share of a statement. `coverage` has the covered share of each of its words."""
    whole: float = sum(map(mul, one.counts, coverage))
    return round(whole / one.total, 4)


def _whole_numbers(row: Floats) -> Whole | None:
    length = float((row * row).sum()) ** 0.5
    return np.rint(row / length * STEPS).astype(np.float32) if length else None
