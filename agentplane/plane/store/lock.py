"""One writer at a time. The lock is the kernel's: it falls when its owner dies, however that happens."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from agentplane.errors import AgentplaneError, Damaged, Locked
from agentplane.plane.layout import Layout
from agentplane.text import files


# A waiting process looks this often: short, because an op holds the lock for a few milliseconds.
_POLL_SECONDS = 0.004


@contextmanager
def held(layout: Layout, timeout: float) -> Iterator[None]:
    """Holds the plane's lock; raises Locked when another process keeps it for `timeout` seconds."""
    from filelock import FileLock, Timeout

    if layout.lock.is_symlink():
        raise Damaged(
            "is a symbolic link",
            where=layout.shown(".lock"),
            todo="delete it; the next command makes a new one.",
        )
    lock = FileLock(layout.lock, thread_local=False)
    try:
        lock.acquire(timeout=timeout, poll_interval=_POLL_SECONDS)
    except Timeout:
        raise Locked(
            f"another process has been writing for {timeout:g} s{_owner(layout)}",
            where=layout.root.name,
            todo="wait for it, or end it; a lock whose owner died is free at once.",
        ) from None
    except OSError as error:
        raise Damaged(
            f"cannot lock the plane: {error.strerror or error}",
            where=layout.shown(".lock"),
            todo="make the folder writable for you.",
        ) from None
    try:
        _sign(layout)
        yield
    finally:
        lock.release()


def is_held(layout: Layout) -> bool:
    """True if another process is writing at this moment."""
    try:
        fd = os.open(layout.lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EAGAIN)
    finally:
        os.close(fd)
    return False


def owner(layout: Layout) -> str | None:
    """Return the id of the process that holds the lock, as it says itself."""
    try:
        words = files.read(layout.lock, most=64).decode(errors="replace").split()
    except AgentplaneError:
        return None
    return words[0] if words and words[0].isascii() and words[0].isdecimal() else None


def _sign(layout: Layout) -> None:
    """Says in the lock file who holds it, for the message of whoever waits in vain."""
    try:
        fd = os.open(layout.lock, os.O_WRONLY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        os.write(fd, f"{os.getpid()} {int(time.time())}".encode().ljust(40) + b"\n")
    except OSError:
        pass
    finally:
        os.close(fd)


def _owner(layout: Layout) -> str:
    found = owner(layout)
    return f" (process {found})" if found else ""
