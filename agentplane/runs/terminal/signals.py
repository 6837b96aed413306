"""Signals that come to us, as bytes on a descriptor: a loop waits for them as it waits for output."""

import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


END = (signal.SIGTERM, signal.SIGHUP)
"""These tell us to end."""


class Signals:
    """Catches signals while it is entered. What was ignored before stays ignored, for the command as well."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = tuple(numbers)
        self._caught: Counter[int] = Counter()
        self.fd = self._end = self._wakeup = -1

    def __enter__(self) -> Self:
        self.fd, self._end = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._end, False)
        self._wakeup = signal.set_wakeup_fd(self._end, warn_on_full_buffer=False)
        wanted = [n for n in self._numbers if n == signal.SIGCHLD or signal.getsignal(n) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._note) for number in wanted}
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)
        signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        os.close(self.fd)
        os.close(self._end)

    def read(self) -> bytes:
        """The numbers of what came since."""
        try:
            return os.read(self.fd, 4096)
        except BlockingIOError:
            return b""

    def stop_ourselves(self, number: int) -> bool:
        """Stops our whole job, as the keyboard would. Returns after it was continued, and whether it was stopped.

        The kernel stops no group that nobody could continue.
        """
        before = signal.signal(number, signal.SIG_DFL)
        continued = self._caught[signal.SIGCONT]
        os.kill(0, number)
        signal.signal(number, before)
        return self._caught[signal.SIGCONT] > continued

    def _note(self, number: int, _: FrameType | None) -> None:
        self._caught[number] += 1


@contextmanager
def held() -> Iterator[list[int]]:
    """While in here, nothing that tells us to end ends us: for sealing what a run left. What came is in the list.

    A terminal that goes away is often noticed before the signal that says so.
    """
    came: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        """Not the same as ignoring, which a command would inherit."""
        came.append(number)

    before = {number: signal.getsignal(number) for number in (*END, signal.SIGINT)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, hold)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
