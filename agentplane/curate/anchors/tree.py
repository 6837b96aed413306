"""The places from which evidence is read: the work tree, or a commit. Both have the same functions.

Nothing outside of the project is read, whatever link leads there. Nothing but a plain file is opened.
"""

import errno
import hashlib
import os
import re
import stat
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from agentplane.curate.anchors.source import digest
from agentplane.plane.git.object_reader import ObjectReader
from agentplane.text import files


LARGEST = 8 << 20
"""Maximum size in bytes of a file whose text is read. A larger file has only a digest."""

Problem = Literal[
    "no-git",
    "no-commit",
    "missing",
    "outside",
    "folder",
    "submodule",
    "special",
    "unreadable",
    "too-large",
    "binary",
    "syntax",
    "ambiguous",
]
"""The reasons why a piece of evidence has no content."""

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:[a-z0-9.-]+ [^\n]*\n)*?oid sha256:(?P<oid>[0-9a-f]{64})\n"
)
_MOST_LINKS = 8
_DIGEST_LENGTH = 32
_PIECE = 1 << 20
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Content(msgspec.Struct, frozen=True):
    """The bytes of a file."""

    path: str
    """Where the bytes were found, which differs from the path that was asked for if that is a link."""
    digest: str
    data: bytes | None
    """None if the file is too large to read."""
    stamp: files.Stamp | None = None
    """The times, size and number of a file of the work tree, if it didn't change while it was read."""


class Absent(msgspec.Struct, frozen=True):
    """The reason why a path has no bytes."""

    problem: Problem


class Tree(Protocol):
    """Files of a project at one time."""

    def exists(self, path: str) -> bool:
        """True if there is something at a path."""

    def look(self, path: str) -> Content | Absent:
        """Return the bytes of a file."""


class WorkTree:
    """The files on disk."""

    def __init__(self, project: Path) -> None:
        self.root = os.path.realpath(project)
        self._inside = os.path.join(self.root, "")
        self._folders: dict[str, bool] = {}

    def exists(self, path: str) -> bool:
        return "\0" not in path and os.path.lexists(os.path.join(self.root, path))

    def look(self, path: str) -> Content | Absent:
        folder, _, name = path.rpartition("/")
        is_plain = self._is_plain(folder) and name not in ("", ".", "..")
        try:
            status = os.lstat(f"{self._inside}{path}") if is_plain else None
            if status is None or stat.S_ISLNK(status.st_mode):
                if (there := self.real(path)) is None:
                    return Absent("outside")
                path, status = there, os.lstat(f"{self._inside}{there}")
        except (OSError, ValueError):
            return Absent("submodule" if self._is_in_submodule(path) else "missing")
        if stat.S_ISDIR(status.st_mode):
            return Absent("folder")
        if not stat.S_ISREG(status.st_mode):
            return Absent("missing" if stat.S_ISLNK(status.st_mode) else "special")
        try:
            return _read(f"{self._inside}{path}", path)
        except OSError:
            return Absent("unreadable")

    def real(self, path: str) -> str | None:
        """Return the path to which links in a path lead, or None if that is outside of the project."""
        found = os.path.realpath(f"{self._inside}{path}")
        if found == self.root:
            return ""
        return found[len(self._inside) :] if found.startswith(self._inside) else None

    def _is_plain(self, folder: str) -> bool:
        """True if no link is on the way to a folder."""
        known = self._folders.get(folder)
        if known is None:
            full = f"{self._inside}{folder}".rstrip("/")
            known = self._folders[folder] = os.path.realpath(full) == full
        return known

    def _is_in_submodule(self, path: str) -> bool:
        parts = path.split("/")[:-1]
        return any(
            os.path.lexists(os.path.join(self.root, *parts[: count + 1], ".git"))
            for count in range(len(parts))
        )


class CommitTree:
    """The files of a commit."""

    def __init__(self, reader: ObjectReader, commit: str) -> None:
        self._reader = reader
        self._commit = commit

    def exists(self, path: str) -> bool:
        found = self._reader.find(self._commit, path.rstrip("/"))
        return found is not None

    def look(self, path: str) -> Content | Absent:
        try:
            return self._look(path)
        except EOFError:
            return Absent("unreadable")

    def _look(self, path: str) -> Content | Absent:
        for _ in range(_MOST_LINKS):
            found = self._reader.find(self._commit, path.rstrip("/"))
            if found is None:
                return Absent("missing")
            if found.kind == "tree":
                return Absent("folder")
            if found.kind != "blob":
                return Absent("submodule")
            if found.size > LARGEST:
                return Content(path, digest_of_stream(self._reader, found.oid), None)
            data = self._reader.read(found.oid)
            if data is None:
                return Absent("unreadable")
            if (target := self._link(path, data)) is None:
                return content_of(path, data)
            path = target
        return Absent("outside")

    def _link(self, path: str, data: bytes) -> str | None:
        """Return the path to which a symbolic link leads, if these bytes could be one and lead to something.

        Git tells the kind of a file only in lists, which take longer. A file with nothing but the path of another file
        is taken for a link too, which makes no difference for comparisons unless both change.
        """
        if not data or len(data) > 1024 or b"\n" in data or b"\0" in data:
            return None
        target = os.path.normpath(os.path.join(os.path.dirname(path), os.fsdecode(data)))
        is_inside = not target.startswith(("..", "/")) and target not in (".", path)
        return target if is_inside and self._reader.find(self._commit, target) is not None else None


def content_of(path: str, data: bytes) -> Content:
    return Content(path, _digest(data), data)


def digest_of_stream(reader: ObjectReader, oid: str) -> str:
    """Return the digest of a large object."""
    found = hashlib.sha256()
    for piece in reader.pieces(oid):
        found.update(piece)
    return found.hexdigest()[:_DIGEST_LENGTH]


def _digest(data: bytes) -> str:
    """Return the digest of a file, or the one that a pointer of git-lfs has for its file."""
    if len(data) < 1024 and (pointer := _POINTER.match(data)):
        return pointer["oid"].decode()[:_DIGEST_LENGTH]
    return digest(data)


def _read(full: str, path: str) -> Content:
    fd = os.open(full, _FLAGS)
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, full)  # it was replaced just now
        if before.st_size > LARGEST:
            data, found = None, hashlib.sha256()
            while piece := os.read(fd, _PIECE):
                found.update(piece)
            digest_found = found.hexdigest()[:_DIGEST_LENGTH]
        else:
            data = _all(fd, before.st_size)
            digest_found = _digest(data)
        after = stamp_of(os.fstat(fd))
    finally:
        os.close(fd)
    return Content(path, digest_found, data, after if after == stamp_of(before) else None)


def _all(fd: int, size: int) -> bytes:
    data = os.read(fd, size + 1)
    if len(data) == size:
        return data
    # The file has changed, or the system returned less at once.
    pieces = [data]
    while size <= LARGEST and (piece := os.read(fd, _PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def stamp_of(status: os.stat_result) -> files.Stamp:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
