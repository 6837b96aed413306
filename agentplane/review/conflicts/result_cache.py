"""Cached results about candidates, with hashes of the compared texts as keys.

The cache contains for each candidate the compared texts, the conflicts, and the verdict of the gate. After a
change of entries, a candidate is checked again only if it was compared with a changed text or would be now.
Results of another version of the comparison, the gate or the embeddings aren't used.
"""

import os
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.derived import cache, server_memory
from agentplane.plane.layout import Layout
from agentplane.plane.store.snapshot import Snapshot
from agentplane.review import result_versions
from agentplane.review.conflicts.conflicts import Compare, Conflict, Text, claims, compare_each
from agentplane.review.conflicts.embeddings import release_of_embeddings
from agentplane.review.conflicts.shortlist import Neighbours, Reach, key_of
from agentplane.review.gate.verdicts import Flag
from agentplane.text.json import decode
from agentplane.text.log import chain


# The comparison of statements is slow to import, and reading cached results doesn't need it.
if TYPE_CHECKING:
    from agentplane.claims.verdict import RelationCache

T = TypeVar("T")

CACHE_NAME = "looked"
_AT_ONCE = 50
"""Number of candidates to encode or decode before another thread gets its turn."""
_BLOCK = 500
_MOST_NEW = 100
"""Up to this number of new texts, the affected candidates can be found at once."""


class CachedVerdict(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The verdict of the gate about a candidate."""

    mark: bytes
    """Hash of everything that this depends on, except past rejections."""
    digest: str
    """Digest of the candidate's bytes, header and body."""
    refused: tuple[Flag, ...]
    flags: tuple[Flag, ...]
    repeats: str | None
    """The name of the rejection that it repeats."""
    repeat_refused: tuple[Flag, ...]
    repeat_flags: tuple[Flag, ...]


class CachedResult(msgspec.Struct, array_like=True, gc=False):
    """Cached results about a candidate."""

    key: bytes
    """Key of its text."""
    compared: tuple[bytes, bytes]
    """The places of the texts that it was compared with, in memory and in the inbox."""
    conflicts: tuple[Conflict, ...]
    reaches: tuple[Reach | None, Reach | None]
    """The reach in memory and in the inbox."""
    names: tuple[str, ...]
    """The entries that it claims to supersede."""
    verdict: CachedVerdict | None = None


class Sides(msgspec.Struct, frozen=True):
    """The texts that candidates are compared with, which are the entries in force and the inbox."""

    shelf: Neighbours
    inbox: Neighbours

    @property
    def both(self) -> tuple[Neighbours, Neighbours]:
        return self.shelf, self.inbox


class _Texts:
    """The texts of one side by their keys."""

    def __init__(self, side: Neighbours | None = None, known: Mapping[Text, bytes] | None = None) -> None:
        self.side = side
        self.by_key: dict[bytes, Text] = {}
        if side is not None:
            self.by_key = {(known or {}).get(text) or key_of(text): text for text in side.texts}
        self.keys: AbstractSet[bytes] = self.by_key.keys()
        self.key_at = {id(text): key for key, text in self.by_key.items()}
        """The key of each of these text objects by its `id()`."""

    def of(self, side: Neighbours) -> "_Texts":
        """Return the texts of a side. Most keys are reused from the previous texts."""
        if side is self.side:
            return self
        return _Texts(side, {text: key for key, text in self.by_key.items()})


class _Head(msgspec.Struct, frozen=True, array_like=True):
    keys: list[bytes]
    ids: list[str]
    sides: tuple[bytes, bytes]
    rejected: list[str] | None


class _File(msgspec.Struct, frozen=True, array_like=True):
    head: _Head
    results: list[msgspec.Raw]
    stale: list[msgspec.Raw]


_file_codec = decode.Pack(_File)
_results_codec = decode.Pack(dict[str, CachedResult])


@lru_cache(maxsize=1)
def file() -> cache.CacheFile:
    """Return the cache file for the results of this version."""
    mark = result_versions.mark(result_versions.CONFLICTS, result_versions.GATE, result_versions.SECRETS)
    return cache.CacheFile(CACHE_NAME, f"{mark} {release_of_embeddings()}")


class ResultCache:
    """Results about candidates so far. All of them are valid for the texts of the last `drop_outdated`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._is_loaded = False
        self.results: dict[str, CachedResult] = {}
        self._stale: dict[str, CachedResult] = {}
        """Outdated results. Their results for unchanged pairs are still valid."""
        self._outdated_sides: dict[str, frozenset[int]] = {}
        """The sides of outdated results that need other neighbors. A missing id means both sides."""
        self._texts: tuple[_Texts, _Texts] = (_Texts(), _Texts())
        """The texts of each side."""
        self._keys: list[bytes] = []
        self._ids: list[str] = []
        self._places: dict[bytes, int] = {}
        self._sides: tuple[AbstractSet[bytes], AbstractSet[bytes]] | None = None
        self.rejected: frozenset[str] | None = None
        self._changed = False
        self._unsaved = 0
        self._as_of: str | None = None
        """The head of the log at the last attempt to save."""
        self._stamp: object = None
        """The stamp of the file at the last read or write."""

    # Changes of the texts

    def drop_outdated(self, now: Sides, most: int | None = None) -> bool:
        """Drop the results that are outdated for these texts.

        Return False, and drop nothing, if finding out takes more than `most` comparisons.
        """
        self.load()
        shelf, inbox = (
            texts_of_side.of(side) for texts_of_side, side in zip(self._texts, now.both, strict=True)
        )
        texts, keys = (shelf.by_key, inbox.by_key), (shelf.keys, inbox.keys)
        old = self._sides or (frozenset(), frozenset())
        if all(now is before or now == before for now, before in zip(keys, old, strict=True)):
            self._texts = shelf, inbox
            return True
        new: list[list[Text]] = []
        for texts_of_side, current, before in zip(texts, keys, old, strict=True):
            new.append(
                []
                if current is before
                else [texts_of_side[key] for key in texts_of_side if key not in before]
            )
        if most is not None and not self._is_quick(now, new, most):
            return False
        self._texts = shelf, inbox
        self._outdated_sides = {}
        own = {text.id: key for key, text in texts[1].items()}
        for id_ in [id_ for id_, cached in self.results.items() if own.get(id_) != cached.key]:
            del self.results[id_]
        self._stale = {id_: cached for id_, cached in self._stale.items() if own.get(id_) == cached.key}
        outdated: dict[str, set[int]] = {}

        def outdate(ids: Iterable[str], *sides: int) -> None:
            for id_ in ids:
                outdated.setdefault(id_, set()).update(sides)

        for side in (0, 1):
            outdate(self._without_reach(now.both[side], side), side)
        removed = set().union(
            *(before - current for before, current in zip(old, keys, strict=True) if current is not before)
        )
        dropped = {key for key in removed if key not in keys[0] and key not in keys[1]}
        for side in (0, 1):
            outdate(self._without(dropped & old[side], side), side)
        names = {name for text in (*new[0], *new[1]) for name in (text.id, *text.superseded_by)}
        names |= {self._ids[self._places[key]] for key in dropped}
        named = (
            id_ for id_, result in self.results.items() if id_ in names or not names.isdisjoint(result.names)
        )
        outdate(named, 0, 1)
        candidates = {text.id: text for text in now.inbox.texts}
        for side in (0, 1):
            if new[side] and self.results:
                outdate(
                    self._near_new(new[side], side, now.both[side], texts[side], old[side], candidates), side
                )
        for id_, sides in outdated.items():
            self._stale[id_] = self.results.pop(id_)
            self._outdated_sides[id_] = frozenset(sides)
        self._sides = keys
        for texts_of_side, current, before in zip(texts, keys, old, strict=True):
            if current is not before:
                for key, text in texts_of_side.items():
                    self._place(key, text.id)
        self._changed = True
        return True

    def _is_quick(self, now: Sides, new: Sequence[Sequence[Text]], most: int) -> bool:
        if not self.results:
            return True
        if not all(side.is_built for side in now.both):
            return False
        if sum(map(len, new)) > _MOST_NEW:
            return False
        affected = sum(len(texts) for texts, side in zip(new, now.both, strict=True) if not side.ranked)
        return affected * len(self.results) <= most

    def _without_reach(self, neighbours: Neighbours, side: int) -> list[str]:
        """Return the candidates whose neighbors were ranked with another index than the current one."""
        index = neighbours.index if self.results else None
        reaches = ((id_, result.reaches[side]) for id_, result in self.results.items())
        return [id_ for id_, reach in reaches if (reach.index if reach else None) != index]

    def _without(self, removed: Collection[bytes], side: int) -> Iterator[str]:
        """Yield the candidates that conflict with a removed text.

        Among ranked texts, also yield the candidates near a removed text, because another text replaces it.
        """
        if not removed:
            return
        ids = {self._ids[self._places[key]] for key in removed}
        near = frozenset(self._compared_with([self._places[key] for key in removed], side))
        for id_, result in self.results.items():
            if (result.reaches[side] and id_ in near) or any(
                conflict.id in ids for conflict in result.conflicts
            ):
                yield id_

    def _compared_with(self, places: Collection[int], side: int) -> list[str]:
        if not places:
            return []
        wanted = frozenset(places)
        each = ((id_, result.compared[side]) for id_, result in self.results.items())
        return [id_ for id_, compared in each if not wanted.isdisjoint(array("i", compared))]

    def _near_new(
        self,
        new: Sequence[Text],
        side: int,
        neighbours: Neighbours,
        texts: Mapping[bytes, Text],
        old: Collection[bytes],
        candidates: Mapping[str, Text],
    ) -> Iterable[str]:
        """Return the candidates that would be compared with a new text. If all texts are compared, only
        related ones.
        """
        if not neighbours.ranked:
            return meeting(new, [candidates[id_] for id_ in self.results])
        old_places: dict[str, list[int]] = {}
        for key, text in texts.items():
            if key in old:
                old_places.setdefault(text.statement, []).append(self._places[key])
        copies = [place for text in new for place in old_places.get(text.statement, ())]
        found = set(self._compared_with(copies, side))
        statements = list(dict.fromkeys(text.statement for text in new if text.statement not in old_places))
        if statements:
            # Candidates that were ranked with another index are ranked again anyway.
            index = neighbours.index
            reaches = {
                id_: reach
                for id_, result in self.results.items()
                if id_ not in found and (reach := result.reaches[side]) and reach.index == index
            }
            ids = list(reaches)
            if ids:
                waiting = [candidates[id_].statement for id_ in ids]
                rows = neighbours.reached_by(waiting, list(reaches.values()), statements)
                found.update(ids[row] for row in rows)
        return found

    def forget_repeats(
        self,
        rejected: Collection[str],
        related_to: Callable[[list[str], list[str]], set[str]],
        most: int | None = None,
    ) -> bool:
        """Drop the verdicts of the gate that other rejections affect.

        `related_to` returns the candidates that are related to one of some rejections. For `most`, see `drop_outdated`.
        """
        self.load()
        now = frozenset(rejected)
        if now == self.rejected:
            return True
        # A candidate that must be compared again keeps its verdict of the gate.
        results = {**self._stale, **self.results}
        verdicts = {id_: result.verdict for id_, result in results.items() if result.verdict}
        before = self.rejected if self.rejected is not None else now
        gone, new = before - now, sorted(now - before)
        if most is not None and len(new) * len(verdicts) > most:
            return False
        affected = {id_ for id_, verdict in verdicts.items() if verdict.repeats in gone}
        if self.rejected is None:
            affected = set(verdicts)
        elif new and verdicts:
            affected |= related_to([*verdicts], new)
        for id_ in affected:
            results[id_].verdict = None
        self.rejected = now
        self._changed = True
        return True

    # New results

    def comparing(self, wanted: Iterable[Text]) -> Compare:
        """Return a comparison that uses earlier results. `wanted` are candidates that are also compared with
        each other.
        """
        self.load()
        from agentplane.claims.verdict import RelationCache

        both_ways = RelationCache({text.statement for text in wanted})
        return lambda candidate, others: self._compare_each(candidate, others, both_ways)

    def _compare_each(
        self, candidate: Text, others: Sequence[Text], both_ways: "RelationCache"
    ) -> list[Conflict | None]:
        known = self._known(candidate)
        keys = [self._key(other) for other in others] if known else [b""] * len(others)
        unknown = [at for at, key in enumerate(keys) if key not in known]
        found = compare_each(candidate, [others[at] for at in unknown], both_ways)
        fresh = dict(zip(unknown, found, strict=True))
        return [fresh[at] if at in fresh else known[key] for at, key in enumerate(keys)]

    def _known(self, candidate: Text) -> dict[bytes, Conflict | None]:
        """Return the earlier results of a candidate by the key of the other text."""
        result = self.results.get(candidate.id) or self._stale.get(candidate.id)
        if result is None or result.key != key_of(candidate):
            return {}
        conflicts = {conflict.id: conflict for conflict in result.conflicts}
        places = (place for side in result.compared for place in array("i", side))
        return {self._keys[place]: conflicts.get(self._ids[place]) for place in places}

    def near(self, candidate: Text, side: int) -> tuple[list[Text], Reach | None] | None:
        """Return the texts that a candidate was compared with on one side, or None if they would
        differ now.
        """
        result = self._stale.get(candidate.id)
        if result is None or side in self._outdated_sides.get(candidate.id, (0, 1)):
            return None
        keys = [self._keys[place] for place in array("i", result.compared[side])]
        texts = (self._texts[0].by_key.get(key) or self._texts[1].by_key.get(key) for key in keys)
        return [text for text in texts if text is not None], result.reaches[side]

    def add(
        self,
        candidate: Text,
        compared: tuple[Sequence[Text], Sequence[Text]],
        conflicts: tuple[Conflict, ...],
        reaches: tuple[Reach | None, Reach | None],
    ) -> None:
        shelf, inbox = (
            array("i", [self._place(self._key(text), text.id) for text in side]).tobytes()
            for side in compared
        )
        before = self.results.get(candidate.id) or self._stale.pop(candidate.id, None)
        key = key_of(candidate)
        verdict = before.verdict if before and before.key == key else None
        names = tuple(sorted(claims(candidate)))
        self.results[candidate.id] = CachedResult(key, (shelf, inbox), conflicts, reaches, names, verdict)
        self._stale.pop(candidate.id, None)
        self._changed = True
        self._unsaved += 1

    def set_verdict(self, id_: str, verdict: CachedVerdict) -> None:
        if id_ in self.results:
            self.results[id_].verdict = verdict
            self._changed = True

    def _key(self, text: Text) -> bytes:
        shelf, inbox = self._texts
        return shelf.key_at.get(id(text)) or inbox.key_at.get(id(text)) or key_of(text)

    def _place(self, key: bytes, id_: str) -> int:
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._keys)
            self._keys.append(key)
            self._ids.append(id_)
        return place

    # The cache file

    def is_overtaken(self) -> bool:
        """True if another process has written since this was read or written."""
        return self._is_loaded and _stamp(self._layout) != self._stamp

    def save(self, snapshot: Snapshot) -> bool:
        """Save all results if there are new ones. If the log has moved on, the file isn't changed."""
        if not self._changed or self._sides is None:
            return False
        self._as_of = snapshot.ledger.head
        # A long-lived process has these in memory. The next process repeats checks that weren't written.
        if (
            server_memory.is_on()
            and self._stamp is not None
            and not server_memory.is_due(self._unsaved, len(self._keys))
        ):
            return False
        return self._write(snapshot.ledger.head)

    def save_now(self) -> None:
        """Save the results that weren't worth saving yet."""
        if self._changed and self._sides is not None and not self.is_overtaken():
            self._write(self._as_of)

    def _write(self, head: str | None) -> bool:
        if self._sides is None:
            return False
        with suppress(AgentplaneError):
            if chain.tail(self._layout.log).head != head:
                return False
        self._tidy(self._sides[0] | self._sides[1])
        sides = tuple(array("i", sorted(self._places[key] for key in side)).tobytes() for side in self._sides)
        rejected = sorted(self.rejected) if self.rejected is not None else None
        first = _Head(self._keys, self._ids, (sides[0], sides[1]), rejected)
        data = msgspec.msgpack.encode(_File(first, list(_packed(self.results)), list(_packed(self._stale))))
        cache.save_as_of(self._layout, head, file(), data)
        self._changed, self._unsaved = False, 0
        self._stamp = _stamp(self._layout)
        return True

    def _tidy(self, live: Collection[bytes]) -> None:
        """Forget removed texts when there are many of them."""
        if len(self._keys) <= 2 * len(live) + _BLOCK:
            return
        kept = [place for place, key in enumerate(self._keys) if key in live]
        moved = {place: at for at, place in enumerate(kept)}
        for result in (*self.results.values(), *self._stale.values()):
            shelf, inbox = (
                array("i", [moved[place] for place in array("i", side) if place in moved]).tobytes()
                for side in result.compared
            )
            result.compared = shelf, inbox
        self._keys, self._ids = [self._keys[at] for at in kept], [self._ids[at] for at in kept]
        self._places = {key: at for at, key in enumerate(self._keys)}

    def load(self) -> None:
        """Read the saved results, once."""
        if self._is_loaded:
            return
        self._is_loaded = True
        self._stamp = _stamp(self._layout)
        data = cache.load(self._layout, file())
        try:
            saved = _file_codec.decode(data) if data else None
            if saved is None:
                return
            results, stale = _unpacked(saved.results), _unpacked(saved.stale)
            keys = saved.head.keys
            sides = [frozenset(keys[place] for place in array("i", side)) for side in saved.head.sides]
            compared = (side for result in (*results.values(), *stale.values()) for side in result.compared)
            most = max((max(array("i", side), default=-1) for side in compared), default=-1)
        except (msgspec.MsgspecError, ValueError, IndexError):
            return
        if len(saved.head.ids) != len(keys) or most >= len(keys):
            return
        self.results, self._stale = results, stale
        self._keys, self._ids = keys, saved.head.ids
        self._places = {key: at for at, key in enumerate(keys)}
        self._sides = sides[0], sides[1]
        rejected = saved.head.rejected
        self.rejected = frozenset(rejected) if rejected is not None else None


def of(layout: Layout) -> ResultCache:
    """Return the results so far. A long-lived process has them in memory unless another process has written since."""
    results: ResultCache | None = server_memory.get(layout, CACHE_NAME)
    if results is None or results.is_overtaken():
        results = ResultCache(layout)
        server_memory.put(layout, CACHE_NAME, results)
    return results


def save_all() -> None:
    """Save the results before a long-lived process ends."""
    for results in server_memory.each(CACHE_NAME):
        results.save_now()


def _stamp(layout: Layout) -> tuple[int, int, int] | None:
    try:
        status = os.lstat(layout.cache / CACHE_NAME)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def meeting(new: Sequence[Text], asked: Sequence[Text]) -> set[str]:
    """Return the candidates that are related to one of the new texts, in either direction."""
    from agentplane.claims.parse.statement import parse

    found = {text.id for text in asked if any(choice.replaced for choice in parse(text.statement).choices)}
    for text in new:
        for block in _blocks(asked, _BLOCK):
            hits = compare_each(text, block)
            found.update(other.id for other, hit in zip(block, hits, strict=True) if hit)
    return found


def _blocks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[begin : begin + size] for begin in range(0, len(items), size))


def _packed(results: Mapping[str, CachedResult]) -> Iterator[msgspec.Raw]:
    """Yield encoded pieces. Encoding everything at once would block the other threads."""
    items = iter(results.items())
    while piece := dict(islice(items, _AT_ONCE)):
        yield msgspec.Raw(msgspec.msgpack.encode(piece))


def _unpacked(pieces: Iterable[msgspec.Raw]) -> dict[str, CachedResult]:
    results: dict[str, CachedResult] = {}
    for piece in pieces:
        results.update(_results_codec.decode(piece))
    return results
