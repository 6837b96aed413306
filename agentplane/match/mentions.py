"""Detection of texts that name other texts by an id, a file name or a whole title."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from agentplane.match import fuzzy
from agentplane.match.bm25 import Floats


_SHORTEST_TITLE = 3  # words; "Log format" can occur by chance
_LONGEST = 24  # words; nobody copies a longer title to name a text

Words = tuple[str, ...]


class Names:
    """An index of the names of n texts."""

    def __init__(self, titles: Sequence[str], names: Sequence[Sequence[str]]) -> None:
        self.size = len(titles)
        self._owners: dict[Words, list[int]] = defaultdict(list)
        for row, (title, others) in enumerate(zip(titles, names, strict=True)):
            whole = _words(title)
            wanted = {_words(name) for name in others} | ({whole} if len(whole) >= _SHORTEST_TITLE else set())
            for name in sorted(wanted):
                if 0 < len(name) <= _LONGEST:
                    self._owners[name].append(row)
        self._lengths = sorted({len(name) for name in self._owners})

    def found(self, texts: Sequence[str]) -> Floats:
        """Return 1 where a text names another, with one row for each text."""
        hits = np.zeros((len(texts), self.size), dtype=np.float32)
        for row, text in enumerate(texts):
            words = _words(text)
            for length in self._lengths:
                for begin in range(len(words) - length + 1):
                    owners = self._owners.get(words[begin : begin + length])
                    if owners:
                        hits[row, owners] = 1
        return hits


def _words(text: str) -> Words:
    """Return the words, with numbers stripped of leading zeros."""
    found = fuzzy.prepared([text])[0].replace("_", " ").split()
    return tuple([word.lstrip("0") if word[0] == "0" and word.isdecimal() else word for word in found])
