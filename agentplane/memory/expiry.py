"""Expiry dates. An entry is valid through the day of its date. All days are UTC days."""

from collections.abc import Iterable
from datetime import date
from typing import Literal

import msgspec

from agentplane.memory.entry import Entry, Header
from agentplane.plane.layout import INBOX
from agentplane.text import days


State = Literal["expired", "soon"]


class Expiry(msgspec.Struct, frozen=True):
    """The state of an entry that has expired or expires soon."""

    state: State
    day: date
    left: int
    """Days until it expires: 0 on its last day, negative after it."""

    @property
    def text(self) -> str:
        if self.state == "expired":
            return f"expired on {self.day}"
        return "expires today" if self.left == 0 else f"expires on {self.day}"


def day_of(head: Header) -> date | None:
    """Return the last day on which an entry is valid, or None if it has no readable date."""
    return days.day_of(head.expires_at) if head.expires_at else None


def is_over(head: Header, today: date) -> bool:
    day = day_of(head)
    return day is not None and day < today


def of(entry: Entry, today: date, warn_days: int = 0) -> Expiry | None:
    """Return the expiry of an accepted entry that has expired or expires within `warn_days`, or None.

    With 0 days, there is no warning.
    """
    day = day_of(entry.head)
    if day is None or entry.file == INBOX or entry.head.status != "accepted":
        return None
    left = (day - today).days
    if left < 0:
        return Expiry("expired", day, left)
    return Expiry("soon", day, left) if warn_days > 0 and left <= warn_days else None


def of_each(entries: Iterable[Entry], today: date, warn_days: int = 0) -> dict[str, Expiry]:
    """Return the expiries of many entries by id, earliest first."""
    dated = ((entry, of(entry, today, warn_days)) for entry in entries if entry.head.expires_at)
    found = {entry.id: one for entry, one in dated if one is not None}
    return dict(sorted(found.items(), key=lambda item: (item[1].day, item[0])))
