"""A single cache file. Its first line has a mark that only this user's key can make, and the version of the content.

Hooks and the badge read the cache with this module, so it imports only os and the key.
"""

import os
import stat

from agentplane.plane.trust import user_key


FOLDER = "cache"
LARGEST = 1 << 30

_PURPOSE = "cache 2"
_MARK = user_key.MARK_LENGTH
_LONGEST_VERSION = 8192
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC  # a FIFO must not block the prompt


def identity(root: str) -> bytes | None:
    """Return the device and inode of a plane's cache folder, which a copy of the folder doesn't share."""
    try:
        found = os.lstat(os.path.join(root, FOLDER))
    except OSError:
        return None
    return b"%d %d" % (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def marked(root: str, name: str, version: str, data: bytes) -> bytes | None:
    """Return the bytes to write for `data`, or None if no secret can be stored."""
    mark = mark_of(root, name, version, data)
    return None if mark is None else b"%s %s\n%s" % (mark, os.fsencode(version), data)


def mark_of(root: str, name: str, version: str, data: bytes) -> bytes | None:
    """Return the mark of one file, or None. It is valid for this name, version, folder and these bytes only."""
    folder = identity(root)
    return (
        None if folder is None else user_key.mark(_PURPOSE, *_parts(name, os.fsencode(version), folder), data)
    )


def read(root: str, name: str, version: str, largest: int = LARGEST) -> bytes | None:
    """Return the data that agentplane stored under `name` with this version of the content.

    None if there is no such file with this user's mark.
    """
    found = raw(root, name, largest)
    start = _MARK + 1 + len(os.fsencode(version)) + 1
    if found is None or found[_MARK:start] != b" %s\n" % os.fsencode(version):
        return None
    return found[start:] if is_valid(root, name, found) else None


def is_valid(root: str, name: str, found: bytes) -> bool:
    """True if agentplane wrote these bytes for this user, under this name, in this folder, with any version."""
    folder = identity(root)
    end = found.find(b"\n", 0, _MARK + _LONGEST_VERSION)
    if folder is None or end <= _MARK or found[_MARK : _MARK + 1] != b" ":
        return False
    parts = _parts(name, found[_MARK + 1 : end], folder)
    return user_key.is_marked(found[:_MARK], _PURPOSE, *parts, memoryview(found)[end + 1 :])


def _parts(name: str, version: bytes, folder: bytes) -> tuple[bytes, bytes, bytes]:
    return os.fsencode(name), version, folder


def raw(root: str, name: str, largest: int = LARGEST) -> bytes | None:
    """Return the bytes of a plain cache file, or None if it is missing or too large."""
    try:
        fd = os.open(os.path.join(root, FOLDER, name), _FLAGS)
        with open(fd, "rb") as file:
            about = os.fstat(fd)
            return file.read() if stat.S_ISREG(about.st_mode) and about.st_size <= largest else None
    except OSError:
        return None
