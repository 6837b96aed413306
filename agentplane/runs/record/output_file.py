"""Recording an output while it runs: its beginning and its end on the disk, its size and hash in full.

What is kept lies on the disk at once, so a process that is killed loses none of it. The end is kept in two
files that take turns: together they always hold at least the last half of what is allowed. Each begins with the
place of its first byte in the output, so that what lies on the disk says by itself what is missing between.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.text import files


_LOOK_AT_DISK = 1 << 22
"""Bytes between two looks at how much space is left."""

STREAMS = ("stdout", "stderr")
_LONGEST_PIECE = 16_384
"""Bytes of a line that are cut off at most: more than any secret has."""
_PLACE = 16
"""Bytes at the beginning of an end file that say where in the output it begins."""


class Recorded(msgspec.Struct, frozen=True):
    """What was recorded of one output."""

    name: str
    start: bytes
    end: bytes
    end_at: int
    """Where in the output `end` begins."""
    size: int
    sha256: str | None
    """Of all of it, or None if the process that recorded it was killed."""

    def text(self) -> tuple[bytes, int]:
        """What is kept of it, with a line that stands for each gap, and how many bytes are left out.

        Pieces of lines beside a gap go as well: a piece of a secret is no secret by its looks.
        """
        parts: list[bytes] = []
        place = left_out = 0
        pieces = [piece for piece in ((0, self.start), (self.end_at, self.end)) if piece[1]]
        follows = [*(at for at, _ in pieces), self.size][1:]
        for (at, data), following in zip(pieces, follows, strict=True):
            cut = _line_begin(data) if at > place else 0
            end = _line_end(data) if at + len(data) < following else len(data)
            begin = at + min(cut, end)
            parts += [_gap(begin - place), data[min(cut, end) : end]]
            left_out += begin - place
            place = at + end
        return b"".join([*parts, _gap(self.size - place)]), left_out + self.size - place


class Tape:
    """Takes the bytes of one output. Not frozen: it lives as long as the run.

    Where the disk is full or the folder is gone, it goes on counting: `error` says why something was not kept.
    `place` is a descriptor of the folder, for where a program may put a link in its place before the first byte comes.
    """

    def __init__(self, folder: Path, name: str, limit: int, keep_free: int, place: int | None = None) -> None:
        self.folder, self.name, self._place = folder, name, place
        self.half, self.keep_free = limit // 2, keep_free
        self.size = 0
        self.digest = hashlib.sha256()
        self.error: OSError | None = None
        self._looked_at = -_LOOK_AT_DISK
        self._full = False
        self._start: int | None = None
        self._ends: list[int] = []
        self._turn = self._filled = 0
        self._next = -1
        """Where the end files end in the output; -1: nothing is to be added to what they hold."""
        try:
            start, *ends = _paths(folder, name) if place is None else _names(name)
            self._start = os.open(start, _FLAGS, 0o600, dir_fd=place)
            self._ends = [os.open(path, _FLAGS, 0o600, dir_fd=place) for path in ends]
        except OSError as error:
            self._stop(error)

    def take(self, data: bytes) -> None:
        """Records bytes; the size and the hash also of those that are not kept."""
        place, self.size = self.size, self.size + len(data)
        self.digest.update(data)
        if self.error is None and not self._disk_is_full():
            try:
                self._keep(place, data)
            except OSError as error:
                self._stop(error)

    def close(self) -> Recorded:
        self._close()
        found = read(self.folder, self.name, self.half)
        return msgspec.structs.replace(found, size=self.size, sha256=self.digest.hexdigest())

    def _keep(self, place: int, data: bytes) -> None:
        first = data[: max(0, self.half - place)] if self._start is not None else b""
        if self._start is not None and first:
            _write(self._start, first)
        rest = data[len(first) :][-self.half :] if self.half else b""
        if rest:
            self._keep_end(self.size - len(rest), rest)

    def _keep_end(self, place: int, data: bytes) -> None:
        if self._next != place or self._filled + len(data) > self.half:
            self._turn = 1 - self._turn
            os.ftruncate(self._ends[self._turn], 0)
            _write(self._ends[self._turn], b"%015d\n" % place)
            self._filled = 0
        _write(self._ends[self._turn], data)
        self._filled += len(data)
        self._next = place + len(data)

    def _disk_is_full(self) -> bool:
        """With little space left nothing is kept; the beginning that was interrupted stays as it is."""
        if self.size - self._looked_at >= _LOOK_AT_DISK:
            self._looked_at = self.size
            try:
                found = os.statvfs(self.folder if self._place is None else self._place)
            except OSError as error:
                self._stop(error)
                return True
            self._full = found.f_bavail * found.f_frsize < self.keep_free
        if self._full and self._start is not None:
            os.close(self._start)
            self._start = None
        return self._full

    def _stop(self, error: OSError) -> None:
        self.error = error
        self._close()

    def _close(self) -> None:
        for fd in (self._start, *self._ends):
            if fd is not None:
                with suppress(OSError):
                    os.close(fd)
        self._start, self._ends = None, []


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def read(folder: Path, name: str, half: int) -> Recorded:
    """What lies on the disk of an output, also of one whose process was killed."""
    start, *ends = _paths(folder, name)
    begin = _held(start)
    place, end = len(begin), b""
    for at, data in sorted(filter(None, map(_placed, map(_held, ends)))):
        end = end + data if at == place + len(end) and end else data
        place = at + len(data) - len(end)
    size = place + len(end)
    end = end[-half:] if half else b""
    return Recorded(name, begin, end, size - len(end), size, None)


def _gap(size: int) -> bytes:
    return b"[\xe2\x80\xa6 %d bytes left out \xe2\x80\xa6]\n" % size if size > 0 else b""


def _line_end(data: bytes) -> int:
    """Where the last whole line of a piece ends; a very long one loses only its end."""
    found = data.rfind(b"\n") + 1
    return max(found, len(data) - _LONGEST_PIECE)


def _line_begin(data: bytes) -> int:
    """Where the first whole line of a piece begins; a very long one loses only its beginning."""
    found = data.find(b"\n", 0, _LONGEST_PIECE) + 1
    return found or min(len(data), _LONGEST_PIECE)


def names(folder: Path) -> list[str]:
    """The outputs of which something was recorded."""
    return [name for name in STREAMS if os.path.lexists(_paths(folder, name)[0])]


def _placed(data: bytes) -> tuple[int, bytes] | None:
    """Where in the output the bytes of an end file stand, and the bytes, or None if it holds none."""
    place = data[: _PLACE - 1]
    return (int(place), data[_PLACE:]) if len(data) > _PLACE and place.isdigit() else None


def _held(path: Path) -> bytes:
    """A file's bytes; none where a program put something else in its place."""
    try:
        return files.read_if(path) or b""
    except AgentplaneError:
        return b""


def _paths(folder: Path, name: str) -> list[Path]:
    return [folder / part for part in _names(name)]


def _names(name: str) -> list[str]:
    return [f"{name}.{part}" for part in ("start", "end-a", "end-b")]


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
