"""What a harvest takes from one place."""

import hashlib
import re
from collections import Counter

import msgspec


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

    @property
    def mark(self) -> str:
        """The same for the same words, wherever they stand."""
        return mark_of(self.text)


class Haul(msgspec.Struct):
    """All that one source has."""

    source: str
    taken: list[Taken]
    left: Counter[str]
    """What was left there, by what it is."""
    places: list[str]
    """The files that were read."""
    notes: list[str] = []
    """Why a place was not read at all."""


def mark_of(text: str) -> str:
    words = " ".join(re.findall(r"\w+", text.casefold()))
    return hashlib.sha256(words.encode(errors="replace")).hexdigest()[:16]
