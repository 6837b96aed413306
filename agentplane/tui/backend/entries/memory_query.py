"""The filter for approved entries, with words that tolerate typos and with fields such as `kind:` and `tag:`."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from agentplane.memory.entry import Entry


HINT = "words   kind:decision  status:accepted  tag:ui  scope:app/  by:codex  is:edited  is:pinned"
_LONG = 7
"""The length from which a word may have two typos instead of one."""
_WORD = re.compile(r"\w+")
_SHORT = 4
"""Shorter words have to match exactly."""
_FIELDS = {
    "kind": "kind", "type": "kind", "status": "status", "tag": "tag", "scope": "scope", "path": "scope",
    "by": "by", "is": "is", "run": "run", "id": "id",
}  # fmt: skip


class Query(msgspec.Struct, frozen=True):
    words: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    """Pairs of a name and a value in lowercase. If a name comes more than once, one of its values has to match."""

    @property
    def empty(self) -> bool:
        return not self.words and not self.fields


def parse(text: str) -> Query:
    """Return the query for a typed text. An unknown field counts as a word. A field without a value is ignored."""
    words: list[str] = []
    fields: list[tuple[str, str]] = []
    for part in text.casefold().split():
        name, colon, value = part.partition(":")
        if colon and name in _FIELDS:
            fields += [(_FIELDS[name], value)] if value else []
        else:
            words.append(part)
    return Query(tuple(words), tuple(fields))


def matching_ids(query: Query, entries: Iterable[Entry], edited: frozenset[str] = frozenset()) -> list[str]:
    """Return the ids of the entries that match, in their order."""
    matching = [entry for entry in entries if _fits(query, entry, edited)]
    for word in query.words:
        matching = _with_word(word, matching)
    return [entry.id for entry in matching]


def _fits(query: Query, entry: Entry, edited: frozenset[str]) -> bool:
    names = dict.fromkeys(name for name, _ in query.fields)
    return all(
        any(_has(entry, name, value, edited) for other, value in query.fields if other == name)
        for name in names
    )


def _has(entry: Entry, name: str, value: str, edited: frozenset[str]) -> bool:
    head = entry.head
    match name:
        case "kind":
            return head.type.casefold().startswith(value.removesuffix("s"))
        case "status":
            return head.status.casefold().startswith(value)
        case "tag":
            return any(tag.casefold().startswith(value) for tag in head.tags)
        case "scope":
            return any(value in scope.casefold() for scope in head.scope) or _meets(value, head.scope)
        case "by":
            return any(value in (who or "").casefold() for who in (head.proposed_by, head.approved_by))
        case "run":
            return value in (head.source or "").casefold()
        case "id":
            return entry.id.casefold().startswith(value)
        case _:
            return ("edited".startswith(value) and entry.id in edited) or (
                "pinned".startswith(value) and head.pinned
            )


def _meets(value: str, scope: Sequence[str]) -> bool:
    """True if a typed path or glob can overlap with the scope."""
    from agentplane.text import globs

    path = f"{value}**" if value.endswith("/") else value
    return bool(scope) and globs.can_meet((path,), scope)


def _with_word(word: str, entries: list[Entry]) -> list[Entry]:
    """Return the entries that contain the word. If there are none, return the entries with a similar word."""
    exact = [entry for entry in entries if word in _haystack(entry)]
    if exact or len(word) < _SHORT:
        return exact
    near = _near(word, frozenset().union(*(_words(entry) for entry in entries)))
    return [entry for entry in entries if not near.isdisjoint(_words(entry))]


def _near(word: str, known: frozenset[str]) -> frozenset[str]:
    """Return the known words that begin like this word, with at most one or two typos."""
    from rapidfuzz.distance import OSA

    slips = 1 if len(word) < _LONG else 2
    size = len(word)
    return frozenset(
        other
        for other in known
        if len(other) >= size - slips
        and min(OSA.distance(word, other[:end], score_cutoff=slips) for end in (size - 1, size, size + 1))
        <= slips
    )


def _words(entry: Entry) -> frozenset[str]:
    return _split(entry.id, entry.raw, entry.head.tags, entry.head.type)


@lru_cache(20_000)
def _split(id_: str, raw: bytes, tags: tuple[str, ...], kind: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_lowered(id_, raw, tags, kind)))


def _haystack(entry: Entry) -> str:
    return _lowered(entry.id, entry.raw, entry.head.tags, entry.head.type)


@lru_cache(20_000)
def _lowered(id_: str, raw: bytes, tags: tuple[str, ...], kind: str) -> str:
    return f"{id_} {raw.decode(errors='replace')} {' '.join(tags)} {kind}".casefold()
