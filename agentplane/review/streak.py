"""How many candidates a person approved in a row without opening one.

The counts help people notice that they approve much faster than they usually do. They stay in the cache of
this user on this machine, and no decision depends on them.
"""

from statistics import median

import msgspec

from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.text.json import decode


_FILE = cache.CacheFile("streak")
_PERSONAL = ("terminal", "tui")
"""The channels over which people open and approve candidates."""
_KEPT = 20
_LEAST = 15
"""A shorter streak is never reported."""
_TIMES = 3


class Streak(msgspec.Struct, frozen=True, omit_defaults=True):
    """Approvals since a candidate was last opened, and the lengths of the last streaks."""

    current: int = 0
    earlier: tuple[int, ...] = ()

    def approved(self, count: int) -> "Streak":
        return msgspec.structs.replace(self, current=self.current + count)

    def opened(self) -> "Streak":
        """Return the state after a person opened a candidate, which ends the streak."""
        return Streak(0, (*self.earlier, self.current)[-_KEPT:]) if self.current else self

    @property
    def usual(self) -> int | None:
        """The typical length of a streak, or None if none has ended yet."""
        return round(median(self.earlier)) if self.earlier else None

    @property
    def is_unusual(self) -> bool:
        return self.current >= max(_LEAST, _TIMES * (self.usual or 0))

    @property
    def text(self) -> str:
        usual = "" if self.usual is None else f" Your usual streak is about {self.usual:,}."
        return (
            f"You approved {self.current:,} candidates in a row without opening any of them.{usual} "
            "To read a candidate in full, run `agentplane show ID`."
        )


def notice(layout: Layout) -> str | None:
    """Return a sentence about the current streak if it is unusually long, or None."""
    found = _load(layout)
    return found.text if found.is_unusual else None


def note_approved(layout: Layout, by: Origin, count: int) -> None:
    if by.channel in _PERSONAL and count:
        _save(layout, _load(layout).approved(count))


def note_opened(layout: Layout, by: Origin) -> None:
    before = _load(layout)
    if by.channel in _PERSONAL and (after := before.opened()) != before:
        _save(layout, after)


def _load(layout: Layout) -> Streak:
    try:
        return decode.Json(Streak).decode(cache.load(layout, _FILE) or b"{}")
    except (msgspec.MsgspecError, ValueError):
        return Streak()


def _save(layout: Layout, streak: Streak) -> None:
    cache.save(layout, _FILE, msgspec.json.encode(streak))
