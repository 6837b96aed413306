"""When another process started: read from /proc where there is one, which is quicker than loading psutil."""

import os
from pathlib import Path


_START = 19
"""Where the start of a process stands in /proc/PID/stat, counted from behind its name."""


def born(pid: int) -> float:
    """In seconds since 1970; 0 where there is no such process."""
    boot = _boot_time()
    if boot is None:
        return _born_elsewhere(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0.0
    return boot + int(stat.rpartition(b")")[2].split()[_START]) / os.sysconf("SC_CLK_TCK")


def _boot_time() -> float | None:
    try:
        lines = Path("/proc/stat").read_bytes().splitlines()
    except OSError:
        return None
    return next((float(line.split()[1]) for line in lines if line.startswith(b"btime ")), None)


def _born_elsewhere(pid: int) -> float:
    import psutil

    try:
        return float(psutil.Process(pid).create_time())
    except (psutil.Error, ValueError):
        return 0.0
