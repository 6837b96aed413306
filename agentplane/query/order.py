"""The orders of `sort:`."""

from collections.abc import Callable, Iterable
from math import inf
from typing import Any

from agentplane.query.records import QueryRecord


_STATES = ("conflict", "flagged", "manual-edit", "expired", "expiring", "unchecked", "pinned")
_LAST = "\U0010ffff"
"""Sorts after every text, so that records without a value come last."""

_KEYS: dict[str, Callable[[QueryRecord], Any]] = {
    "newest": lambda record: inf if record.at is None else -record.at,
    "oldest": lambda record: inf if record.at is None else record.at,
    "state": lambda record: next(
        (place for place, state in enumerate(_STATES) if state in record.states), len(_STATES)
    ),
    "kind": lambda record: record.kind or _LAST,
    "tool": lambda record: next(iter(record.tool), _LAST),
    "text": lambda record: record.statement or _LAST,
}


def ordered(records: Iterable[QueryRecord], sort: str) -> list[QueryRecord]:
    """Return the records in this order. Equal records keep their order."""
    key = _KEYS.get(sort)
    return list(records) if key is None else sorted(records, key=key)
