"""The statements that an import takes from one source."""

import hashlib
import re
from collections import Counter

import msgspec

from agentplane.agents.plugin import Skipped


class Statement(msgspec.Struct, frozen=True):
    """A statement from a source."""

    kind: str
    text: str
    place: str
    """`path:line`."""
    tool: str | None
    """The tool that remembered it, or None for a person's statement."""
    why: str = ""
    tags: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    arrives: str = ""
    """The status in the record, if it isn't accepted."""
    successors: tuple[str, ...] = ()
    """The marks of the statements that superseded it."""

    @property
    def mark(self) -> str:
        """A hash of the words, which doesn't depend on their place."""
        return mark_of(self.text)


class Haul(msgspec.Struct):
    """The contents of one source."""

    source: str
    statements: list[Statement] = []
    skipped: list[Skipped] = []
    places: list[str] = []
    """The files that were read."""
    notes: list[str] = []
    """The reasons why places weren't read at all."""

    @property
    def left(self) -> Counter[str]:
        """Number of skipped pieces, by reason."""
        return Counter(piece.why for piece in self.skipped)

    def skip(self, place: str, why: str, text: str = "") -> None:
        self.skipped.append(Skipped(place, why, text))


def mark_of(text: str) -> str:
    words = " ".join(re.findall(r"\w+", text.casefold()))
    return hashlib.sha256(words.encode(errors="replace")).hexdigest()[:16]
