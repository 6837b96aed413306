"""The outer terminal of agentplane, with its modes, its size and its foreground state."""

import errno
import fcntl
import os
import signal
import termios
from contextlib import suppress
from typing import Any


Modes = list[Any]

_IFLAG, _OFLAG, _CFLAG, _LFLAG, _CC = 0, 1, 2, 3, 6


class Terminal:
    """Sends every key to agentplane unprocessed while it is taken, and restores its old modes later."""

    def __init__(self, keys: int, screen: int) -> None:
        self.keys = keys
        self.screen = screen
        self.taken = False
        self._before: Modes | None = None
        self._raw: Modes | None = None

    def modes(self) -> Modes | None:
        try:
            return termios.tcgetattr(self.keys)
        except termios.error:
            return None

    def in_front(self) -> bool:
        try:
            return os.tcgetpgrp(self.keys) == os.getpgrp()
        except OSError as error:
            # This is not the terminal of agentplane's session, so no process uses it for job control.
            return error.errno == errno.ENOTTY

    def take(self) -> None:
        """Take the terminal. Call it only in the foreground, because otherwise the kernel stops agentplane
        here.
        """
        now = self.modes()
        if now is None:
            return
        # A shell may have kept agentplane's modes while agentplane was stopped.
        if now != self._raw:
            self._before = now
        with suppress(termios.error):
            termios.tcsetattr(self.keys, termios.TCSANOW, raw(now))
            self._raw = self.modes()
            self.taken = True

    def give_back(self) -> None:
        """Restore the old modes, unless another job is in the foreground now."""
        if not self.taken:
            return
        self.taken = False
        if self._before is None or not self.in_front():
            return
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            with suppress(termios.error):
                termios.tcsetattr(self.keys, termios.TCSANOW, self._before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def copy_size(self, to: int) -> None:
        with suppress(OSError):
            size = fcntl.ioctl(self.screen, termios.TIOCGWINSZ, bytes(8))
            fcntl.ioctl(to, termios.TIOCSWINSZ, size)


def raw(modes: Modes) -> Modes:
    """Return the modes with every byte passed unchanged in both directions, like cfmakeraw(3)."""
    made = [*modes[:_CC], list(modes[_CC])]
    made[_IFLAG] &= ~(
        termios.IGNBRK
        | termios.BRKINT
        | termios.PARMRK
        | termios.ISTRIP
        | termios.INLCR
        | termios.IGNCR
        | termios.ICRNL
        | termios.IXON
    )
    made[_OFLAG] &= ~termios.OPOST
    made[_CFLAG] = made[_CFLAG] & ~(termios.CSIZE | termios.PARENB) | termios.CS8
    made[_LFLAG] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    made[_CC][termios.VMIN] = 1
    made[_CC][termios.VTIME] = 0
    return made
