"""The dates, times and ages that people type as moments, such as `2026-09-01`, `2026-09-01T10:00` and `2d`.

A date or a time without a zone is local time.
"""

import re
from datetime import datetime, timedelta


FORMS = "an age such as 30min, 3h, 7d or 2w, or a date such as 2026-09-01"
_AGE = re.compile(r"([0-9]{1,6})\s*(min|h|d|w)")
_UNITS = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str, now: datetime) -> float | None:
    """Return a date, a time or an age as Unix time in seconds, or None if the text is none of them."""
    age = _AGE.fullmatch(text.strip())
    if age is None:
        return seconds(text)
    try:
        return (now - timedelta(**{_UNITS[age[2]]: int(age[1])})).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def seconds(text: str) -> float | None:
    """Return a date or a time as Unix time in seconds, or None for another text.

    A day in an entry counts like the same day that a person types, so that lists find the days that they show.
    """
    try:
        return datetime.fromisoformat(text.strip().upper()).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
