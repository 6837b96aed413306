"""Other processes: when they started, and which started them.

Read from /proc where there is one, which is quicker than loading psutil. Loads nothing but os: hooks ask here.
"""

import os
from functools import cache


TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator


_PARENT, _START = 1, 19
"""Where they stand in /proc/PID/stat, counted from behind the name of the process."""
_MOST = 64
"""Ancestors that are looked at: while one looks, they may change under its eyes."""


def born(pid: int) -> float:
    """In seconds since 1970; 0 where there is no such process."""
    boot = _boot_time()
    if boot is None:
        return _born_elsewhere(pid)
    fields = _stat(pid)
    return boot + int(fields[_START]) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def ancestors(pid: int) -> "Iterator[int]":
    """The process that started this one, the one that started that, and so on up to the very first one."""
    for _ in range(_MOST):
        pid = parent(pid)
        if pid < 1:
            return
        yield pid


def parent(pid: int) -> int:
    """0 where there is none."""
    if _boot_time() is None:
        return _parent_elsewhere(pid)
    fields = _stat(pid)
    return int(fields[_PARENT]) if fields else 0


def _stat(pid: int) -> list[bytes]:
    """Empty where there is no such process. Its name may hold blanks and brackets."""
    return (_read(f"/proc/{pid}/stat") or b"").rpartition(b")")[2].split()


@cache
def _boot_time() -> float | None:
    lines = (_read("/proc/stat") or b"").splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(b"btime ")), None)


def name(pid: int) -> str:
    """What the system calls the program that runs in it; empty where there is no such process."""
    if _boot_time() is None:
        return _name_elsewhere(pid)
    return os.fsdecode(_read(f"/proc/{pid}/comm") or b"").strip()


def words(pid: int) -> list[str]:
    """The command line of a process; empty where there is no such process."""
    if _boot_time() is None:
        return _words_elsewhere(pid)
    return os.fsdecode(_read(f"/proc/{pid}/cmdline") or b"").split("\0")[:-1]


def folder(pid: int) -> str:
    """Where a process works; empty where that cannot be seen."""
    if _boot_time() is None:
        return _folder_elsewhere(pid)
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def commands() -> "Iterator[tuple[int, list[str]]]":
    """The processes of whoever runs this one, each with its command line."""
    if _boot_time() is None:
        yield from _commands_elsewhere()
        return
    me = os.getuid()
    for name_ in os.listdir("/proc"):
        try:
            mine = name_.isdigit() and os.stat(f"/proc/{name_}").st_uid == me
        except OSError:  # it has ended meanwhile
            continue
        if mine and (line := _read(f"/proc/{name_}/cmdline")):
            yield int(name_), os.fsdecode(line).split("\0")[:-1]


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _born_elsewhere(pid: int) -> float:
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
