"""Dates in headers as days in UTC.

People write them as `2026-12-31` or as a time with its zone.
"""

from datetime import UTC, date, datetime


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
