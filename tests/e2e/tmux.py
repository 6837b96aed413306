"""The program in a real terminal that can be looked at: tmux draws it."""

import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from tests.e2e.terminal import AGENTPLANE


PATIENCE = 90.0


class Tmux:
    """A terminal of a certain size with the program in it."""

    def __init__(
        self,
        folder: Path,
        socket: Path,
        size: tuple[int, int],
        env: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
    ) -> None:
        self._tmux = ("tmux", "-S", str(socket), "-f", "/dev/null")
        wide, high = map(str, size)
        # The shell stays when the program ends, and says how it ended.
        command = f"{shlex.join([*AGENTPLANE, *words])}; echo ended with $?; exec sleep 600"
        environment = {
            **(env or os.environ),
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
            "LC_ALL": "C.UTF-8",
        }
        subprocess.run(
            (*self._tmux, "new-session", "-d", "-x", wide, "-y", high, "-c", str(folder), command),
            env=environment,
            check=True,
        )

    def press(self, *keys: str) -> None:
        subprocess.run((*self._tmux, "send-keys", *keys), check=True)

    def screen(self) -> str:
        done = subprocess.run((*self._tmux, "capture-pane", "-p"), capture_output=True, text=True, check=True)
        return done.stdout

    def wait_for(self, text: str, patience: float = PATIENCE) -> str:
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if text in (shown := self.screen()):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"no {text!r} on the screen:\n{shown}")

    def resize(self, wide: int, high: int) -> None:
        subprocess.run((*self._tmux, "resize-window", "-x", str(wide), "-y", str(high)), check=True)

    def size(self) -> tuple[int, int]:
        done = subprocess.run(
            (*self._tmux, "display-message", "-p", "#{pane_width} #{pane_height}"),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        wide, high = map(int, done.stdout.split())
        return wide, high

    def program(self) -> int:
        """The process that was started in the terminal's shell."""
        shell = subprocess.run(
            (*self._tmux, "display-message", "-p", "#{pane_pid}"), capture_output=True, text=True, check=True
        )
        (child,) = psutil.Process(int(shell.stdout)).children()
        return child.pid

    def close(self) -> None:
        subprocess.run((*self._tmux, "kill-server"), check=False)
