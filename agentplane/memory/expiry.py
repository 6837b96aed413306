"""When an entry expires. It holds through the day of its date, and days are those of UTC, as everywhere in a plane."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Literal

import msgspec

from agentplane.memory.entry import Entry, Header
from agentplane.plane.layout import INBOX


State = Literal["expired", "soon"]


class Expiry(msgspec.Struct, frozen=True):
    """What is to be said of an entry with a date."""

    state: State
    day: date
    left: int
    """Days until it expires, 0 on its last day; fewer than 0 where it expired."""

    @property
    def said(self) -> str:
        if self.state == "expired":
            return f"expired on {self.day}"
        return "expires today" if self.left == 0 else f"expires on {self.day}"


def day_of(head: Header) -> date | None:
    """The last day on which an entry holds; None where it has no date, or one that can't be read."""
    text = head.expires_at
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            return date.fromisoformat(text[:10])
        except ValueError:
            return None
    return (moment.astimezone(UTC) if moment.tzinfo else moment).date()


def is_over(head: Header, today: date) -> bool:
    day = day_of(head)
    return day is not None and day < today


def of(entry: Entry, today: date, warn_days: int = 0) -> Expiry | None:
    """What is to be said of an entry in force; None where that is nothing. `warn_days`: how long before; 0: not at all."""
    day = day_of(entry.head)
    if day is None or entry.file == INBOX or entry.head.status != "accepted":
        return None
    left = (day - today).days
    if left < 0:
        return Expiry("expired", day, left)
    return Expiry("soon", day, left) if warn_days > 0 and left <= warn_days else None


def of_each(entries: Iterable[Entry], today: date, warn_days: int = 0) -> dict[str, Expiry]:
    """The same of many, by id; those that expire first come first."""
    dated = ((entry, of(entry, today, warn_days)) for entry in entries if entry.head.expires_at)
    found = {entry.id: one for entry, one in dated if one is not None}
    return dict(sorted(found.items(), key=lambda item: (item[1].day, item[0])))
