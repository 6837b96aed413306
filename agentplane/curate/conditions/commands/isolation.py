"""Isolation of a command with Linux namespaces, which needs no other program.

In namespaces of its own, a command has no network but its own loopback device, sees only its own processes, and gets
terminals of its own. All its processes end with the first one.
"""

import ctypes
import os
import re
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal


Level = Literal["processes", "bubblewrap", "network", "none"]
"""`processes`: own network and own processes. `bubblewrap`: the same with this program, because some distributions let
only this program make namespaces. `network`: only an own network. `none`: neither.
"""

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_PRIVATE, _RECURSIVE, _NOSUID, _NODEV, _NOEXEC = 1 << 18, 1 << 14, 2, 4, 8
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_MOST_IDS = 1000
"""Maximum number of processes and threads. Ids below 300 aren't given twice."""
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def levels() -> Sequence[Level]:
    """Return the levels to try, the strictest one first."""
    return ("processes", "bubblewrap", "network", "none") if sys.platform == "linux" else ("none",)


def bubblewrap(program: str) -> list[str]:
    """Return the words before a command that run it in bubblewrap."""
    return [
        program, "--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--dev-bind", "/", "/",
        "--dev", "/dev", "--proc", "/proc", "--",
    ]  # fmt: skip


def adopt_orphans() -> None:
    """Become the parent of all processes whose parents end."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> None:
    """Let the system end this process when its parent ends."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)


def enter(level: Level) -> None:
    """Move this process into new namespaces. Its next child is the first process of them. Raise OSError if that fails."""
    if level in ("none", "bubblewrap"):
        return
    wanted = _NEWNS | _NEWNET | (_NEWPID | _NEWIPC if level == "processes" else 0)
    user, group = os.getuid(), os.getgid()
    if user == 0 and _libc().unshare(wanted) == 0:
        return
    _checked(_libc().unshare(wanted | _NEWUSER))
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def furnish(level: Level) -> None:
    """Prepare the new namespaces, in their first process. Raise OSError if that fails."""
    if level in ("none", "bubblewrap"):
        return
    # Without this, the mounts below could appear in the namespace of everyone else.
    _mount(None, "/", None, _PRIVATE | _RECURSIVE)
    if level == "processes":
        _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
        _limit_processes()
    try:
        _mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
    except OSError:
        _mount("tmpfs", "/dev/pts", "tmpfs", _NOSUID | _NOEXEC)
    _start_loopback()


def _limit_processes() -> None:
    """Limit the number of processes. Before this version of Linux, the limit was the one of the whole machine."""
    major, minor = (int(part) for part in re.findall(r"[0-9]+", os.uname().release)[:2])
    if (major, minor) >= (6, 14):
        with suppress(OSError):
            _write("/proc/sys/kernel/pid_max", str(_MOST_IDS))


def _start_loopback() -> None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", 0)
        (flags,) = struct.unpack("16xh22x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | _IFF_UP))


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [word.encode() if word is not None else None for word in (source, target, kind)]
    _checked(_libc().mount(*words, ctypes.c_ulong(flags), options.encode() if options else None))


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
