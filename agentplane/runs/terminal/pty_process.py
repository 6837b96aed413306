"""A command in a separate terminal, which looks and behaves like the terminal of agentplane."""

import os
import pty
import signal
import termios
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from agentplane.runs.terminal.output import Outlet
from agentplane.runs.terminal.poll import Ready
from agentplane.runs.terminal.process import HungUp, News, Source, source
from agentplane.runs.terminal.session_leader import Leader
from agentplane.runs.terminal.signals import Signals
from agentplane.runs.terminal.tty import Terminal


_LOOK_AGAIN = 0.25
"""Polling interval in seconds. A shell that puts a running job in the foreground sends no signal."""

_MUCH_TYPED = 1 << 16
_NAMES = {1: "stdout", 2: "stderr"}
_WANTS_TERMINAL = (signal.SIGTTIN, signal.SIGTTOU)


class PtyJob:
    """Mirrors job control between the terminal of agentplane and the terminal of the command.

    The command is in the foreground of its terminal while agentplane is in the foreground of its own.
    Agentplane stops when the command stops.

    In a pipeline, other processes may read the keyboard. There the command starts in the background.
    Agentplane takes the outer terminal only after the command was stopped for using its own.
    """

    signals = (
        signal.SIGWINCH,
        signal.SIGCONT,
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGTSTP,
        signal.SIGUSR1,
        signal.SIGUSR2,
    )

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path, signals: Signals) -> None:
        self._signals = signals
        self.pressed: Callable[[bytes], None] = lambda _: None
        """Callback that gets the typed keys."""
        self._held = False
        self._stopped = False
        self._typed = b""
        self._wanted = os.isatty(0) and os.isatty(1)
        screen = 1 if os.isatty(1) else 2
        with ExitStack() as undo, ExitStack() as lent:
            keys = _keyboard(undo)
            self._hears = keys is not None
            self._terminal = Terminal(screen if keys is None else keys, screen)
            self.sources, streams, slave = _streams(screen, undo, lent)
            self._master = self.sources[0].fd
            self._make_alike(slave)
            self._leader = Leader(slave, streams, cwd)
            undo.callback(self._leader.close)
            undo.callback(self._terminal.give_back)
            front = self._wanted and self._may_take()
            if front:
                self._terminal.take()
            self.pid = self._leader.start(command, env, front=front)
            self._undo = undo.pop_all()

    @property
    def can_be_in_front(self) -> bool:
        """True if the command gets both keys and screen while agentplane is in the foreground."""
        return self._wanted and self._hears

    @property
    def in_front(self) -> bool:
        return self._terminal.taken and not self._stopped

    def hold(self) -> None:
        self._held = True

    def _make_alike(self, slave: int) -> None:
        """Copy modes and size of the outer terminal. The modes are copied only in the foreground.

        In the background, the modes can be those of another program's line editor.
        """
        modes = self._terminal.modes()
        if modes and self._terminal.in_front():
            termios.tcsetattr(slave, termios.TCSANOW, modes)
        self._terminal.copy_size(slave)

    def send(self, number: int) -> None:
        """Send a signal to the command's whole group, and to the foreground group of its session."""
        groups = {self.pid}
        with suppress(OSError):
            groups.add(os.tcgetpgrp(self._master))
        for group in groups - {0, self._leader.pid}:
            with suppress(OSError):
                os.killpg(group, number)

    def on_signal(self, number: int) -> None:
        if number == signal.SIGWINCH:
            self._terminal.copy_size(self._master)
        elif number == signal.SIGCONT:
            self._look()
        else:
            self.send(number)

    def stop(self, number: int) -> None:
        """Handle a stop of the command, by the keyboard, by a signal, or because it used the terminal in the
        background.
        """
        self._stopped = True
        if number in _WANTS_TERMINAL and self._may_take():
            self._wanted = True
            self._resume()
            return
        self._terminal.give_back()
        stopped = self._signals.stop_ourselves(signal.SIGTSTP if number == signal.SIGSTOP else number)
        if stopped or number != signal.SIGSTOP:
            self._resume(hopeless=not stopped and number in _WANTS_TERMINAL)

    def _resume(self, *, hopeless: bool = False) -> None:
        """Continue the command.

        `hopeless` means that the outer terminal is unavailable and the command would be stopped repeatedly.
        Then the command continues in its own foreground, where it waits for keys.
        """
        front = self._wanted and self._may_take()
        if front:
            self._terminal.take()
            self._terminal.copy_size(self._master)
        self._stopped = False
        self._leader.resume(front=front or hopeless)

    def _look(self) -> None:
        """Check for a move to the foreground or the background that came without a signal."""
        if self._stopped or not self._wanted:
            return
        if not self._may_take():
            if self._terminal.taken:
                self._terminal.taken = False
                self._leader.resume(front=False)
            return
        fresh = not self._terminal.taken
        self._terminal.take()
        self._terminal.copy_size(self._master)
        if fresh:
            self._leader.resume(front=True)

    def _may_take(self) -> bool:
        return self._hears and self._terminal.in_front()

    def reads(self) -> list[int]:
        listening = self._terminal.taken and not self._held and len(self._typed) < _MUCH_TYPED
        leader = self._leader.fileno()
        return [self._terminal.keys, leader] if listening else [leader]

    def writes(self) -> list[int]:
        return [self._master] if self._typed else []

    def patience(self) -> float | None:
        return _LOOK_AGAIN if self._hears and self._wanted and not self._terminal.taken else None

    def serve(self, ready: Ready) -> list[News]:
        if self.patience() is not None:
            self._look()
        news: list[News] = []
        if self._terminal.taken and self._terminal.keys in ready.reads and not self._hear():
            self._terminal.taken = self._hears = False
            news.append(HungUp())
        if self._typed:
            self._type()
        if self._leader.fileno() in ready.reads and (report := self._leader.news()):
            news.append(report)
        return news

    def _hear(self) -> bool:
        keys = b""
        with suppress(OSError):
            keys = os.read(self._terminal.keys, _MUCH_TYPED)
        self._typed += keys
        self.pressed(keys)
        return bool(keys)

    def _type(self) -> None:
        try:
            self._typed = self._typed[os.write(self._master, self._typed) :]
        except BlockingIOError:
            return
        except OSError:
            self._typed = b""

    def close(self) -> None:
        """Restore the outer terminal first, even if later steps fail. Then close the command's terminal.

        Closing it hangs up on every process that still uses it.
        """
        self._terminal.give_back()
        for each in self.sources:
            each.opened.close()
        self._undo.close()


def _keyboard(undo: ExitStack) -> int | None:
    """Return the descriptor that keys come from, or None."""
    if os.isatty(0):
        return 0
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    undo.callback(os.close, terminal)
    return terminal


def _streams(
    screen: int, undo: ExitStack, lent: ExitStack
) -> tuple[tuple[Source, ...], list[int | None], int]:
    """Return the sources, the command's three streams, and the command's side of the terminal.

    The terminal is the first source. Outputs that are not terminals get a pipe.
    """
    made: list[Source] = []

    def lead(pair: tuple[int, int], to: int, *, follows: bool) -> int:
        read, write = pair
        lent.callback(os.close, write)
        made.append(source(read, _NAMES[to], Outlet(to), follows=follows))
        undo.callback(made[-1].opened.close)
        undo.callback(made[-1].outlet.close)
        return write

    slave = lead(pty.openpty(), screen, follows=False)
    outputs = [slave if os.isatty(to) else lead(os.pipe(), to, follows=True) for to in (1, 2)]
    return tuple(made), [slave if os.isatty(0) else None, *outputs], slave
