"""Signals as bytes on a descriptor, so that a loop can wait for them and for output together."""

import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


END = (signal.SIGTERM, signal.SIGHUP)
"""Signals that tell agentplane to end."""


class Signals:
    """Catches signals inside the context. Signals that were ignored before stay ignored, for the command as
    well.
    """

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
        """Return the numbers of the signals since the last call."""
        try:
            return os.read(self.fd, 4096)
        except BlockingIOError:
            return b""

    def stop_ourselves(self, number: int) -> bool:
        """Stop agentplane's whole job, as the keyboard would. Return after it continues, with True if it was
        stopped.

        The kernel does not stop a group that no process could continue.
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
    """Collect the signals to end in a list without ending, so that a run can be sealed.

    Agentplane often notices that a terminal went away before the signal arrives.
    """
    came: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        """Record the signal. Ignoring it would be different, because a command would inherit that."""
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
