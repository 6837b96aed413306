"""The terminal that we were started in: its modes, its size, and whether it is ours at the moment."""

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
    """Taken means: every key comes to us as it is. What it was like before is put back."""

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
            # Not the terminal of our session: then nobody controls jobs with it.
            return error.errno == errno.ENOTTY

    def take(self) -> None:
        """Only while in front: else the kernel stops us here, until we are."""
        now = self.modes()
        if now is None:
            return
        # A shell may have let our own modes stand while we were stopped.
        if now != self._raw:
            self._before = now
        with suppress(termios.error):
            termios.tcsetattr(self.keys, termios.TCSANOW, raw(now))
            self._raw = self.modes()
            self.taken = True

    def give_back(self) -> None:
        """Puts the old modes back, unless somebody else is in front by now."""
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
    """The same modes, but every byte passes both ways as it is: what cfmakeraw(3) does."""
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
