"""What was found before, kept in the plane's cache: for the same files at once, and for each pair of texts.

What one program found counts nothing for another: the files that the comparison is made of are part of the mark.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentplane.claims.verdict import BothWays
from agentplane.plane import cache
from agentplane.plane.layout import Layout
from agentplane.plane.store import Snapshot
from agentplane.review.conflicts import Compare, Conflict, Text, compare_each
from agentplane.review.neighbours import package_of_embeddings


K = TypeVar("K")
V = TypeVar("V")

_FOUND = "looked"
_PAIRS = "pairs"
MOST = 200_000
"""So many pairs are kept at most."""

_AT_ONCE = 1000
"""So many pairs are made bytes, or are made of bytes, before another thread gets its turn."""
_FOUND_AT_ONCE = _AT_ONCE // 20
"""Of candidates, each with all that it conflicts with."""

_kept = msgspec.msgpack.Decoder(tuple[str, list[msgspec.Raw]])
_some_pairs = msgspec.msgpack.Decoder(dict[bytes, Conflict | None])
_some_found = msgspec.msgpack.Decoder(dict[str, tuple[Conflict, ...]])


@lru_cache(maxsize=1)
def _program() -> str:
    """Names, sizes and times of the files that a comparison is made of."""
    house = Path(__file__).parents[1]
    made = hashlib.sha256()
    ours = (house / room for room in ("review", "review/data", "claims", "claims/data", "match", "text"))
    folders = [*ours, package_of_embeddings()]
    for folder in (folder for folder in folders if folder):
        for name in sorted(os.listdir(folder)):
            found = (folder / name).stat()
            if not name.startswith("__"):
                made.update(f"{name} {found.st_size} {found.st_mtime_ns}\n".encode())
    return made.hexdigest()


def mark(snapshot: Snapshot) -> str:
    """A hash of all that conflicts depend on: the texts, the settings, this program and what it can load."""
    made = hashlib.sha256(_program().encode())
    made.update(msgspec.json.encode(snapshot.settings))
    for file, page in sorted(snapshot.pages.items()):
        made.update(f"{page.sha256} {file}\n".encode(errors="surrogateescape"))
    return made.hexdigest()


def load(layout: Layout, mark: str) -> dict[str, tuple[Conflict, ...]]:
    """What was found for these files; nothing where they have changed."""
    return _loaded(layout, _FOUND, mark, _some_found)


def save(snapshot: Snapshot, mark: str, found: Mapping[str, Sequence[Conflict]]) -> None:
    data = _packed(mark, iter(found.items()), _FOUND_AT_ONCE)
    cache.save_as_of(snapshot.layout, snapshot.ledger.head, _FOUND, data)


class Pairs:
    """Compares texts, each pair of them once."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._keys: dict[Text, bytes] = {}
        self._changed = False

    @cached_property
    def _known(self) -> dict[bytes, Conflict | None]:
        return _loaded(self._layout, _PAIRS, _program(), _some_pairs)

    def comparing(self, wanted: Iterable[Text]) -> Compare:
        """`wanted`: candidates that are compared, also with one another."""
        both_ways = BothWays({text.statement for text in wanted})
        return lambda candidate, others: self._compare_each(candidate, others, both_ways)

    def _compare_each(
        self, candidate: Text, others: Sequence[Text], both_ways: BothWays
    ) -> list[Conflict | None]:
        keys = [self._key(candidate) + self._key(other) for other in others]
        unknown = {key: other for key, other in zip(keys, others, strict=True) if key not in self._known}
        if unknown:
            found = compare_each(candidate, [*unknown.values()], both_ways)
            self._known.update(zip(unknown, found, strict=True))
            self._changed = True
        return [self._known[key] for key in keys]

    def save(self, snapshot: Snapshot) -> None:
        if self._changed:
            latest = islice(self._known.items(), max(len(self._known) - MOST, 0), None)
            data = _packed(_program(), latest, _AT_ONCE)
            cache.save_as_of(self._layout, snapshot.ledger.head, _PAIRS, data)
            self._changed = False

    def _key(self, text: Text) -> bytes:
        key = self._keys.get(text)
        if key is None:
            key = hashlib.blake2b(msgspec.msgpack.encode(text), digest_size=10).digest()
            self._keys[text] = key
        return key


def _packed(mark: str, items: Iterator[tuple[Any, Any]], at_once: int) -> bytes:
    """In pieces, because no other thread gets its turn while one is made."""
    pieces = []
    while piece := dict(islice(items, at_once)):
        pieces.append(msgspec.Raw(msgspec.msgpack.encode(piece)))
    return msgspec.msgpack.encode((mark, pieces))


def _loaded(
    layout: Layout, name: str, mark: str, piece_of: "msgspec.msgpack.Decoder[dict[K, V]]"
) -> dict[K, V]:
    """What was kept under this mark; nothing where it is another, or not whole."""
    data = cache.load(layout, name)
    found: dict[K, V] = {}
    try:
        kept, pieces = _kept.decode(data) if data else ("", [])
        if kept == mark:
            for piece in pieces:
                found.update(piece_of.decode(piece))
    except (msgspec.MsgspecError, ValueError):
        return {}
    return found
