"""Ids of entries and candidates.

Durable ids count up per kind and are never reused. Ids of candidates are random, so branches don't collide.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from agentplane.errors import BadInput
from agentplane.plane.ledger.ledger import raise_tops


CANDIDATE_PREFIX = "CAND"
_CANDIDATE_LENGTH = 6
_BEGINNING = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
FORM = "[A-Za-z][A-Za-z0-9]{0,15}-[A-Za-z0-9]{1,24}"
"""The form of an id that agentplane assigns, as part of a pattern."""
_ID = re.compile(FORM)


def is_candidate(id_: str) -> bool:
    """True if an id belongs to a candidate."""
    return id_.startswith(f"{CANDIDATE_PREFIX}-")


def is_plain(id_: str) -> bool:
    """True if an id has the form of the ids that agentplane assigns."""
    return _ID.fullmatch(id_) is not None


def new_candidate(is_taken: Callable[[str], bool], token: Callable[[int], str]) -> str:
    while True:
        id_ = f"{CANDIDATE_PREFIX}-{token(_CANDIDATE_LENGTH).upper()}"
        if not is_taken(id_):
            return id_


def durable(prefix: str, number: int) -> str:
    return f"{prefix}-{number:03d}"


def next_number(prefix: str, tops: Mapping[str, int], by_hand: Iterable[str]) -> int:
    """Return a number higher than any number that an operation or a manual edit ever used."""
    all_tops = dict(tops)
    raise_tops(all_tops, by_hand)
    return all_tops.get(prefix, 0) + 1


def match(wanted: str, ids: Collection[str]) -> str:
    """Return the id that a person means. The case may differ, leading zeros may be missing, or it may be a
    unique prefix.
    """
    if wanted in ids:
        return wanted
    if not wanted.strip():
        raise BadInput(
            "An entry ID is required.", todo="Run `agentplane list` or `agentplane inbox` to list IDs."
        )
    key = _key(wanted)
    found = [id_ for id_ in ids if _key(id_) == key]
    if not found and _BEGINNING.fullmatch(wanted):
        found = [id_ for id_ in ids if id_.upper().startswith(wanted.upper())]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(
            f"{_short(wanted)} is ambiguous: {', '.join(sorted(found)[:5])}.",
            todo="Use more characters of the ID.",
        )
    raise BadInput(
        f"Entry not found: {_short(wanted)}.", todo="Run `agentplane list` or `agentplane inbox` to list IDs."
    )


def _key(id_: str) -> str:
    prefix, dash, rest = id_.upper().partition("-")
    return f"{prefix}{dash}{rest.lstrip('0') or rest}"


def _short(text: str) -> str:
    from agentplane.text.visible import one_line

    return one_line(text, 40)
