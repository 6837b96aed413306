"""The events in a log, and one iterator over them.

A kind reads only the fields that its struct names, so it can read events of other programs and other versions.
Two structs of one kind are for readers with different needs. For example, the ledger counts the results of each
run, and it must not depend on any other field of the event.
"""

from collections.abc import Iterable, Iterator
from math import inf
from typing import Any, Generic, Literal, TypeVar

import msgspec

from agentplane.text import files
from agentplane.text.json import decode
from agentplane.text.log import chain, times


E = TypeVar("E")


class Kind(Generic[E]):
    """A kind of event, and the struct that its events are read as. Without a name, it includes all events."""

    def __init__(self, name: Literal["op", "run", ""], struct: type[E]) -> None:
        self.mark = f'"kind":"{name}"'.encode() if name else b""
        """The bytes that each line of the kind contains."""
        self.decode = decode.Json(struct).decode
        """Returns the event of a line. Raises msgspec's errors for a line that can't be read."""

    def matches(self, line: bytes) -> bool:
        """True if a line can be an event of this kind. Only decoding tells for sure."""
        return self.mark in line

    def read(self, line: bytes) -> E | None:
        """Return the event of a line, or None for another kind and for a line that can't be read."""
        if self.mark not in line:
            return None
        try:
            return self.decode(line)
        except msgspec.MsgspecError:
            return None


class OpEvent(msgspec.Struct, frozen=True):
    kind: Literal["op"]
    op: str = ""
    op_sha256: str = ""


class ProducedFile(msgspec.Struct, frozen=True):
    path: str
    sha256: str = ""
    tracked: bool | None = None


class RunResults(msgspec.Struct, frozen=True):
    """The results of a run, which the ledger counts."""

    kind: Literal["run"]
    run_id: str = ""
    task: str | None = None
    outputs: list[ProducedFile] | dict[str, Any] = []
    derived_facts: list[Any] = []

    @property
    def files(self) -> list[ProducedFile]:
        """The outputs that are files with a hash, and that Git does not ignore."""
        if isinstance(self.outputs, dict):
            return []
        return [output for output in self.outputs if output.sha256 and output.tracked is not False]


OP = Kind("op", OpEvent)
RESULTS = Kind("run", RunResults)


def iterate(lines: Iterable[bytes], *, kind: Kind[E], mark: bytes = b"") -> Iterator[tuple[bytes, E]]:
    """Yield the events of one kind among lines that contain `mark`, each with its line.

    `oldest_first` and `newest_first` return the lines of a log. Lines are read only as they are needed.
    """
    own, read = kind.mark, kind.decode  # a log can have 100,000 lines
    for line in lines:
        if own in line and mark in line:
            try:
                event = read(line)
            except msgspec.MsgspecError:
                continue
            yield line, event


def oldest_first(log: files.StrPath) -> Iterator[bytes]:
    """Yield the lines of a log from the first to the last."""
    return (line for _, line in chain.lines(log))


def newest_first(log: files.StrPath, since: float = -inf) -> Iterator[bytes]:
    """Yield the lines of a log in the order of their times, latest first, back to `since`.

    `chain.lines_backwards` yields them in the order of their places.
    """
    for moment, line in times.newest_first(chain.lines_backwards(log)):
        if moment < since:
            return
        yield line


def with_any(lines: Iterable[bytes], marks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines that contain any of these marks."""
    wanted = tuple(marks)
    return (line for line in lines if any(mark in line for mark in wanted))
