"""Index of the words of entries, for a process that answers many questions."""

from array import array
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agentplane.match import words
from agentplane.memory.entry import Entry, searchable_text
from agentplane.memory.view import Memory
from agentplane.plane.derived import server_memory


_LAST = "words made last"
_MOST_LATER = 8
"""When more than one in this many entries was added after the index was built, it is built again."""

Places = npt.NDArray[np.int32]


def of_shelf(memory: Memory) -> "Words":
    """Return the index of memory. Only for long-lived processes, because for one question reading each entry
    is faster.
    """
    layout, entries = memory.snapshot.layout, memory.shelf_in_order
    before: Words | None = server_memory.get(layout, _LAST)

    def made() -> Words:
        found = before.of(entries) if before is not None else Words(entries)
        server_memory.put(layout, _LAST, found)
        return found

    return server_memory.once(layout, "words", (entries,), made)


class Words:
    """The words of some entries, by the forms of `match/words.py`."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries: list[Entry | None] = list(entries)
        """The entry at each place, or None if it was removed."""
        self._first = _Postings(entries)
        self._later = _Postings(())
        self._added: list[Entry] = []

    def of(self, entries: Sequence[Entry]) -> "Words":
        """Return the index of these entries. Known entries aren't split into words again."""
        wanted = {(entry.digest, entry.file): entry for entry in entries}
        made = Words.__new__(Words)
        first = self._first.size
        # An entry that was approved again has other words or another line, so each place gets the current
        # entry.
        kept = [
            wanted.pop((entry.digest, entry.file), None) if entry is not None else None
            for entry in self.entries[:first]
        ]
        if len(wanted) * _MOST_LATER > first:
            return Words(entries)
        made._first, made._added = self._first, list(wanted.values())  # noqa: SLF001
        made._later = _Postings(made._added)  # noqa: SLF001
        made.entries = [*kept, *made._added]  # noqa: SLF001
        return made

    @property
    def lengths(self) -> Places:
        """The length of the different words of each entry, joined with blanks."""
        return np.concatenate([self._first.lengths, self._later.lengths])

    def places(self, term: str) -> Places:
        """Return the places of entries that contain a form of a word. Removed entries may be included as
        empty places.
        """
        first, later = self._first.of(term), self._later.of(term)
        return np.concatenate([first, later + np.int32(self._first.size)]) if len(later) else first

    def holding(self, text: str) -> Sequence[Entry]:
        """Return at least the entries that contain all words of a text."""
        terms = words.listed(text.casefold())
        if not terms:
            return [entry for entry in self.entries if entry is not None]
        rarest = min((self.places(term) for term in set(terms)), key=len)
        return [entry for place in rarest.tolist() if (entry := self.entries[place]) is not None]


class _Postings:
    def __init__(self, entries: Sequence[Entry]) -> None:
        from rapidfuzz import utils

        terms: dict[str, int] = {}
        listed, lengths, spelled = array("i"), array("i"), array("i")
        for entry in entries:
            text = searchable_text(entry)
            found = dict.fromkeys(words.listed(text))
            if not text.isascii():
                # Case folding can split a word of another script.
                found |= dict.fromkeys(words.listed(text.casefold()))
            listed.extend(terms.setdefault(term, len(terms)) for term in found)
            lengths.append(len(found))
            different = set(utils.default_process(text).split())
            spelled.append(sum(map(len, different)) + max(len(different) - 1, 0))
        self.size = len(lengths)
        self.lengths = np.array(spelled, dtype=np.int32)
        self._terms = terms
        each = np.array(listed, dtype=np.int32)
        rows = np.repeat(np.arange(self.size, dtype=np.int32), np.array(lengths, dtype=np.int64))
        self._rows = rows[np.argsort(each, kind="stable")]
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(each, minlength=len(terms))))).astype(
            np.int64
        )

    def of(self, term: str) -> Places:
        place = self._terms.get(term)
        if place is None:
            return np.empty(0, dtype=np.int32)
        return self._rows[self._starts[place] : self._starts[place + 1]]
