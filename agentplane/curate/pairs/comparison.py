"""The comparison of new statements with all others, in parts."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from agentplane.claims.parse.statement import Statement, parse
from agentplane.curate.pairs.candidates import blocks, earlier_neighbours
from agentplane.curate.pairs.compared import DIRECTION_BYTES, Compared, Related
from agentplane.curate.pairs.directions import Words, directions_of, words_of
from agentplane.curate.pairs.strict import judged_each, says_it_replaces


class Comparison:
    """The comparison of new statements with all known statements and with each other.

    After each part, all statements so far were compared with each other. A comparison that is cancelled loses only
    its last part.
    """

    def __init__(self, statements: Mapping[bytes, str], known: Compared) -> None:
        """`statements` are the known and the new statements by their keys."""
        before = set(known.keys)
        self._statements = statements
        self._keys = (*known.keys, *(key for key in statements if key not in before))
        self._first = self._done = len(known.keys)
        self._directions = np.zeros((len(self._keys), DIRECTION_BYTES), dtype=np.int8)
        self._directions[: self._first] = np.frombuffer(known.directions, np.int8).reshape(
            self._first, DIRECTION_BYTES
        )
        self._related = list(known.related)
        self._words: dict[int, Words] = {}
        self.pairs = 0
        """The number of pairs that were compared."""

    @property
    def new(self) -> int:
        """The number of new statements."""
        return len(self._keys) - self._first

    @property
    def compared(self) -> Compared:
        """All statements that have been compared with each other so far."""
        directions = self._directions[: self._done].tobytes()
        return Compared(self._keys[: self._done], directions, tuple(self._related))

    def steps(self) -> Iterator[int]:
        """Compare the new statements part by part. Yield the number of those that are done."""
        for rows in blocks(self._first, len(self._keys)):
            yield rows.start - self._first
            self._directions[rows.start : rows.stop] = directions_of([self._statement(row) for row in rows])
            near = earlier_neighbours(self._directions, rows, self._words_of)
            found = [
                one for row, places in zip(rows, near, strict=True) for one in self._related_to(row, places)
            ]
            self._related += found
            self._done = rows.stop
        yield self.new

    def _related_to(self, row: int, places: Sequence[int]) -> Iterator[Related]:
        """Yield the relations of a statement to earlier ones."""
        if not places:
            return
        self.pairs += len(places)
        mine, others = self._parsed(row), [self._parsed(place) for place in places]
        for place, other, forth in zip(places, others, judged_each(mine, others), strict=True):
            if forth is not None or says_it_replaces(other):
                back = judged_each(other, [mine])[0]
                if forth is not None or back is not None:
                    yield Related(row, place, forth, back)

    def _statement(self, row: int) -> str:
        return self._statements[self._keys[row]]

    def _parsed(self, row: int) -> Statement:
        return parse(self._statement(row))

    def _words_of(self, row: int) -> Words:
        found = self._words.get(row)
        if found is None:
            found = self._words[row] = words_of(self._statement(row))
        return found
