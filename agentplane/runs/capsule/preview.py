"""Reading only the beginning or the end of a capsule file of any size."""

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

import msgspec

from agentplane.plane.layout import Layout
from agentplane.runs import events
from agentplane.runs.capsule import capsule
from agentplane.runs.events import CapsuleFile, RunEvent
from agentplane.text import files


_BLOCK = 1 << 20
_MOST_UNPACKED = 1 << 28
"""Limit for unpacking a packed file to find its end, in bytes."""


class Piece(msgspec.Struct, frozen=True):
    data: bytes
    before: int = 0
    """Number of bytes in the file before this piece."""
    after: bool = False
    """True if the file continues after this piece."""

    @property
    def whole(self) -> bool:
        return not self.before and not self.after


def start(layout: Layout, run: RunEvent, name: str, most: int) -> Piece | None:
    """Return the beginning of a capsule file, or None if the file doesn't exist on this machine."""
    kept = run.file(name)
    if kept is None or not _is_here(layout, run, kept):
        return None
    data = b""
    with files.reading(capsule.file(layout, run.run_id, kept.path)) as stream:
        for block in _blocks(kept, stream):
            data += block
            if len(data) > most:
                return Piece(data[:most], after=True)
    return Piece(data)


def end(
    layout: Layout, run: RunEvent, name: str, most: int, goes_on: Callable[[], bool] = lambda: True
) -> Piece | None:
    """Return the end of a capsule file, or None if the file does not exist on this machine.

    Only the end is read of a file that is not packed. `goes_on` can stop the unpacking of a packed file.
    """
    kept = run.file(name)
    if kept is None or not _is_here(layout, run, kept):
        return None
    with files.reading(capsule.file(layout, run.run_id, kept.path)) as stream:
        if not kept.path.endswith(events.PACKED):
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(size - most, 0))
            return Piece(stream.read(most), before=max(size - most, 0))
        return _unpacked_end(_blocks(kept, stream), most, goes_on)


def _unpacked_end(blocks: Iterator[bytes], most: int, goes_on: Callable[[], bool]) -> Piece:
    size, last = 0, b""
    for block in blocks:
        size += len(block)
        last = (last + block)[-most:]
        if size >= _MOST_UNPACKED or not goes_on():
            return Piece(last, before=size - len(last), after=True)
    return Piece(last, before=size - len(last))


def _is_here(layout: Layout, run: RunEvent, kept: CapsuleFile) -> bool:
    return os.path.lexists(capsule.file(layout, run.run_id, kept.path))


def _blocks(kept: CapsuleFile, stream: BinaryIO) -> Iterator[bytes]:
    if not kept.path.endswith(events.PACKED):
        while block := stream.read(_BLOCK):
            yield block
        return
    with capsule.unpacking(kept, stream) as unpacked:
        while block := unpacked.read(_BLOCK):
            yield block
