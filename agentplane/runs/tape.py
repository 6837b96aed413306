"""Recording an output while it runs: its beginning and its end on the disk, its size and hash in full.

What is kept lies on the disk at once, so a process that is killed loses none of it. The end is kept in two
files that take turns: together they always hold at least the last half of what is allowed.
"""

import hashlib
import os
from pathlib import Path

import msgspec

from agentplane.text import files


_LOOK_AT_DISK = 1 << 22
"""Bytes between two looks at how much space is left."""


class Recorded(msgspec.Struct, frozen=True):
    """What was recorded of one output."""

    name: str
    start: bytes
    end: bytes
    size: int
    sha256: str | None
    """Of all of it; None where the process that recorded it was killed."""

    @property
    def left_out(self) -> int:
        return max(0, self.size - len(self.start) - len(self.end))


class Tape:
    """Takes the bytes of one output. Not frozen: it lives as long as the run."""

    def __init__(self, folder: Path, name: str, limit: int, keep_free: int) -> None:
        self.folder, self.name = folder, name
        self.half, self.keep_free = limit // 2, keep_free
        self.size = 0
        self.digest = hashlib.sha256()
        self.looked_at = -_LOOK_AT_DISK
        self.full_disk = False
        self.files = [os.open(path, _FLAGS, 0o600) for path in _paths(folder, name)]
        self.turn = 1
        self.filled = 0

    def take(self, data: bytes) -> None:
        """Records bytes; the size and the hash also of those that are not kept."""
        first = data[: max(0, self.half - self.size)]
        self.size += len(data)
        self.digest.update(data)
        if self._disk_is_full():
            return
        if first:
            _write(self.files[0], first)
        if rest := data[len(first) :]:
            self._take_end(rest[-self.half :] if self.half else b"")

    def close(self) -> Recorded:
        for fd in self.files:
            os.close(fd)
        found = read(self.folder, self.name, self.half)
        return msgspec.structs.replace(found, size=self.size, sha256=self.digest.hexdigest())

    def _take_end(self, data: bytes) -> None:
        if self.filled + len(data) > self.half:
            self.turn = 3 - self.turn
            os.ftruncate(self.files[self.turn], 0)
            self.filled = 0
            os.utime(self.files[self.turn])
        _write(self.files[self.turn], data)
        self.filled += len(data)

    def _disk_is_full(self) -> bool:
        if self.size - self.looked_at >= _LOOK_AT_DISK:
            self.looked_at = self.size
            found = os.statvfs(self.folder)
            self.full_disk = found.f_bavail * found.f_frsize < self.keep_free
        return self.full_disk


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def read(folder: Path, name: str, half: int) -> Recorded:
    """What lies on the disk of an output, also of one whose process was killed."""
    start, *ends = _paths(folder, name)
    held = [(os.stat(path).st_mtime_ns, files.read(path)) for path in ends if os.path.lexists(path)]
    end = b"".join(data for _, data in sorted(held, key=lambda pair: pair[0]))
    begin = files.read_if(start) or b""
    return Recorded(name, begin, end[-half:] if half else b"", len(begin) + len(end), None)


def names(folder: Path) -> list[str]:
    """The outputs of which something was recorded."""
    try:
        return sorted(entry[:-6] for entry in os.listdir(folder) if entry.endswith(".start"))
    except OSError:
        return []


def _paths(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}.{part}" for part in ("start", "end-a", "end-b")]


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
