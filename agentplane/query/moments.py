"""The dates and ages of `older:` and `newer:` as moments. A date is a day in UTC."""

import re
from datetime import UTC, datetime, timedelta


FORMS = "an age such as 30min, 3h, 7d or 2w, or a date such as 2026-09-01"
_AGE = re.compile(r"([0-9]{1,5})(min|h|d|w)")
_UNITS = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str, now: datetime) -> float | None:
    """Return a date or an age as Unix time in seconds, or None if the text is neither."""
    try:
        if age := _AGE.fullmatch(text):
            return (now - timedelta(**{_UNITS[age[2]]: int(age[1])})).timestamp()
        return seconds(text)
    except (ValueError, OverflowError):
        return None


def seconds(text: str) -> float:
    """Return a date or a time as Unix time in seconds. Raise ValueError or OverflowError for other texts."""
    found = datetime.fromisoformat(text.upper())
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
