"""The lock that allows one writer at a time. The kernel releases it when its owner dies for any reason."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from agentplane.errors import AgentplaneError, Damaged, Locked
from agentplane.plane.layout import Layout
from agentplane.text import files


# Poll often, because an operation keeps the lock for only a few milliseconds.
_POLL_SECONDS = 0.004


@contextmanager
def held(layout: Layout, timeout: float) -> Iterator[None]:
    """Lock the plane for the `with` block.

    Raise Locked if another process keeps the lock for `timeout` seconds.
    """
    from filelock import FileLock, Timeout

    if layout.lock.is_symlink():
        raise Damaged(
            "this is a symbolic link",
            where=layout.shown(".lock"),
            todo="Delete the link. The next command creates the lock file.",
        )
    lock = FileLock(layout.lock, thread_local=False)
    try:
        lock.acquire(timeout=timeout, poll_interval=_POLL_SECONDS)
    except Timeout:
        raise Locked(
            f"another process has been writing for {timeout:g} seconds{_owner(layout)}",
            where=layout.root.name,
            todo="Wait for that process to finish, or stop it. The lock is released when the process ends.",
        ) from None
    except OSError as error:
        raise Damaged(
            f"Can't lock the project memory: {error.strerror or error}",
            where=layout.shown(".lock"),
            todo="Make the .agentplane folder writable.",
        ) from None
    try:
        _sign(layout)
        yield
    finally:
        lock.release()


def is_held(layout: Layout) -> bool:
    """True if another process is writing right now."""
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
    """Return the id of the lock's owner, as written in the lock file."""
    try:
        words = files.read(layout.lock, most=64).decode(errors="replace").split()
    except AgentplaneError:
        return None
    return words[0] if words and words[0].isascii() and words[0].isdecimal() else None


def _sign(layout: Layout) -> None:
    """Write this process's id to the lock file, for the error message of a process that can't get the lock."""
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
    return f" (pid {found})" if found else ""
