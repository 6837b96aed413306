"""A command in a terminal of its own: what a person types, and what comes back on the screen."""

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec


AGENTPLANE = (sys.executable, "-m", "agentplane")
_PATIENCE = 90.0
_PROGRESS = re.compile(r"(?:\r\x1b\[K[^\r\n\x1b]+)+\r\x1b\[K")


class Seen(msgspec.Struct, frozen=True):
    """What a command left: its exit code, what it wrote on the screen, and what it wrote into a pipe."""

    code: int
    screen: str
    piped: str = ""


def typed(
    words: Sequence[str],
    folder: Path,
    *answers: tuple[str, str],
    env: Mapping[str, str] | None = None,
    columns: int = 80,
    pipe_stdout: bool = False,
    program: Sequence[str] = AGENTPLANE,
) -> Seen:
    """Runs a command in a terminal. Each answer is typed once its question has been printed."""
    with _terminal(columns) as (master, slave):
        try:
            child = subprocess.Popen(
                [*program, *words],
                cwd=folder,
                env={**_environment(), **(env or {})},
                stdin=slave,
                stdout=subprocess.PIPE if pipe_stdout else slave,
                stderr=slave,
                start_new_session=True,
                preexec_fn=_take_terminal,  # noqa: PLW1509 -- it only makes one system call
            )
        finally:
            # Only here: a second time its number may be that of a file which another thread has opened since.
            os.close(slave)
        try:
            screen, piped = _talk(child, master, list(answers))
            return Seen(child.wait(_PATIENCE), _without_progress(screen).replace("\r\n", "\n"), piped)
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                child.wait()
            if child.stdout:
                child.stdout.close()


def _without_progress(screen: str) -> str:
    """Without what a slow machine shows of its progress and erases again."""
    return _PROGRESS.sub("", screen)


def _environment() -> dict[str, str]:
    """Without the size that the terminal of the tests has, which would count for more than this one's."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def _terminal(columns: int):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        yield master, slave
    finally:
        os.close(master)


def _talk(child: subprocess.Popen[bytes], master: int, answers: list[tuple[str, str]]) -> tuple[str, str]:
    screen, piped = bytearray(), bytearray()
    seen = 0
    sources = {master: screen}
    if child.stdout:
        sources[child.stdout.fileno()] = piped
    end = time.monotonic() + _PATIENCE
    while sources:
        left = end - time.monotonic()
        if left <= 0:
            raise AssertionError(
                f"the command did not end; the screen shows:\n{screen.decode(errors='replace')}"
            )
        for fd in select.select(list(sources), [], [], left)[0]:
            data = _read(fd)
            sources[fd].extend(data)
            if not data:
                del sources[fd]
        if answers and (at := screen.find(answers[0][0].encode(), seen)) >= 0:
            seen = at + len(answers[0][0].encode())
            _wait_until_it_waits(child.pid)
            os.write(master, answers.pop(0)[1].encode())
    if answers:
        raise AssertionError(
            f"never asked {answers[0][0]!r}; the screen shows:\n{screen.decode(errors='replace')}"
        )
    return screen.decode(errors="replace"), piped.decode(errors="replace")


def _wait_until_it_waits(pid: int) -> None:
    """A key that comes after the question, but before the command reads, is lost to Python where it is Ctrl-C."""
    asleep = 0
    for _ in range(4000):
        with suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            asleep = asleep + 1 if state == "S" else 0
        if asleep >= 4:
            return
        time.sleep(0.005)


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError as error:
        # Linux says so when the last process at the terminal has gone.
        if error.errno == errno.EIO:
            return b""
        raise
