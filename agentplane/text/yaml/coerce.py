"""Conversion of header values that have the wrong type for their key, if that is possible."""

from typing import Any


def as_text(value: Any) -> str | None:
    return None if isinstance(value, list | dict) else str(value)


def as_list(value: Any) -> tuple[str, ...] | None:
    """Return a list of text. A single value counts as a list of one."""
    if isinstance(value, dict):
        return None
    items = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in items if not isinstance(item, list | dict))


def as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
