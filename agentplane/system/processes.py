"""Information about other processes, such as their start times and parents.

It is read from /proc if possible, which is faster than loading psutil. This module loads nothing but os,
because hooks use it.
"""

import os
from functools import cache


TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator


_PARENT, _START = 1, 19
"""The fields' positions in /proc/PID/stat, counted from the end of the process name."""
_MOST = 64
"""Maximum number of ancestors to read. Processes can change during the read."""


def started_at(pid: int) -> float:
    """Return a process's start time in seconds since 1970, or 0 without such a process."""
    boot = _boot_time()
    if boot is None:
        return _started_at_elsewhere(pid)
    fields = _stat(pid)
    return boot + int(fields[_START]) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def ancestors(pid: int) -> "Iterator[int]":
    """Yield the parent of a process, then the parent's parent, and so on up to the first process."""
    for _ in range(_MOST):
        pid = parent(pid)
        if pid < 1:
            return
        yield pid


def parent(pid: int) -> int:
    """Return the process id of the parent, or 0 if there is none."""
    if _boot_time() is None:
        return _parent_elsewhere(pid)
    fields = _stat(pid)
    return int(fields[_PARENT]) if fields else 0


def _stat(pid: int) -> list[bytes]:
    """Return the fields after a process's name, which may contain spaces and brackets.

    Empty without such a process.
    """
    return (_read(f"/proc/{pid}/stat") or b"").rpartition(b")")[2].split()


@cache
def _boot_time() -> float | None:
    lines = (_read("/proc/stat") or b"").splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(b"btime ")), None)


def name(pid: int) -> str:
    """Return the system's name of a process's program, or an empty text without such a process."""
    if _boot_time() is None:
        return _name_elsewhere(pid)
    return os.fsdecode(_read(f"/proc/{pid}/comm") or b"").strip()


def words(pid: int) -> list[str]:
    """Return the command line of a process, or an empty list without such a process."""
    if _boot_time() is None:
        return _words_elsewhere(pid)
    return os.fsdecode(_read(f"/proc/{pid}/cmdline") or b"").split("\0")[:-1]


def folder(pid: int) -> str:
    """Return the working directory of a process, or an empty text if it can't be read."""
    if _boot_time() is None:
        return _folder_elsewhere(pid)
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def commands() -> "Iterator[tuple[int, list[str]]]":
    """Yield this user's processes, each with its command line."""
    if _boot_time() is None:
        yield from _commands_elsewhere()
        return
    me = os.getuid()
    for name_ in os.listdir("/proc"):
        try:
            mine = name_.isdigit() and os.stat(f"/proc/{name_}").st_uid == me
        except OSError:  # the process has ended meanwhile
            continue
        if mine and (line := _read(f"/proc/{name_}/cmdline")):
            yield int(name_), os.fsdecode(line).split("\0")[:-1]


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _started_at_elsewhere(pid: int) -> float:
    import psutil

    try:
        return float(psutil.Process(pid).create_time())
    except (psutil.Error, ValueError):
        return 0.0


def _parent_elsewhere(pid: int) -> int:
    import psutil

    try:
        return int(psutil.Process(pid).ppid())
    except (psutil.Error, ValueError):
        return 0


def _name_elsewhere(pid: int) -> str:
    import psutil

    try:
        return str(psutil.Process(pid).name())
    except (psutil.Error, ValueError):
        return ""


def _words_elsewhere(pid: int) -> list[str]:
    import psutil

    try:
        return list(psutil.Process(pid).cmdline())
    except (psutil.Error, ValueError):
        return []


def _folder_elsewhere(pid: int) -> str:
    import psutil

    try:
        return str(psutil.Process(pid).cwd())
    except (psutil.Error, ValueError):
        return ""


def _commands_elsewhere() -> "Iterator[tuple[int, list[str]]]":
    import psutil

    me = os.getuid()
    for process in psutil.process_iter():
        try:
            if process.uids().real == me and (line := process.cmdline()):
                yield int(process.pid), list(line)
        except psutil.Error:
            continue
