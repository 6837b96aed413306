"""Statements that were compared with each other, and the certain relations between them."""

from collections.abc import Collection
from typing import Literal

import msgspec


KEY_BYTES = 16
DIRECTION_BYTES = 512
"""The direction of a statement, with one byte for each number."""

Kind = Literal["contradiction", "replacement", "duplicate"]
"""`replacement` means that the statement replaces a choice in the other statement."""


class Judged(msgspec.Struct, frozen=True, array_like=True):
    """The certain relation of one statement to another."""

    kind: Kind
    score: float
    reasons: tuple[str, ...]


class Related(msgspec.Struct, frozen=True, array_like=True):
    """Two statements with a relation, as places in a list of statements."""

    later: int
    earlier: int
    forth: Judged | None
    """The relation of the later one to the earlier one."""
    back: Judged | None
    """The relation of the earlier one to the later one."""


class Compared(msgspec.Struct, frozen=True, array_like=True):
    """Statements that were compared with each other."""

    keys: tuple[bytes, ...] = ()
    directions: bytes = b""
    """The direction of each statement, so that it isn't computed again."""
    related: tuple[Related, ...] = ()

    @property
    def is_whole(self) -> bool:
        """True if the parts belong together."""
        count = len(self.keys)
        return (
            all(len(key) == KEY_BYTES for key in self.keys)
            and len(set(self.keys)) == count
            and len(self.directions) == DIRECTION_BYTES * count
            and all(0 <= one.earlier < one.later < count for one in self.related)
        )

    def limited_to(self, wanted: Collection[bytes]) -> "Compared":
        """Return a copy without statements that no longer exist."""
        kept = [place for place, key in enumerate(self.keys) if key in wanted]
        if len(kept) == len(self.keys):
            return self
        moved = {place: at for at, place in enumerate(kept)}
        return Compared(
            tuple(self.keys[place] for place in kept),
            b"".join(_part(self.directions, place) for place in kept),
            tuple(
                Related(moved[one.later], moved[one.earlier], one.forth, one.back)
                for one in self.related
                if one.later in moved and one.earlier in moved
            ),
        )

    def by_key(self) -> dict[bytes, dict[bytes, Judged]]:
        """Return the relations of each statement that has any, by the keys of both."""
        found: dict[bytes, dict[bytes, Judged]] = {}
        for one in self.related:
            later, earlier = self.keys[one.later], self.keys[one.earlier]
            if one.forth is not None:
                found.setdefault(later, {})[earlier] = one.forth
            if one.back is not None:
                found.setdefault(earlier, {})[later] = one.back
        return found


def _part(directions: bytes, place: int) -> bytes:
    return directions[place * DIRECTION_BYTES : (place + 1) * DIRECTION_BYTES]
