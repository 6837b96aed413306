"""What the relay knows of a command that it runs, with or without a terminal."""

import io
import os
from collections.abc import Sequence
from typing import Protocol

import msgspec

from agentplane.runs.terminal.output import Outlet
from agentplane.runs.terminal.poll import Ready


class Source(msgspec.Struct, frozen=True):
    """Output of the command: where it comes from, what it is called, where it goes."""

    opened: io.FileIO
    stream: str
    outlet: Outlet
    follows: bool
    """Whether the command should notice that nobody reads its output any more, and a reader that it ended."""

    @property
    def fd(self) -> int:
        return self.opened.fileno()


def source(fd: int, stream: str, outlet: Outlet, *, follows: bool) -> Source:
    os.set_blocking(fd, False)
    return Source(io.FileIO(fd), stream, outlet, follows)


class Ended(msgspec.Struct, frozen=True):
    code: int
    """Negative for the signal that ended it."""


class Stopped(msgspec.Struct, frozen=True):
    signal: int


class HungUp(msgspec.Struct, frozen=True):
    """Our terminal went away."""


News = Ended | Stopped | HungUp


class Job(Protocol):
    @property
    def signals(self) -> Sequence[int]:
        """Which ones `on_signal` wants to be told of."""

    @property
    def pid(self) -> int: ...
    @property
    def sources(self) -> Sequence[Source]: ...
    @property
    def in_front(self) -> bool:
        """Whether what somebody types reaches the command now."""

    def hold(self) -> None:
        """From now on, what somebody types waits for whoever comes next."""

    def send(self, number: int) -> None: ...
    def on_signal(self, number: int) -> None: ...
    def stop(self, number: int) -> None: ...
    def reads(self) -> list[int]: ...
    def writes(self) -> list[int]: ...
    def patience(self) -> float | None: ...
    def serve(self, ready: Ready) -> list[News]: ...
    def close(self) -> None: ...
