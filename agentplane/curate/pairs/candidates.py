"""The choice of statements to compare with each other, which are statements about the same things.

The choice depends on the two statements alone, except where a statement has very many neighbors.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from agentplane.curate.pairs.directions import Directions, Words, nearness


LEAST_NEAR = 0.7
"""Minimum nearness of two statements to compare."""
LEAST = 1.3
"""Minimum sum of the nearness of two statements and their share of equal words."""
LEAST_OF_FAMILY = 1.0
"""The same minimum for two statements that choose from one family, such as databases. Their words differ more."""
MOST_LONE = 2
"""Maximum number of things that one of two statements names and the other doesn't. Statements with more aren't compared."""
MOST_NEAR = 256
"""Maximum number of neighbors of a statement whose words are compared."""
MOST = 12
"""Maximum number of statements to compare with each statement. The nearest statements are chosen."""

_ROWS = 128
"""Number of statements to process at a time, which limits the use of memory."""


def blocks(first: int, count: int) -> Iterator[range]:
    """Yield the rows from `first` on, in parts."""
    for begin in range(first, count, _ROWS):
        yield range(begin, min(begin + _ROWS, count))


def earlier_neighbours(
    directions: Directions, rows: range, words: Callable[[int], Words]
) -> list[Sequence[int]]:
    """Return the earlier rows to compare with each of these rows, in their order."""
    near = nearness(directions[rows.start : rows.stop], directions[: rows.stop])
    found = []
    for row, values in zip(rows, near, strict=True):
        places = np.flatnonzero(values[:row] >= LEAST_NEAR)
        if len(places) > MOST_NEAR:
            nearest = np.argsort(-values[places], kind="stable")[:MOST_NEAR]
            places = places[np.sort(nearest)]
        found.append(
            _alike(words(row), places.tolist(), values[places].tolist(), words) if len(places) else ()
        )
    return found


def _alike(
    mine: Words, places: Sequence[int], near: Sequence[float], words: Callable[[int], Words]
) -> Sequence[int]:
    """Return the places of the statements that have enough in common, at most the nearest `MOST`."""
    scores = {}
    for place, value in zip(places, near, strict=True):
        other = words(place)
        if mine.lone(other) > MOST_LONE:
            continue
        total = value + mine.common(other)
        if total >= LEAST or (total >= LEAST_OF_FAMILY and not mine.families.isdisjoint(other.families)):
            scores[place] = total
    if len(scores) <= MOST:
        return list(scores)
    return sorted(sorted(scores, key=scores.__getitem__, reverse=True)[:MOST])
