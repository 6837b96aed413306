"""The relation of one statement to another, as a value."""

from typing import Literal

import msgspec


Kind = Literal["duplicate", "contradiction", "supersession", "overlap", "near"]
"""`near` means that the two are about the same things and that nothing else is known."""


class Relation(msgspec.Struct, frozen=True):
    """The relation of one statement to another, and the reasons for it."""

    kind: Kind
    score: float
    reasons: tuple[str, ...]
    proven: bool = False
    """True if it follows from the two statements and isn't only likely."""
