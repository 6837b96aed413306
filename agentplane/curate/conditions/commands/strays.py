"""The processes that a command started, including processes that left their parent and their session."""

import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress


MARK = "_CHECK_RUN"
"""A variable in the environment of the command, by which its processes are found after their parents ended."""
_ROUNDS = 1000
_PAUSE = 0.01
_IS_LINUX = sys.platform == "linux"


def end_children(mark: str) -> None:
    """End all processes below this one, until there are none.

    This process must adopt orphans, so that every process of the command is below it. Where a system can't do that,
    the processes are found by their mark.
    """
    for _ in range(_ROUNDS):
        _kill(below(os.getpid()))
        if _has_no_children():
            break
        time.sleep(_PAUSE)
    if not _IS_LINUX:
        end_marked(mark)


def end_below(pid: int) -> None:
    """End a process and all processes below it."""
    _kill([pid, *below(pid)])


def end_marked(mark: str) -> None:
    """End all processes that have a mark in their environment, until there are none."""
    for _ in range(_ROUNDS):
        found = list(_marked(mark))
        if not found:
            return
        _kill(found)
        time.sleep(_PAUSE)


def below(pid: int) -> list[int]:
    """Return the processes below a process."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    found, waiting = [], [pid]
    while waiting:
        more = children.pop(waiting.pop(), [])
        found += more
        waiting += more
    return found


def count_of_all() -> int:
    """Return the number of processes on this machine, which takes much less time than their parents."""
    import psutil

    return len(os.listdir("/proc")) if _IS_LINUX else len(psutil.pids())


def threads_of_user() -> int:
    """Return the number of this user's threads, which a limit of processes counts."""
    import psutil

    me, count = os.getuid(), 0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            count += process.num_threads() if process.uids().real == me else 0
    return count


def _parents() -> Iterator[tuple[int, int]]:
    """Yield each process with its parent."""
    if not _IS_LINUX:
        import psutil

        for process in psutil.process_iter():
            with suppress(psutil.Error):
                yield process.pid, process.ppid()
        return
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                yield int(name), int(file.read().rpartition(b")")[2].split()[1])


def _marked(mark: str) -> Iterator[int]:
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            is_marked = process.pid != os.getpid() and process.environ().get(MARK) == mark
            if is_marked and process.status() != psutil.STATUS_ZOMBIE:
                yield process.pid


def _kill(found: Collection[int]) -> None:
    # The system ends a group at once, so that none of its processes can start another one meanwhile.
    own = os.getpgrp()
    groups = set()
    for pid in found:
        with suppress(OSError):
            groups.add(os.getpgid(pid))
    for group in groups - {own, 0, 1}:
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    for pid in found:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _has_no_children() -> bool:
    """Reap the children that ended. Return True if there are no others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False
