"""The ledger in cache/, which is continued from its last position as long as the log still has that position."""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from agentplane.plane.derived import cache, server_memory
from agentplane.plane.layout import Layout
from agentplane.plane.ledger.ledger import Known, Ledger
from agentplane.plane.ledger.summing import advance
from agentplane.text.json import decode


_EVENT = 512
"""Typical size of an event in bytes."""
KEPT = cache.CacheFile("ledger.mp", "11")
_codec = decode.Pack(Ledger)


def read(layout: Layout) -> Ledger:
    """Return the ledger up to the end of the log. Cache new parts of it."""
    kept: Ledger = server_memory.get(layout, KEPT.name) or _kept(layout)
    if not still_there(layout, kept):
        kept = _kept(layout)
    if kept.unproved:
        # A missing record may have arrived since, so nothing is built on its absence.
        kept = Ledger()
    ledger = advance(kept, layout)
    if ledger.size != kept.size:
        keep(layout, ledger)
    server_memory.put(layout, KEPT.name, ledger)
    return ledger


def keep(layout: Layout, ledger: Ledger) -> None:
    """Keep the ledger for the next process.

    A process that has it in memory rarely writes it. Readers continue from the cached ledger.
    """
    written: _Written | None = server_memory.get(layout, _WRITTEN)
    server_memory.put(layout, KEPT.name, ledger)
    if written is None or written.lags(layout, ledger):
        data = msgspec.msgpack.encode(ledger)
        cache.save(layout, KEPT, data)
        server_memory.put(layout, _WRITTEN, _Written(ledger.size, ledger.head, len(data)))


_WRITTEN = "ledger written"


class _Written(msgspec.Struct, frozen=True):
    """The ledger that is on disk."""

    size: int
    """See `Ledger`."""
    head: str | None
    length: int
    """Length in bytes."""

    def lags(self, layout: Layout, ledger: Ledger) -> bool:
        new = (ledger.size - self.size) // _EVENT
        return server_memory.is_due(new, self.length // _EVENT) or not still_there(layout, self)


def _kept(layout: Layout) -> Ledger:
    data = cache.load(layout, KEPT)
    try:
        ledger = _codec.decode(data) if data else Ledger()
    except msgspec.MsgspecError:
        return Ledger()
    if not still_there(layout, ledger):
        return Ledger()
    if data and server_memory.is_on():
        _share(ledger.known.values())
        server_memory.put(layout, _WRITTEN, _Written(ledger.size, ledger.head, len(data)))
    return ledger


def _share(known: Iterable[Known]) -> None:
    """Make states of the same operation or file share one string, to save memory."""
    names: dict[str, str] = {}
    for mark in known:
        msgspec.structs.force_setattr(mark, "op", names.setdefault(mark.op, mark.op))
        msgspec.structs.force_setattr(mark, "file", names.setdefault(mark.file, mark.file))


def from_cache(layout: Layout) -> Ledger | None:
    """Return the cached ledger, advanced to the end of the log. None if `read` would start from scratch."""
    kept = _kept(layout)
    return None if kept.size == 0 or kept.unproved else advance(kept, layout)


class Summed(Protocol):
    """A sum of the first `size` bytes of a log, whose last line has the hash `head`."""

    @property
    def size(self) -> int: ...
    @property
    def head(self) -> str | None: ...


def still_there(layout: Layout, ledger: Summed) -> bool:
    """True if the log still has the last line of a sum in the same place."""
    if ledger.head is None:
        return ledger.size == 0
    ending = f'"hash_self":"{ledger.head}"}}\n'.encode()
    try:
        with layout.log.open("rb") as file:
            file.seek(max(0, ledger.size - len(ending)))
            return file.read(len(ending)) == ending
    except OSError:
        return False
