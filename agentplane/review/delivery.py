"""Delivery of approved text to tools. An entry with a likely secret is withheld, whoever approved it.

Context packs, tool files, recall and MCP resources all ask here. The results are cached by the digest of the
entry, so only new texts are searched.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress

import msgspec

from agentplane.memory import ids
from agentplane.memory.entry import Entry
from agentplane.plane.derived import cache, server_memory
from agentplane.plane.settings import Settings
from agentplane.plane.store.snapshot import Snapshot
from agentplane.review import result_versions
from agentplane.text.json import decode


CACHE_FILE = cache.CacheFile("delivery", result_versions.mark(result_versions.SECRETS))
_KEY = 16
_MANY = 1000
_AT_ONCE = 500
_MOST = 100_000


class Delivery(msgspec.Struct, frozen=True):
    """Entries, divided into entries for tools and withheld entries."""

    entries: tuple[Entry, ...]
    withheld: tuple[Entry, ...] = ()

    @property
    def withheld_ids(self) -> tuple[str, ...]:
        return tuple(entry.id for entry in self.withheld)

    @property
    def withheld_names(self) -> tuple[str, ...]:
        """The ids as tools may read them. An id that agentplane didn't assign can contain the
        secret itself.
        """
        return tuple(map(_name, self.withheld_ids))


def _name(id_: str) -> str:
    if ids.is_plain(id_):
        return id_
    from agentplane.scan.secrets.mask import masked_text  # takes long to load, and few ids need it

    return masked_text(id_)


class _CachedDigests(msgspec.Struct, frozen=True, array_like=True):
    without: bytes
    """The first bytes of the digests of entries without a secret, concatenated."""
    holding: bytes
    """The same for entries with a secret."""


_codec = decode.Pack(_CachedDigests)


def divided(snapshot: Snapshot, entries: Sequence[Entry]) -> Delivery:
    """Divide entries of a project. Only texts that were never searched before are searched now."""
    if not snapshot.settings.gate.finds_secrets:
        return Delivery(tuple(entries))
    cached = _SearchCache(snapshot)
    holding = set()
    for entry in entries:
        if cached.holds_secret(entry):
            holding.add(entry.digest)
        # A hook has little time for a large memory that is new to this machine. The next hook continues from
        # here.
        if cached.new >= _AT_ONCE:
            cached.save()
    cached.save()
    return _divided(entries, holding)


def _divided(entries: Sequence[Entry], holding: AbstractSet[str]) -> Delivery:
    return Delivery(
        tuple(entry for entry in entries if entry.digest not in holding),
        tuple(entry for entry in entries if entry.digest in holding),
    )


def divided_uncached(entries: Sequence[Entry]) -> Delivery:
    """Divide entries that belong to no project, without reading or writing the cache."""
    return _divided(entries, {entry.digest for entry in entries if _holds_secret(entry)})


def may_be_delivered(entry: Entry, settings: Settings) -> bool:
    """True if tools may have the text of one entry. For many entries of a project, `divided` is faster.

    A project can turn the search for secrets off, which is a trust setting.
    """
    return not settings.gate.finds_secrets or not _holds_secret(entry)


def searched(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries with a likely secret, for `doctor`. The cache isn't read."""
    return tuple(entry for entry in entries if _holds_secret(entry))


_searched: dict[str, bool] = {}
"""Results of this process by the digest of the entry."""


def _holds_secret(entry: Entry) -> bool:
    from agentplane.review.gate import gate  # takes long to load, and cached results don't need it

    if entry.digest not in _searched:
        if len(_searched) >= _MOST:
            _searched.clear()
        _searched[entry.digest] = bool(gate.likely_secrets(entry))
    return _searched[entry.digest]


class _SearchCache:
    """Cached results for the texts of a project."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._without: set[bytes] = set()
        self._holding: set[bytes] = set()
        self.new = 0
        data = cache.load(snapshot.layout, CACHE_FILE)
        with suppress(msgspec.MsgspecError, ValueError):
            file = _codec.decode(data) if data else None
            if file:
                self._without, self._holding = set(_keys(file.without)), set(_keys(file.holding))

    def holds_secret(self, entry: Entry) -> bool:
        key = _key(entry)
        if key not in self._without and key not in self._holding:
            self.new += 1
            (self._holding if _holds_secret(entry) else self._without).add(key)
        return key in self._holding

    def save(self) -> None:
        """Save the new results. A long-lived process has them in memory, and waits until they are a share of
        all results.
        """
        saved = len(self._without) + len(self._holding) - self.new
        if not self.new or (server_memory.is_on() and not server_memory.is_due(self.new, saved)):
            return
        marks = self._snapshot.ledger.known.values()
        if len(self._without) + len(self._holding) > 2 * len(marks) + _MANY:
            approved = {bytes.fromhex(mark.digest)[:_KEY] for mark in marks if mark.digest}
            self._without &= approved
            self._holding &= approved
        file = _CachedDigests(b"".join(sorted(self._without)), b"".join(sorted(self._holding)))
        head = self._snapshot.ledger.head
        cache.save_as_of(self._snapshot.layout, head, CACHE_FILE, msgspec.msgpack.encode(file))
        self.new = 0


def _key(entry: Entry) -> bytes:
    return bytes.fromhex(entry.digest)[:_KEY]


def _keys(joined: bytes) -> Iterable[bytes]:
    return (joined[at : at + _KEY] for at in range(0, len(joined), _KEY))
