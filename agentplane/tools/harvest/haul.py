"""What a harvest takes from one place."""

import hashlib
import re
from collections import Counter

import msgspec

from agentplane.agents.plugin import Skipped


class Taken(msgspec.Struct, frozen=True):
    """A statement that somebody kept elsewhere."""

    kind: str
    text: str
    place: str
    """`path:line`."""
    tool: str | None
    """Whose it was; None: the person's."""
    why: str = ""
    tags: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    arrives: str = ""
    """The status in the record, if it isn't accepted."""
    successors: tuple[str, ...] = ()
    """The marks of what took its place."""
    also: tuple[str, ...] = ()
    """Earlier marks of it. Earlier versions imported only a part of a decision record."""

    @property
    def mark(self) -> str:
        """The same for the same words, wherever they stand."""
        return mark_of(self.text)


class Haul(msgspec.Struct):
    """All that one source has."""

    source: str
    taken: list[Taken] = []
    skipped: list[Skipped] = []
    places: list[str] = []
    """The files that were read."""
    notes: list[str] = []
    """Why a place was not read at all."""

    @property
    def left(self) -> Counter[str]:
        """How much was skipped, by the reason."""
        return Counter(piece.why for piece in self.skipped)

    def skip(self, place: str, why: str, text: str = "") -> None:
        self.skipped.append(Skipped(place, why, text))


def mark_of(text: str) -> str:
    words = " ".join(re.findall(r"\w+", text.casefold()))
    return hashlib.sha256(words.encode(errors="replace")).hexdigest()[:16]
