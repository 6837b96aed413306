"""Contradictions among approved assumptions, for context packs and `doctor`.

An assumption may be approved next to one that contradicts it, because nobody knows yet which one is right. The
results are cached by the statements of each pair, so only new texts are compared.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from agentplane.memory.entry import Entry
from agentplane.plane.derived import cache
from agentplane.plane.store.snapshot import Snapshot
from agentplane.review import result_versions
from agentplane.text import globs
from agentplane.text.json import decode


# Cached results need none of these modules, which take long to load.
if TYPE_CHECKING:
    from agentplane.claims.parse.statement import Statement
    from agentplane.claims.relation import Relation

KIND = "assumption"
CACHE_FILE = cache.CacheFile("assumptions", result_versions.mark(result_versions.CONFLICTS))
FEW = 48
"""Up to this number, every assumption is compared with every other assumption."""
NEAREST = 24
"""Beyond `FEW`, each assumption is compared with this many that share its rarest words. The choice depends on the
statements alone, so every clone finds the same contradictions.
"""

_KEY = 16


class Contradiction(msgspec.Struct, frozen=True, order=True):
    """Two assumptions that can't both be right."""

    ids: tuple[str, str]
    proven: bool
    """False if the contradiction is only likely."""


class _CachedPairs(msgspec.Struct, frozen=True, array_like=True):
    without: bytes
    """The keys of pairs that don't contradict each other, concatenated."""
    likely: bytes
    proven: bytes


_codec = decode.Pack(_CachedPairs)
_Judged = dict[bytes, bool | None]
"""Maps the key of a pair to whether its contradiction is proven, or to None if there is none."""


def among(snapshot: Snapshot, entries: Sequence[Entry]) -> tuple[Contradiction, ...]:
    """Return the contradictions among accepted assumptions. Only new pairs are compared."""
    pairs = _pairs(entries)
    if not pairs:
        return ()
    known = _load(snapshot)
    wanted = {_key(one, other): (one, other) for one, other in pairs}
    new = {key: pair for key, pair in wanted.items() if key not in known}
    if new:
        known |= _judged(new)
        _save(snapshot, {key: known[key] for key in wanted} if len(known) > 2 * len(wanted) else known)
    return _found(pairs, known)


def searched(entries: Sequence[Entry]) -> tuple[Contradiction, ...]:
    """Return the contradictions without reading the cache, for `doctor`."""
    pairs = _pairs(entries)
    return _found(pairs, _judged({_key(one, other): (one, other) for one, other in pairs}))


def between(one: Entry, other: Entry) -> Contradiction | None:
    """Return the contradiction of two texts, if there is one, without reading the cache."""
    found = searched((one, other))
    return found[0] if found else None


def by_id(found: Iterable[Contradiction]) -> Mapping[str, tuple[Contradiction, ...]]:
    """Return the contradictions of each assumption that has any."""
    each: dict[str, list[Contradiction]] = {}
    for one in sorted(found):
        for id_ in one.ids:
            each.setdefault(id_, []).append(one)
    return {id_: tuple(rows) for id_, rows in each.items()}


def _found(pairs: Iterable[tuple[Entry, Entry]], judged: _Judged) -> tuple[Contradiction, ...]:
    found = []
    for one, other in pairs:
        proven = judged.get(_key(one, other))
        if proven is not None:
            found.append(Contradiction((one.id, other.id), proven))
    return tuple(sorted(found))


def _pairs(entries: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """Return the pairs to compare, each in the order of the ids."""
    chosen = sorted((entry for entry in entries if entry.head.type == KIND), key=lambda entry: entry.id)
    few = len(chosen) <= FEW
    places: Collection[tuple[int, int]]
    places = list(combinations(range(len(chosen)), 2)) if few else _near([one.statement for one in chosen])
    pairs = ((chosen[one], chosen[other]) for one, other in places)
    return [(one, other) for one, other in pairs if _can_meet(one, other)]


def _can_meet(one: Entry, other: Entry) -> bool:
    """False if a person approved that the two are unrelated, or if no path is in the scope of both."""
    if one.id == other.id or other.id in one.head.unrelated or one.id in other.head.unrelated:
        return False
    return globs.can_meet(one.head.scope, other.head.scope)


def _near(statements: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of each statement and its nearest neighbors by words, by index."""
    from agentplane.match.bm25 import Index
    from agentplane.match.words import counted

    bags = [counted(statement) for statement in statements]
    found: set[tuple[int, int]] = set()
    for place, row in enumerate(Index(bags).bm25(bags)):
        scores = [(-float(score), at) for at, score in enumerate(row) if score > 0 and at != place]
        found.update((min(place, at), max(place, at)) for _, at in sorted(scores)[:NEAREST])
    return sorted(found)


def _judged(pairs: Mapping[bytes, tuple[Entry, Entry]]) -> _Judged:
    """Judge each assumption with all its partners at once, which is much faster than pair by pair."""
    if not pairs:
        return {}
    from agentplane.claims.parse.statement import parse
    from agentplane.claims.verdict import judge_each

    grouped: dict[str, dict[bytes, str]] = {}
    for key, (one, other) in pairs.items():
        first, second = _ordered(one, other)
        grouped.setdefault(first, {})[key] = second
    judged: _Judged = {}
    for first, others in grouped.items():
        mine, rest = parse(first), [parse(second) for second in others.values()]
        for key, theirs, found in zip(others, rest, judge_each(mine, rest), strict=True):
            sure = found is not None and found.kind == "contradiction" and _is_sure(found, mine, theirs)
            judged[key] = found.proven if found is not None and sure else None
    return judged


def _is_sure(found: "Relation", one: "Statement", other: "Statement") -> bool:
    """True if a contradiction is sure enough to be shown to every tool. Unproven ones count only between short
    statements that likely have one form.

    Of 71,288 pairs of decision records within one repository, 22 pass by their decisions and 69 by their titles.
    Without this rule, 78 and 112 pass.
    """
    from agentplane.claims.parse.first_sentence import is_long
    from agentplane.claims.verdict import SURE_FRAME

    return found.proven or (found.score >= SURE_FRAME and not is_long(one) and not is_long(other))


def _ordered(one: Entry, other: Entry) -> tuple[str, str]:
    """Return the two statements in the order of their texts, so that the ids make no difference."""
    first, second = sorted((one.statement, other.statement))
    return first, second


def _key(one: Entry, other: Entry) -> bytes:
    return hashlib.blake2b(msgspec.msgpack.encode(_ordered(one, other)), digest_size=_KEY).digest()


def _load(snapshot: Snapshot) -> _Judged:
    data = cache.load(snapshot.layout, CACHE_FILE)
    with suppress(msgspec.MsgspecError, ValueError):
        cached = _codec.decode(data) if data else None
        if cached:
            groups = ((cached.without, None), (cached.likely, False), (cached.proven, True))
            return {key: proven for keys, proven in groups for key in _keys(keys)}
    return {}


def _save(snapshot: Snapshot, judged: _Judged) -> None:
    def keys(wanted: bool | None) -> bytes:
        return b"".join(sorted(key for key, proven in judged.items() if proven is wanted))

    cached = _CachedPairs(keys(None), keys(False), keys(True))
    cache.save_as_of(snapshot.layout, snapshot.ledger.head, CACHE_FILE, msgspec.msgpack.encode(cached))


def _keys(joined: bytes) -> list[bytes]:
    return [joined[at : at + _KEY] for at in range(0, len(joined), _KEY)]
