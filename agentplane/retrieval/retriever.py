"""The protocol of retrievers, which rank the entries for a question.

A retriever only ranks. Afterwards, `recalled.py` drops entries that weren't to be searched and entries that are
withheld, and adds the entries and runs that the question names.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.retrieval.scan import Match, Wanted


class Question(msgspec.Struct, frozen=True):
    """The words to find, and the entries to search."""

    text: str
    limit: int
    """Maximum number of matches, at least 1."""
    memory: Memory
    wanted: Wanted

    def entries(self) -> list[Entry]:
        """Return the entries to search."""
        memory = self.memory
        return [
            entry
            for entry in (*memory.shelf, *(memory.inbox if self.wanted.unreviewed else ()))
            if self.wanted.takes(entry)
        ]


class Retriever(Protocol):
    """Finds the entries that match a question best.

    The same question about the same entries has the same matches. A retriever changes nothing in the project.
    """

    def find(self, question: Question, /) -> Sequence[Match]:
        """Return the matches, the best first and each entry once."""
