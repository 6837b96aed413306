"""The interface between the relay and a command that it runs, with or without a terminal."""

import io
import os
from collections.abc import Sequence
from typing import Protocol

import msgspec

from agentplane.runs.terminal.output import Outlet
from agentplane.runs.terminal.poll import Ready


class Source(msgspec.Struct, frozen=True):
    """An output of the command, with its descriptor, its stream name and its destination."""

    opened: io.FileIO
    stream: str
    outlet: Outlet
    follows: bool
    """True if the command should notice when its reader is gone, and the reader when the output ends."""

    @property
    def fd(self) -> int:
        return self.opened.fileno()


def source(fd: int, stream: str, outlet: Outlet, *, follows: bool) -> Source:
    os.set_blocking(fd, False)
    return Source(io.FileIO(fd), stream, outlet, follows)


class Ended(msgspec.Struct, frozen=True):
    code: int
    """The exit code, or the negative number of the signal that ended the command."""


class Stopped(msgspec.Struct, frozen=True):
    signal: int


class HungUp(msgspec.Struct, frozen=True):
    """The outer terminal went away."""


News = Ended | Stopped | HungUp


class Job(Protocol):
    @property
    def signals(self) -> Sequence[int]:
        """The signals that `on_signal` handles."""

    @property
    def pid(self) -> int: ...
    @property
    def sources(self) -> Sequence[Source]: ...
    @property
    def in_front(self) -> bool:
        """True if keys that are typed reach the command now."""

    def hold(self) -> None:
        """From now on, keep typed keys for the next process."""

    def send(self, number: int) -> None: ...
    def on_signal(self, number: int) -> None: ...
    def stop(self, number: int) -> None: ...
    def reads(self) -> list[int]: ...
    def writes(self) -> list[int]: ...
    def patience(self) -> float | None: ...
    def serve(self, ready: Ready) -> list[News]: ...
    def close(self) -> None: ...
