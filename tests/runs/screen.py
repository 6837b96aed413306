"""A terminal to run programs in: what they print is waited for, keys are typed, it can be resized and taken away."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path


PATIENCE = 60.0
_NOTHING_MORE = b"\0nothing more\0"


class Screen:
    """The other side of a terminal with one program in it, as a terminal emulator holds it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (24, 80),
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> None:
        self.master, self.slave = pty.openpty()
        self.resize(*size)
        self.modes = termios.tcgetattr(self.slave)
        self.seen = bytearray()
        self._at = 0
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, "TERM": "xterm-256color", **(env or {})},
            stdin=self.slave if stdin is None else stdin,
            stdout=self.slave if stdout is None else stdout,
            stderr=self.slave if stderr is None else stderr,
            start_new_session=True,
            preexec_fn=self._take,  # noqa: PLW1509 -- it only makes one system call
        )

    def _take(self) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def type(self, keys: str | bytes) -> None:
        data = keys.encode() if isinstance(keys, str) else keys
        while data:
            data = data[os.write(self.master, data) :]

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def expect(self, pattern: str, patience: float = PATIENCE) -> re.Match[bytes]:
        """Waits for this after what was expected before."""
        wanted = re.compile(pattern.encode())
        end = time.monotonic() + patience
        while not (found := wanted.search(self.seen, self._at)):
            if not self._more(end):
                raise AssertionError(f"never saw {pattern!r}, but {self.seen[self._at :][-2000:]!r}")
        self._at = found.end()
        return found

    def rest(self) -> bytes:
        """All that the program has written until its end. What comes out of a terminal is in order."""
        self.ended()
        while self._more(time.monotonic() + 0.2):
            pass
        begin = self._at
        os.write(self.slave, _NOTHING_MORE)
        return bytes(self.seen[begin : self.expect(re.escape(_NOTHING_MORE.decode())).start()])

    def ended(self) -> int:
        """The exit code. Reads while it waits, as a terminal does."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"did not end: {self.seen[-2000:]!r}"
            self._more(time.monotonic() + 0.02)
        return self.process.returncode

    def is_as_before(self) -> bool:
        return termios.tcgetattr(self.slave) == self.modes

    def in_front(self) -> int:
        return os.tcgetpgrp(self.master)

    def hang_up(self) -> None:
        """The window is closed."""
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1

    def close(self) -> None:
        for fd in (self.master, self.slave):
            with suppress(OSError):
                os.close(fd)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def _more(self, end: float) -> bool:
        left = end - time.monotonic()
        if left <= 0 or not select.select([self.master], [], [], left)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:  # EIO
            return False
        self.seen += data
        return bool(data)


def until(holds: Callable[[], object], what: str = "", patience: float = PATIENCE) -> None:
    """Waits for a condition of which nothing tells."""
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, f"never came true: {what or holds}"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Not ended, nor waiting for someone to notice."""
    return state(pid) not in ("", "Z", "X")


def state(pid: int) -> str:
    """One letter, as ps(1) says it: R running, S asleep, T stopped, Z ended; nothing for none."""
    done = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True)
    return done.stdout.strip()[:1]


def in_foreground(pid: int) -> bool:
    """True if this process is in the group that gets the keys of its terminal."""
    done = subprocess.run(["ps", "-o", "pgid=,tpgid=", "-p", str(pid)], capture_output=True, text=True)
    group, foreground = done.stdout.split() or ("", "none")
    return group == foreground
