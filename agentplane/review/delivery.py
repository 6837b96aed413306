"""Which approved text may be given to tools: an entry that still holds a likely secret is withheld, whoever approved it.

Context packs, files of tools, recall and MCP resources all ask here. What was found is kept by the digest of the entry, so
that only new texts are searched.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress

import msgspec

from agentplane.memory import ids
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.derived import cache, server_memory
from agentplane.plane.settings import Settings
from agentplane.plane.store.store import Snapshot
from agentplane.review import result_versions
from agentplane.text.json import decode


KEPT = "delivery"
_KEY = 16
_MANY = 1000
_AT_ONCE = 500
_MOST = 100_000


class Given(msgspec.Struct, frozen=True):
    """Entries, divided into those whose text may be given to tools and those that are withheld."""

    entries: tuple[Entry, ...]
    withheld: tuple[Entry, ...] = ()

    @property
    def withheld_ids(self) -> tuple[str, ...]:
        return tuple(entry.id for entry in self.withheld)

    @property
    def withheld_names(self) -> tuple[str, ...]:
        """The ids as tools may read them. An id that agentplane didn't give out can hold the secret itself."""
        return tuple(map(_name, self.withheld_ids))


def _name(id_: str) -> str:
    if ids.is_plain(id_):
        return id_
    from agentplane.scan.secrets.mask import masked_text  # takes long to load, and few ids need it

    return masked_text(id_)


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    version: str
    without: bytes
    """The first bytes of the digests of entries that hold no secret, one after the other."""
    holding: bytes
    """The same of entries that hold one."""


_codec = decode.Pack(_Kept)


def given(memory: Memory) -> Given:
    """Return what tools may be given of the approved entries, of every status."""
    return divided(memory.snapshot, memory.approved())


def divided(snapshot: Snapshot, entries: Sequence[Entry]) -> Given:
    """Divide entries of a plane. Only texts that were never searched before are searched now."""
    if not snapshot.settings.gate.finds_secrets:
        return Given(tuple(entries))
    known = _Known(snapshot)
    holding = set()
    for entry in entries:
        if known.holds_secret(entry):
            holding.add(entry.digest)
        # A hook has little time for a large memory that is new to this machine. The next one goes on from here.
        if known.new >= _AT_ONCE:
            known.save()
    known.save()
    return _divided(entries, holding)


def _divided(entries: Sequence[Entry], holding: AbstractSet[str]) -> Given:
    return Given(
        tuple(entry for entry in entries if entry.digest not in holding),
        tuple(entry for entry in entries if entry.digest in holding),
    )


def unkept(entries: Sequence[Entry]) -> Given:
    """Divide entries of no plane: nothing is read from the cache, and nothing is kept in it."""
    return _divided(entries, {entry.digest for entry in entries if _holds_secret(entry)})


def may_be_delivered(entry: Entry, settings: Settings) -> bool:
    """True if the text of one entry may be given to tools. For many entries of a plane `divided` is faster.

    A project can turn the search for secrets off, which is a trust setting.
    """
    return not settings.gate.finds_secrets or not _holds_secret(entry)


def searched(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries that hold a likely secret, without reading what is kept in the cache: for `doctor`."""
    return tuple(entry for entry in entries if _holds_secret(entry))


_searched: dict[str, bool] = {}
"""What this process found itself, by the digest of the entry."""


def _holds_secret(entry: Entry) -> bool:
    from agentplane.review.gate import gate  # takes long to load, and kept answers need none of it

    if entry.digest not in _searched:
        if len(_searched) >= _MOST:
            _searched.clear()
        _searched[entry.digest] = bool(gate.likely_secrets(entry))
    return _searched[entry.digest]


class _Known:
    """What is known of the texts of a plane."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._without: set[bytes] = set()
        self._holding: set[bytes] = set()
        self.new = 0
        data = cache.load(snapshot.layout, KEPT)
        with suppress(msgspec.MsgspecError, ValueError):
            kept = _codec.decode(data) if data else None
            if kept and kept.version == _version():
                self._without, self._holding = set(_keys(kept.without)), set(_keys(kept.holding))

    def holds_secret(self, entry: Entry) -> bool:
        key = _key(entry)
        if key not in self._without and key not in self._holding:
            self.new += 1
            (self._holding if _holds_secret(entry) else self._without).add(key)
        return key in self._holding

    def save(self) -> None:
        """Keep what is new. A process that serves for long knows it anyway, and waits until it is a share of all."""
        there = len(self._without) + len(self._holding) - self.new
        if not self.new or (server_memory.is_on() and not server_memory.is_due(self.new, there)):
            return
        marks = self._snapshot.ledger.known.values()
        if len(self._without) + len(self._holding) > 2 * len(marks) + _MANY:
            approved = {bytes.fromhex(mark.digest)[:_KEY] for mark in marks if mark.digest}
            self._without &= approved
            self._holding &= approved
        kept = _Kept(_version(), b"".join(sorted(self._without)), b"".join(sorted(self._holding)))
        head = self._snapshot.ledger.head
        cache.save_as_of(self._snapshot.layout, head, KEPT, msgspec.msgpack.encode(kept))
        self.new = 0


def _key(entry: Entry) -> bytes:
    return bytes.fromhex(entry.digest)[:_KEY]


def _keys(joined: bytes) -> Iterable[bytes]:
    return (joined[at : at + _KEY] for at in range(0, len(joined), _KEY))


def _version() -> str:
    return result_versions.mark(result_versions.SECRETS)
