"""A secret of this user on this machine, stored outside of every repository, and marks made with it.

Derived files record which texts are trusted, and open runs record which files to seal. Anyone who can write
into a repository can write such a file. For this reason each file carries a mark that needs the secret. A
file without a valid mark came from somewhere else. This module imports only os and the hash, because hooks
load it.
"""

import os


try:  # hashlib loads OpenSSL, which costs a hook several milliseconds
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


_NAME = "key"
_BYTES = 32
_MARK_BYTES = 16
MARK_LENGTH = 2 * _MARK_BYTES
"""Length of a mark, which is hexadecimal."""

_read: dict[str, bytes] = {}
"""Keys that this process has read, by path."""


def folder() -> str:
    """Return the folder for this user's data outside of repositories."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "agentplane")


def mark(purpose: str, *parts: "bytes | memoryview") -> bytes | None:
    """Return the mark for `parts`, or None if no secret can be stored.

    A mark for one purpose is not valid for another.
    """
    key = _key()
    if key is None:
        return None
    made = blake2b(key=key, digest_size=_MARK_BYTES, person=purpose.encode()[:16])
    for part in parts:
        made.update(b"%d " % len(part))
        made.update(part)
    return made.hexdigest().encode()


def can_mark() -> bool:
    """True if a secret can be stored."""
    return _key() is not None


def is_marked(found: bytes, purpose: str, *parts: "bytes | memoryview") -> bool:
    """True if `found` is the mark of `parts` under this user's secret."""
    return len(found) == MARK_LENGTH and found == mark(purpose, *parts)


def _key() -> bytes | None:
    path = os.path.join(folder(), _NAME)
    if path not in _read:
        found = _private(path) or _made(path)
        if found is None:
            return None
        _read[path] = found
    return _read[path]


def _private(path: str) -> bytes | None:
    """Return the key from a file that only this user can read, or None."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with open(fd, "rb") as file:
        about = os.fstat(fd)
        if about.st_uid != os.getuid() or about.st_mode & 0o077:
            return None
        data = file.read(_BYTES + 1)
    return data if len(data) == _BYTES else None


def _made(path: str) -> bytes | None:
    """Return a new key, or the key of a faster process. Replace a file that cannot be a key."""
    temp = f"{path}.{os.getpid()}-{os.urandom(6).hex()}.tmp"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(os.urandom(_BYTES))
            file.flush()
            os.fsync(fd)
        try:
            os.link(temp, path)  # fails if another process was faster
        except FileExistsError:
            if _private(path) is None:
                os.replace(temp, path)
    except OSError:
        return None
    finally:
        if os.path.lexists(temp):
            os.unlink(temp)
    return _private(path)
