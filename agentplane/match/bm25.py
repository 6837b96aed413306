"""BM25 and the cosine of term vectors, two scores for shared words that are weighted by rarity."""

# ruff: noqa: SLF001 -- one index is made from the parts of another

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt


Floats: TypeAlias = npt.NDArray[np.float32]
Wide: TypeAlias = npt.NDArray[np.float64]
Bag: TypeAlias = Mapping[str, int]

# The usual constants of BM25 (Robertson and Zaragoza 2009), not fitted.
_SATURATION = 1.2
_LENGTH = 0.75

_PARTS = ("rows", "starts", "idf", "unseen", "mean_length", "owns", "saturated", "unit")


class Hits(NamedTuple):
    """The positions of the words of several queries in an index."""

    found: npt.NDArray[np.int64]
    """Indexes of the known words, counted over all queries."""
    lengths: npt.NDArray[np.int64]
    """Number of texts that contain each of these words."""
    places: npt.NDArray[np.int64]
    cells: npt.NDArray[np.int64]
    """The cell in the matrix of queries and texts, for each place."""


class Index:
    """An index of the words of n texts. Each method compares several queries with all texts."""

    def __init__(self, bags: Iterable[Bag], like: "Index | None" = None) -> None:
        """Build the index from `bags`, which are read one after another and don't have to fit in memory.

        With `like`, the rarity of words and the mean length of a text come from that index.
        """
        self._terms: dict[str, int] = dict(like._terms) if like else {}
        terms, counts, lengths = array("i"), array("i"), array("i")
        for bag in bags:
            terms.extend(self._terms.setdefault(term, len(self._terms)) for term in bag)
            counts.extend(bag.values())
            lengths.append(len(bag))
        self.size = len(lengths)
        listed = np.array(terms, dtype=np.int32)
        order = np.argsort(listed, kind="stable")
        found = np.bincount(listed, minlength=len(self._terms))
        self._rows = np.repeat(np.arange(self.size, dtype=np.int32), np.array(lengths, dtype=np.int64))[order]
        self._starts = np.concatenate(([0], np.cumsum(found))).astype(np.int64)
        self._unseen: float
        if like:
            new = np.full(len(self._terms) - len(like._terms), like._unseen)
            self._idf: Wide = np.concatenate([like._idf, new])
            self._unseen = like._unseen
        else:
            self._idf = _rarity(self.size, found)
            # The query's text counts as one more text that contains the word.
            self._unseen = float(_rarity(self.size + 1, np.ones(1, dtype=np.int64))[0])
        mean_length = like._mean_length if like else None
        self._weigh(np.repeat(self._idf, found), np.array(counts, dtype=np.float64)[order], mean_length)

    def parts(self) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
        """Return everything that `from_parts` needs: arrays by name, and the words."""
        return {name: np.asarray(getattr(self, f"_{name}")) for name in _PARTS}, list(self._terms)

    @classmethod
    def from_parts(cls, size: int, arrays: Mapping[str, Any], terms: Sequence[str]) -> "Index":
        index = cls.__new__(cls)
        index.size, index._terms = size, {term: place for place, term in enumerate(terms)}
        index._rows, index._starts, index._idf = arrays["rows"], arrays["starts"], arrays["idf"]
        index._unseen, index._mean_length = float(arrays["unseen"]), float(arrays["mean_length"])
        index._owns, index._saturated, index._unit = arrays["owns"], arrays["saturated"], arrays["unit"]
        return index

    def joined(self, more: "Index") -> "Index":
        """Return an index of the texts of both. `more` must have been built with this index as `like`.

        The rarity of words doesn't change.
        """
        terms = np.concatenate([self._of_places(), more._of_places()])
        order = np.argsort(terms, kind="stable")
        arrays = {
            "rows": np.concatenate([self._rows, more._rows + np.int32(self.size)])[order],
            "starts": np.concatenate(([0], np.cumsum(np.bincount(terms, minlength=len(more._terms))))),
            "idf": more._idf,
            "unseen": np.asarray(self._unseen),
            "mean_length": np.asarray(self._mean_length),
            "owns": np.concatenate([self._owns, more._owns]),
            "saturated": np.concatenate([self._saturated, more._saturated])[order],
            "unit": np.concatenate([self._unit, more._unit])[order],
        }
        return Index.from_parts(self.size + more.size, arrays, list(more._terms))

    def _of_places(self) -> npt.NDArray[np.int64]:
        """Return the word at each place of `_rows`."""
        return np.repeat(np.arange(len(self._terms)), np.diff(self._starts))

    def bm25(self, queries: Sequence[Bag], hits: "Hits | None" = None) -> Floats:
        """Return the BM25 scores. Repeated words in a query count repeatedly."""
        return self._sums(
            [list(bag.values()) for bag in queries], self._saturated, hits or self.hits(queries)
        )

    def alike(self, queries: Sequence[Bag], hits: "Hits | None" = None) -> Floats:
        """Return BM25 as a share of the scores of query and text against themselves, 0 to 1."""
        own = np.array([self._own(bag) for bag in queries])
        both = np.sqrt(own[:, None] * self._owns[None, :])
        return np.minimum(self.bm25(queries, hits) / np.maximum(both, 1e-9), 1).astype(np.float32)

    def cosine(self, queries: Sequence[Bag], hits: "Hits | None" = None) -> Floats:
        """Return the cosine of vectors of rarity times damped count: 1 for the same words, 0 if none is
        shared.
        """
        wanted = [self._weights(bag) for bag in queries]
        norms = np.array([np.sqrt(sum(w * w for w in weights)) for weights in wanted])
        found: Floats = (
            self._sums(wanted, self._unit, hits or self.hits(queries)) / np.maximum(norms, 1e-9)[:, None]
        ).astype(np.float32)
        return found

    def _weigh(self, idf: Wide, counts: Wide, mean_length: float | None) -> None:
        rows, size = self._rows, self.size
        lengths = np.bincount(rows, weights=counts, minlength=size)
        self._mean_length = mean_length or max(float(lengths.mean()) if size else 0.0, 1e-9)
        saturated = idf * _saturated(counts, lengths[rows] / self._mean_length)
        damped = idf * (1 + np.log(counts))
        norms = np.sqrt(np.bincount(rows, weights=damped * damped, minlength=size))
        self._owns = np.bincount(rows, weights=saturated * counts, minlength=size).astype(np.float64)
        self._saturated: Floats = saturated.astype(np.float32)
        self._unit: Floats = (damped / norms[rows]).astype(np.float32)

    def _own(self, bag: Bag) -> float:
        """Return the score of a query against itself."""
        counts = np.array(list(bag.values()), dtype=np.float64)
        idf = np.array([self._rare(term) for term in bag])
        return float((counts * idf * _saturated(counts, counts.sum() / self._mean_length)).sum())

    def _weights(self, bag: Bag) -> list[float]:
        return [float(self._rare(term) * (1 + np.log(n))) for term, n in bag.items()]

    def _rare(self, term: str) -> float:
        place = self._terms.get(term)
        return self._unseen if place is None else float(self._idf[place])

    def hits(self, queries: Sequence[Bag]) -> "Hits":
        """Return the places of the query words. Several methods can use the same result."""
        known = self._terms
        asked = [known.get(term, -1) for query in queries for term in query]
        which = np.repeat(np.arange(len(queries)), [len(query) for query in queries])
        terms = np.array(asked, dtype=np.int64)
        found = np.flatnonzero(terms >= 0)
        which, terms = which[found], terms[found]
        begins = self._starts[terms]
        lengths = self._starts[terms + 1] - begins
        ends = np.cumsum(lengths)
        places = np.arange(lengths.sum()) + np.repeat(begins - ends + lengths, lengths)
        return Hits(found, lengths, places, np.repeat(which * self.size, lengths) + self._rows[places])

    def _sums(self, factors: Sequence[Sequence[float]], weights: Floats, hits: "Hits") -> Floats:
        """Return for each query and text the sum over shared words of their weights in the text and in the
        query.
        """
        wanted = np.array([factor for query in factors for factor in query], dtype=np.float64)
        each = np.repeat(wanted[hits.found], hits.lengths) * weights[hits.places]
        summed = np.bincount(hits.cells, weights=each, minlength=len(factors) * self.size)
        return summed.reshape(len(factors), self.size).astype(np.float32)


def _rarity(size: int, found: npt.NDArray[np.int64]) -> Wide:
    return np.log1p((size - found + 0.5) / (found + 0.5))


def _saturated(counts: Wide, length: Wide | float) -> Wide:
    """Return the weight of a word with this count. `length` is the text length relative to the mean."""
    return counts * (_SATURATION + 1) / (counts + _SATURATION * (1 - _LENGTH + _LENGTH * length))
