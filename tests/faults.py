"""A child process whose n-th file operation fails, or is its last.

    python -m tests.faults kill 17 SCRIPT ARGUMENTS…

Counts every call that changes something on disk. `kill` ends the process by SIGKILL at that call,
for a write after half of the bytes; `stop` stops it there by SIGSTOP, until somebody sends SIGCONT; `enospc` and `erofs` let that call and all later ones fail.
With 0 nothing fails, and the number of calls is printed as the last line.
"""

import errno
import os
import runpy
import signal
import stat
import sys
from collections.abc import Callable
from typing import Any


WATCHED = ("write", "fsync", "replace", "ftruncate", "unlink", "mkdir", "rename")


class Faults:
    def __init__(self, mode: str, at: int) -> None:
        self.mode = mode
        self.at = at
        self.count = 0

    def install(self) -> None:
        for name in WATCHED:
            setattr(os, name, self.watched(name, getattr(os, name)))
        os.open = self.watched_open(os.open)  # type: ignore[assignment]

    def watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            if name == "write" and not stat.S_ISREG(os.fstat(arguments[0]).st_mode):
                return real(*arguments, **more)  # a pipe or a terminal is on no disk
            self.count += 1
            if self.hit():
                done = self.fail(name, real, arguments)
                if done is not None:
                    return done
            return real(*arguments, **more)

        return call

    def watched_open(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *arguments: Any, **more: Any) -> int:
            if flags & os.O_CREAT and not os.path.exists(path):
                self.count += 1
                if self.hit():
                    self.fail("open", real, (path, flags, *arguments))
            return real(path, flags, *arguments, **more)

        return call

    def hit(self) -> bool:
        if self.mode in ("kill", "stop"):
            return self.count == self.at
        return 0 < self.at <= self.count

    def fail(self, name: str, real: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What the call returns, where it was begun here."""
        if self.mode in ("kill", "stop"):
            done = None
            if name == "write":
                data = bytes(arguments[1])
                done = real(arguments[0], data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL if self.mode == "kill" else signal.SIGSTOP)
            return done
        number = errno.ENOSPC if self.mode == "enospc" else errno.EROFS
        if self.mode == "enospc" and name in ("unlink", "ftruncate"):
            return None
        raise OSError(number, os.strerror(number))


def main() -> None:
    mode, at, script = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    faults = Faults(mode, at)
    faults.install()
    runpy.run_module(script, run_name="__main__")
    print(f"\ncalls {faults.count}", flush=True)


if __name__ == "__main__":
    main()
