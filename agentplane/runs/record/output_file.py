"""Recording an output while it runs, with its beginning and end on disk and its full size and hash.

Recorded bytes are on disk immediately, so a killed process loses none of them. Two files alternate for the
end. Together they always contain at least the last half of the allowed size. Each file begins with the
position of its first byte in the output. Thus the files themselves show the gap between them.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.text import files


_LOOK_AT_DISK = 1 << 22
"""Number of bytes between two checks of the free disk space."""

STREAMS = ("stdout", "stderr")
_LONGEST_PIECE = 16_384
"""Maximum number of bytes that are cut off a line. No secret is longer."""
_PLACE = 16
"""Length of the position at the beginning of an end file, in bytes."""


class Recording(msgspec.Struct, frozen=True):
    """The recorded parts of one output."""

    name: str
    start: bytes
    end: bytes
    end_at: int
    """Position of `end` in the output."""
    size: int
    sha256: str | None
    """Hash of the complete output, or None if the recording process was killed."""

    def text(self) -> tuple[bytes, int]:
        """Return the recorded text with a line for each gap, and the number of bytes that are left out.

        Partial lines next to a gap are left out too, because a part of a secret can't be recognized.
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
    """Records the bytes of one output. It is mutable and lives as long as the run.

    If the disk is full or the folder is gone, it continues to count, and `error` holds the reason. `place` is
    a descriptor of the folder. It protects against a program that replaces the folder with a link before the
    first byte comes.
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
        """Position in the output where the end files end, or -1 if no bytes may be appended to them yet."""
        try:
            start, *ends = _paths(folder, name) if place is None else _names(name)
            self._start = os.open(start, _FLAGS, 0o600, dir_fd=place)
            self._ends = [os.open(path, _FLAGS, 0o600, dir_fd=place) for path in ends]
        except OSError as error:
            self._stop(error)

    def take(self, data: bytes) -> None:
        """Record bytes. Bytes that are not stored still count for size and hash."""
        place, self.size = self.size, self.size + len(data)
        self.digest.update(data)
        if self.error is None and not self._disk_is_full():
            try:
                self._keep(place, data)
            except OSError as error:
                self._stop(error)

    def close(self) -> Recording:
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
        """True if too little disk space is left. The interrupted beginning then stays unchanged."""
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


def read(folder: Path, name: str, half: int) -> Recording:
    """Return the recorded parts of an output from disk. Works after its process was killed, too."""
    start, *ends = _paths(folder, name)
    begin = _held(start)
    place, end = len(begin), b""
    for at, data in sorted(filter(None, map(_placed, map(_held, ends)))):
        end = end + data if at == place + len(end) and end else data
        place = at + len(data) - len(end)
    size = place + len(end)
    end = end[-half:] if half else b""
    return Recording(name, begin, end, size - len(end), size, None)


def _gap(size: int) -> bytes:
    return b"[\xe2\x80\xa6 %d bytes left out \xe2\x80\xa6]\n" % size if size > 0 else b""


def _line_end(data: bytes) -> int:
    """Return the end of the last whole line of a piece. A very long line loses only its end."""
    found = data.rfind(b"\n") + 1
    return max(found, len(data) - _LONGEST_PIECE)


def _line_begin(data: bytes) -> int:
    """Return the start of the first whole line of a piece. A very long line loses only its beginning."""
    found = data.find(b"\n", 0, _LONGEST_PIECE) + 1
    return found or min(len(data), _LONGEST_PIECE)


def names(folder: Path) -> list[str]:
    """Return the outputs that have a recording."""
    return [name for name in STREAMS if os.path.lexists(_paths(folder, name)[0])]


def _placed(data: bytes) -> tuple[int, bytes] | None:
    """Return the position and the bytes of an end file, or None if it is empty."""
    place = data[: _PLACE - 1]
    return (int(place), data[_PLACE:]) if len(data) > _PLACE and place.isdigit() else None


def _held(path: Path) -> bytes:
    """Return a file's bytes, or none if a program replaced the file with another kind of file."""
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
