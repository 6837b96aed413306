"""What is typed to find entries of the shelf: words in any order and nearly spelled, and `kind:`, `status:`, `tag:`, `scope:`."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from agentplane.memory.entry import Entry


HINT = "words   kind:decision  status:accepted  tag:ui  scope:app/  by:codex  is:edited  is:pinned"
_LONG = 7
"""From this length on a word may have two slips in it."""
_WORD = re.compile(r"\w+")
_SHORT = 4
"""Shorter words have to stand there as they are typed."""
_FIELDS = {
    "kind": "kind", "type": "kind", "status": "status", "tag": "tag", "scope": "scope", "path": "scope",
    "by": "by", "is": "is", "run": "run", "id": "id",
}  # fmt: skip


class Query(msgspec.Struct, frozen=True):
    words: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    """Name and value, lower case; of one name, any has to fit."""

    @property
    def empty(self) -> bool:
        return not self.words and not self.fields


def parse(text: str) -> Query:
    """A name that is not known, or one without a value yet, is a word like others."""
    words: list[str] = []
    fields: list[tuple[str, str]] = []
    for part in text.casefold().split():
        name, colon, value = part.partition(":")
        if colon and name in _FIELDS:
            fields += [(_FIELDS[name], value)] if value else []
        else:
            words.append(part)
    return Query(tuple(words), tuple(fields))


def found(query: Query, entries: Iterable[Entry], edited: frozenset[str] = frozenset()) -> list[str]:
    """The ids of the entries that fit, in their order."""
    kept = [entry for entry in entries if _fits(query, entry, edited)]
    for word in query.words:
        kept = _with_word(word, kept)
    return [entry.id for entry in kept]


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
    """Whether a path or glob that was typed can lie in the scope."""
    from agentplane.text import globs

    path = f"{value}**" if value.endswith("/") else value
    return bool(scope) and globs.can_meet((path,), scope)


def _with_word(word: str, entries: list[Entry]) -> list[Entry]:
    """Those that hold the word; where none does, those that hold one much like it."""
    exact = [entry for entry in entries if word in _haystack(entry)]
    if exact or len(word) < _SHORT:
        return exact
    near = _near(word, frozenset().union(*(_words(entry) for entry in entries)))
    return [entry for entry in entries if not near.isdisjoint(_words(entry))]


def _near(word: str, known: frozenset[str]) -> frozenset[str]:
    """Of the words that there are, those that begin like it but for a slip or two."""
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
