"""A single cache file. Its first line is a mark that only this user's key can make.

Hooks and the badge read the cache with this module, so it imports only os and the key.
"""

import os
import stat

from agentplane.plane.trust import user_key


FOLDER = "cache"
LARGEST = 1 << 30

_PURPOSE = "cache"
_START = user_key.MARK_LENGTH + 1
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC  # a FIFO must not block the prompt


def identity(root: str) -> bytes | None:
    """Return the device and inode of a plane's cache folder, which a copy of the folder doesn't share."""
    try:
        found = os.lstat(os.path.join(root, FOLDER))
    except OSError:
        return None
    return b"%d %d" % (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def marked(root: str, name: str, data: bytes) -> bytes | None:
    """Return the bytes to write for `data`, or None if no secret can be stored."""
    mark = mark_of(root, name, data)
    return None if mark is None else mark + b"\n" + data


def mark_of(root: str, name: str, data: bytes) -> bytes | None:
    """Return the mark of one file, or None. It is valid for this name, this folder and these bytes only."""
    folder = identity(root)
    return None if folder is None else user_key.mark(_PURPOSE, os.fsencode(name), folder, data)


def read(root: str, name: str, largest: int = LARGEST) -> bytes | None:
    """Return the data that agentplane stored under `name`, or None if there is no file with this user's mark."""
    found = raw(root, name, largest)
    return None if found is None or not is_valid(root, name, found) else found[_START:]


def is_valid(root: str, name: str, found: bytes) -> bool:
    """True if agentplane wrote these bytes for this user, under this name, in this folder."""
    folder = identity(root)
    if folder is None or found[_START - 1 : _START] != b"\n":
        return False
    return user_key.is_marked(found[: _START - 1], _PURPOSE, os.fsencode(name), folder, found[_START:])


def raw(root: str, name: str, largest: int = LARGEST) -> bytes | None:
    """Return the bytes of a plain cache file, or None if it is missing or too large."""
    try:
        fd = os.open(os.path.join(root, FOLDER, name), _FLAGS)
        with open(fd, "rb") as file:
            about = os.fstat(fd)
            return file.read() if stat.S_ISREG(about.st_mode) and about.st_size <= largest else None
    except OSError:
        return None
