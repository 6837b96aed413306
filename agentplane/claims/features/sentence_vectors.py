"""The meaning of one statement: its words as vectors, and how far it denies, limits or generalizes.

It is computed once for each statement. The vectors are whole numbers, so their products are the same on every
machine.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import mul

import numpy as np
import numpy.typing as npt

from agentplane.claims.features.word_similarity import embedding
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.denials import denials_in
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
        raw = np.array([embedding(item.written.lower()) for item in items]).reshape(
            len(items), -1 if items else 1
        )
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
        found = denials_in(self.line)
        self.denied, self.denials, self.denials_first = found.words, found.times, found.first
        word_list = [
            item.written.lower() for item in self.line if not item.name or _WORD.fullmatch(item.written)
        ]
        self.only = not _ONLY.isdisjoint(word_list)
        self.all = not _ALL.isdisjoint(word_list)
        whole = self.total or 1.0
        self.shares: dict[str, float] = {
            item.stem: count / whole for item, count in zip(items, self.counts, strict=True)
        }
        """The share of the statement that each of its words is."""

    @cached_property
    def text(self) -> Whole | None:
        """The direction of the full text. It is computed on demand, because most pairs are decided without
        it.
        """
        return _whole_numbers(embedding(self.source[:800]))


@lru_cache(maxsize=16_384)
def sense(source: str) -> Sense:
    return Sense(source)


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
