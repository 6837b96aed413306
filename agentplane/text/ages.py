"""Ages and durations, in the form that every list and screen shows: `5 min`, `3 h`, `3 d`."""

from datetime import UTC, date, datetime


_DAY, _DAYS_OF_YEAR = 86400, 365
_LEAST_WITH_TENTHS = 0.05
"""A shorter duration would be shown as 0.0 s."""
_UNITS = ((_DAY * _DAYS_OF_YEAR, "y"), (_DAY, "d"), (3600, "h"), (60, "min"))


def duration(seconds: float) -> str:
    """Return a duration in the largest unit that fits."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{seconds:.1f} s" if _LEAST_WITH_TENTHS <= seconds < 10 else f"{int(seconds)} s"


def age(moment: datetime, now: datetime) -> str:
    """Return the age of a moment, or an empty text in its first minute.

    From 24 hours on it counts calendar days in UTC, so that a time and a date without a time have the same age.
    """
    seconds = (now - moment).total_seconds()
    if seconds >= _DAY:
        return age_of_day(moment.astimezone(UTC).date(), now.astimezone(UTC).date())
    return next((f"{int(seconds // size)} {unit}" for size, unit in _UNITS if seconds >= size), "")


def age_of_day(day: date, today: date) -> str:
    """Return the age of a day, or an empty text for today and later days."""
    days = (today - day).days
    if days <= 0:
        return ""
    return f"{days} d" if days < _DAYS_OF_YEAR else f"{days // _DAYS_OF_YEAR} y"
