"""How near one statement is to each of many, by the meaning of their words: as numbers, for all of them at once.

One by one it takes several times as long. What is multiplied are whole numbers, so the same comes out for one as for many.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from agentplane.claims.sense import STEPS, Floats, Sense, Whole, share


Rows = tuple[Sequence[int], Sequence[int]]
"""Rows of words that only one statement has: of the one, of the other."""


class Near:
    """One statement beside another."""

    def __init__(self, mine: Sense, others: Sense, whole: float) -> None:
        self.mine, self.others = mine, others
        self.whole = whole
        """How near they are by all their words together, -1 to 1."""
        self.text = 0.0
        """The same by their texts."""
        self.rest = 0.0
        """The same by what only the one has and what only the other has; see `Beside.add_rests`."""
        self.only: Rows | None = None
        """What was left over, once that was looked at."""
        self.rows: Sequence[float] = ()
        """Of each word of the one, how near the nearest of the other is, 0 to 1."""
        self.columns: Sequence[float] = ()
        self.table: Sequence[Sequence[float]] = ()
        """How near each word of the one is to each of the other, which begin at the column `begin`."""
        self.begin = 0

    def cover(self) -> float:
        """How much of each is met by the other, word by word; the lesser of both."""
        mine, others = self.mine, self.others
        if not mine.shares or not others.shares:
            return 0.0
        both = mine.shares.keys() & others.shares.keys()
        rows = [1.0 if stem in both else met for stem, met in zip(mine.stems, self.rows, strict=True)]
        columns = [1.0 if stem in both else met for stem, met in zip(others.stems, self.columns, strict=True)]
        return min(share(mine, rows), share(others, columns))

    def nearest(self, lone: Rows) -> float:
        """Of some words of the one and some of the other, how near the two are that are nearest."""
        columns = [self.begin + column for column in lone[1]]
        return max([row[column] for row in map(self.table.__getitem__, lone[0]) for column in columns])


class Beside:
    """One statement beside many."""

    def __init__(self, mine: Sense, others: Sequence[Sense]) -> None:
        self.mine, self.others = mine, others
        self.wholes = _products(mine.whole, [one.whole for one in others])
        self._filled: list[int] = []
        """Those with words, in the order of their rows."""
        self._rows: Floats = np.zeros((0, 1))
        self._starts: list[int] = []

    def near(self, places: Sequence[int]) -> dict[int, Near]:
        """Those at these places, looked at word by word. Once for all that are wanted."""
        found = {at: Near(self.mine, self.others[at], self.wholes[at]) for at in places}
        texts = _products(self.mine.text, [near.others.text for near in found.values()]) if found else []
        for near, text in zip(found.values(), texts, strict=True):
            near.text = text
        self._filled = [at for at in found if found[at].others.stems]
        if self.mine.stems and self._filled:
            self._fill([found[at] for at in self._filled])
        return found

    def _fill(self, filled: Sequence[Near]) -> None:
        ends = list(accumulate(len(near.others.stems) for near in filled))
        self._starts = [0, *ends[:-1]]
        self._rows = np.concatenate([near.others.rows for near in filled]).astype(np.float32)
        # Rounded, a direction can be a little longer than it should be.
        table = (
            np.clip(self.mine.rows.astype(np.float32) @ self._rows.T, 0, STEPS**2).astype(np.float64)
            / STEPS**2
        )
        rows = np.maximum.reduceat(table, self._starts, axis=1).T.tolist()
        columns, cells = table.max(axis=0).tolist(), table.tolist()
        for near, row, begin, end in zip(filled, rows, self._starts, ends, strict=True):
            near.rows, near.columns = row, columns[begin:end]
            near.table, near.begin = cells, begin

    def add_rests(self, found: Mapping[int, Near], lone: Mapping[int, Rows]) -> None:
        """Looks at what is left over on both sides; a rarer word counts for more."""
        for at, rows in lone.items():
            found[at].only = rows
        wanted = [row for row, at in enumerate(self._filled) if at in lone and all(lone[at])]
        if not wanted or not self.mine.stems:
            return
        mine = []
        weights = [0.0] * len(self._rows)
        for row in wanted:
            here, there = lone[self._filled[row]]
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
    """How near directions are to one, -1 to 1; 0 where one has none."""
    told = [other for other in others if other is not None]
    if one is None or not told:
        return [0.0] * len(others)
    found = iter((np.array(told) @ one).tolist())
    return [round(next(found) / STEPS**2, 4) if other is not None else 0.0 for other in others]
