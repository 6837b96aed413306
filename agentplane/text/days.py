"""Dates in headers as days in UTC.

People write them as `2026-12-31` or as a time with its zone.
"""

import re
from datetime import UTC, date, datetime, timedelta


def day_of(text: str) -> date | None:
    """Return the day in UTC, or None if the text can't be read as a date."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            return date.fromisoformat(text[:10])
        except ValueError:
            return None
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except OverflowError:  # the first or last representable day, in another zone
        return moment.date()


_DISTANCE = re.compile(r"(\d{1,4}) ?(d|w)", re.ASCII)
_DAYS_IN = {"d": 1, "w": 7}


def ahead(text: str, today: date) -> date | None:
    """Return the day that a person means by `7d`, `2w` or `2026-12-31`, or None for another text."""
    if found := _DISTANCE.fullmatch(text.strip()):
        return today + timedelta(days=int(found[1]) * _DAYS_IN[found[2]])
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None
