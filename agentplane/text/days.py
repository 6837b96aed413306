"""Dates in headers as days in UTC, and the days that people type for them.

A header has `2026-12-31` or a time with its zone. People also type an age from today, such as `30d`.
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


_AGE = re.compile(r"([0-9]{1,4})\s*([dw])")
_DAYS_IN = {"d": 1, "w": 7}


def ahead(text: str, today: date) -> date | None:
    """Return the day that a person means by `7d`, `2w` or `2026-12-31`, or None for another text."""
    text = text.strip().lower()
    try:
        if age := _AGE.fullmatch(text):
            return today + timedelta(days=int(age[1]) * _DAYS_IN[age[2]])
        return date.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
