"""A command without a terminal for its output, in agentplane's session and process group.

It shares agentplane's input.
"""

import os
import signal
import stat
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from agentplane.runs.terminal.output import Outlet
from agentplane.runs.terminal.poll import Ready
from agentplane.runs.terminal.process import Ended, News, source


_FROM_KEYBOARD = (signal.SIGINT, signal.SIGQUIT)


class Piped:
    """The keyboard's signals reach the command directly, and stop both processes."""

    in_front = False
    signals = (signal.SIGCHLD, *_FROM_KEYBOARD, signal.SIGUSR1, signal.SIGUSR2)

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        streams = {"stdout": 1} if _same(1, 2) else {"stdout": 1, "stderr": 2}
        pipes = {name: os.pipe() for name in streams}
        self.sources = tuple(
            source(pipes[name][0], name, Outlet(fd), follows=True) for name, fd in streams.items()
        )
        with ExitStack() as unless_started, ExitStack() as write_ends:
            unless_started.callback(self.close)
            for _, write in pipes.values():
                write_ends.callback(os.close, write)
            self._process = subprocess.Popen(
                command,
                env=env,
                cwd=cwd,
                stdout=pipes["stdout"][1],
                stderr=pipes["stderr"][1] if "stderr" in pipes else subprocess.STDOUT,
            )
            unless_started.pop_all()
        self.pid = self._process.pid

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def on_signal(self, number: int) -> None:
        if number == signal.SIGCHLD or (number in _FROM_KEYBOARD and _at_keyboard()):
            return
        self.send(number)

    def hold(self) -> None:
        """Do nothing, because the command reads its input directly."""

    def stop(self, number: int) -> None:
        """Do nothing, because this is never called. The keyboard stops both processes at once."""

    def reads(self) -> list[int]:
        return []

    def writes(self) -> list[int]:
        return []

    def patience(self) -> float | None:
        return None

    def serve(self, _: Ready) -> list[News]:
        code = self._process.poll()
        return [] if code is None else [Ended(code)]

    def close(self) -> None:
        for each in self.sources:
            each.opened.close()
            each.outlet.close()


def _same(one: int, other: int) -> bool:
    """True if both lead to the same pipe or file. Then the command gets one pipe, which preserves their
    order.
    """
    here, there = os.fstat(one), os.fstat(other)
    return os.path.samestat(here, there) and not stat.S_ISCHR(here.st_mode)


def _at_keyboard() -> bool:
    """True if agentplane is in the foreground of a terminal, so that the terminal's signals reach the command
    as well.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
