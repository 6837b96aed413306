"""Similarity in meaning of one statement to many others, computed for all of them at once.

Computing it for each pair separately takes several times as long. The factors are whole numbers, so a batch
gives the same results as single pairs.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from agentplane.claims.features.sentence_vectors import STEPS, Floats, Sense, Whole, share, text_directions
from agentplane.match.products import products


UnmatchedRows = tuple[Sequence[int], Sequence[int]]
"""Rows of the words that only one statement has, for the first and for the second statement."""


class Similarity:
    """Similarity in meaning of two statements."""

    def __init__(self, mine: Sense, others: Sense, whole: float) -> None:
        self.mine, self.others = mine, others
        self.whole = whole
        """Similarity of all their words together, -1 to 1."""
        self.text = 0.0
        """Similarity of the full texts, -1 to 1."""
        self.rest = 0.0
        """Similarity of the unmatched words on both sides, -1 to 1. `add_unmatched` sets it."""
        self.unmatched: UnmatchedRows | None = None
        """Rows of the unmatched words. None until `add_unmatched` sets it."""
        self.rows: Sequence[float] = ()
        """For each word of `mine`, the similarity of the most similar word of `others`, 0 to 1."""
        self.columns: Sequence[float] = ()
        self.table: Sequence[Sequence[float]] = ()
        """Similarity of each word of `mine` to each word of `others`, whose columns start at `begin`."""
        self.begin = 0

    def cover(self) -> float:
        """Return the share of each statement that the other covers word by word. The lower of both counts."""
        mine, others = self.mine, self.others
        if not mine.shares or not others.shares:
            return 0.0
        both = mine.shares.keys() & others.shares.keys()
        rows = [1.0 if stem in both else met for stem, met in zip(mine.stems, self.rows, strict=True)]
        columns = [1.0 if stem in both else met for stem, met in zip(others.stems, self.columns, strict=True)]
        return min(share(mine, rows), share(others, columns))

    def nearest(self, unmatched: UnmatchedRows) -> float:
        """Return the highest similarity between the given words of the first and of the second statement."""
        columns = [self.begin + column for column in unmatched[1]]
        return max([row[column] for row in map(self.table.__getitem__, unmatched[0]) for column in columns])


class BatchSimilarity:
    """Similarity in meaning of one statement to many others."""

    def __init__(self, mine: Sense, others: Sequence[Sense]) -> None:
        self.mine, self.others = mine, others
        self.wholes = _products(mine.whole, [one.whole for one in others])
        self._filled: list[int] = []
        """Places of the statements that have words, in the order of their rows."""
        self._rows: Whole = np.zeros((0, 1), dtype=np.float32)
        self._starts: list[int] = []

    def compare(self, places: Sequence[int]) -> dict[int, Similarity]:
        """Compare the statements at these places word by word, in one step for all of them."""
        found = {at: Similarity(self.mine, self.others[at], self.wholes[at]) for at in places}
        mine, *others = text_directions([self.mine, *(similarity.others for similarity in found.values())])
        texts = _products(mine, others) if found else []
        for similarity, text in zip(found.values(), texts, strict=True):
            similarity.text = text
        self._filled = [at for at in found if found[at].others.stems]
        if self.mine.stems and self._filled:
            self._fill([found[at] for at in self._filled])
        return found

    def _fill(self, filled: Sequence[Similarity]) -> None:
        ends = list(accumulate(len(similarity.others.stems) for similarity in filled))
        self._starts = [0, *ends[:-1]]
        self._rows = np.concatenate([similarity.others.rows for similarity in filled]).astype(np.float32)
        # Rounding can make a direction a little longer than 1.
        table = np.clip(products(self.mine.rows, self._rows), 0, STEPS**2).astype(np.float64) / STEPS**2
        rows = np.maximum.reduceat(table, self._starts, axis=1).T.tolist()
        columns, cells = table.max(axis=0).tolist(), table.tolist()
        for similarity, row, begin, end in zip(filled, rows, self._starts, ends, strict=True):
            similarity.rows, similarity.columns = row, columns[begin:end]
            similarity.table, similarity.begin = cells, begin

    def add_unmatched(self, found: Mapping[int, Similarity], unmatched: Mapping[int, UnmatchedRows]) -> None:
        """Set the similarity of the unmatched words on both sides. A rarer word has a higher weight."""
        for at, rows in unmatched.items():
            found[at].unmatched = rows
        wanted = [row for row, at in enumerate(self._filled) if at in unmatched and all(unmatched[at])]
        if not wanted or not self.mine.stems:
            return
        mine = []
        weights = [0.0] * len(self._rows)
        for row in wanted:
            here, there = unmatched[self._filled[row]]
            mine.append([weight if at in here else 0.0 for at, weight in enumerate(self.mine.heavy)])
            begin, heavy = self._starts[row], self.others[self._filled[row]].heavy
            for place in there:
                weights[begin + place] = heavy[place]
        weighed = self._rows * np.array(weights)[:, None]
        others = np.add.reduceat(weighed, self._starts, axis=0)[wanted]
        own = _directions(np.array(mine) @ self.mine.rows.astype(np.float32))
        products = (own * _directions(others)).sum(axis=1)
        for row, met in zip(wanted, products.tolist(), strict=True):
            found[self._filled[row]].rest = round(met / STEPS**2, 4)


def _directions(sums: Floats) -> Floats:
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    found: Floats = np.rint(sums / np.where(lengths > 0, lengths, 1.0) * STEPS)
    return found


def _products(one: Whole | None, others: Sequence[Whole | None]) -> list[float]:
    """Return the similarity of each direction to one direction, -1 to 1. It is 0 if either is missing."""
    known = [other for other in others if other is not None]
    if one is None or not known:
        return [0.0] * len(others)
    found = iter((np.array(known) @ one).tolist())
    return [round(next(found) / STEPS**2, 4) if other is not None else 0.0 for other in others]
