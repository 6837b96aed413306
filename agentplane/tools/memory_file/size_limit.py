"""Memory that fits in a file of which a tool only reads the beginning."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Tool
from agentplane.context import active, pack
from agentplane.context.choose import Ask
from agentplane.context.pack import Pack
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.tools.memory_file import repeats
from agentplane.tools.memory_file.repeats import OwnLines


T = TypeVar("T")

_MARKERS = 200
"""Maximum number of bytes of the marker lines and the gap before them."""


Make = Callable[[int, Mapping[str, str]], Pack]
"""Makes a context pack for a budget, without the entries that a reader's own files already say."""


class Packs:
    """The context packs for files, in a size that fits and without entries that a file already says."""

    def __init__(self, whole: Pack, make: Make) -> None:
        self.whole = whole
        self._make = make
        self._made: dict[tuple[int, frozenset[str]], Pack] = {}
        self._own_lines: dict[tuple[str, ...], OwnLines] = {}
        self._about: dict[tuple[int, object], tuple[Pack, Any]] = {}

    def repeated(self, project: Path, users: Sequence[Tool]) -> dict[str, str]:
        """Return the entries that every one of these tools already reads, with their places.

        The files are read only once.
        """
        return self._read(project, users).of(self.entries)

    def given(self, project: Path, tool: Tool) -> dict[str, str]:
        """Return the entries that a tool gets from blocks in imported files, each with its file."""
        return self._read(project, (tool,)).given(self.entries)

    def _read(self, project: Path, users: Sequence[Tool]) -> OwnLines:
        names = tuple(tool.name for tool in users)
        if names not in self._own_lines:
            self._own_lines[names] = repeats.read(project, users)
        return self._own_lines[names]

    def about(self, made: Pack, gather: Callable[[Pack], T]) -> T:
        """Return the result of `gather` for a context pack.

        The result is cached, because a context pack serves many files and gathering is slow in a large
        memory.
        """
        key = id(made), gather
        if key not in self._about:
            # The context pack is kept too, so that no other object gets its id.
            self._about[key] = made, gather(made)
        result: T = self._about[key][1]
        return result

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries to choose from."""
        return self.whole.choice.ordered

    def of(self, without: Mapping[str, str], size: int | None = None) -> Pack | None:
        """Return a context pack without these entries that fits into `size` bytes, or None if nothing fits.

        By default, any size fits.
        """
        whole = self._of(self.whole.receipt.budget, without) if without else self.whole
        if size is None or _size(whole) <= size:
            return whole
        budget = pack.tokens_in(size)
        while budget >= pack.LEAST:
            made = self._of(budget, without)
            if _size(made) <= size:
                return made
            budget -= budget // 20
        return None

    def _of(self, budget: int, without: Mapping[str, str]) -> Pack:
        key = budget, frozenset(without)
        if key not in self._made:
            self._made[key] = self._make(budget, without)
        return self._made[key]


def _size(made: Pack) -> int:
    """Return the maximum size in a file in bytes. Every line may have a Windows line ending."""
    return len(made.text.encode()) + made.text.count("\n")


def packs(read: Callable[[], Memory], today: date, whole: Pack | None = None) -> Packs:
    """Return a context pack and a maker of smaller ones for the same request. The memory is read when needed.

    By default, the context pack is for the whole project.
    """
    receipt = whole.receipt if whole else None
    ask = Ask(receipt.task, receipt.paths, receipt.budget, passing=False) if receipt else Ask(passing=False)
    sources = cache(lambda: active.sources(read(), ask, today))

    def make(budget: int, without: Mapping[str, str]) -> Pack:
        return pack.make(sources(), msgspec.structs.replace(ask, budget=budget), repeated=without)

    return Packs(whole or make(ask.budget, {}), make)


def limit(users: Sequence[Tool]) -> int:
    """Return the smallest number of bytes that a reader of the file reads, or 0 if no limit is known.

    Readers outside of `users` count too, so that the limit doesn't depend on which tools are synced.
    """
    return min((tool.limits.file_bytes for tool in _readers(users)), default=0)


def _readers(users: Sequence[Tool]) -> list[Tool]:
    """Return all tools with a limit that read the files of these tools."""
    paths = {tool.target.path for tool in users}
    return [tool for tool in TOOLS if tool.target.path in paths and tool.limits.file_bytes]


def left(users: Sequence[Tool], outside: int) -> int | None:
    """Return the bytes left for the memory next to other text, or None if there is no limit."""
    most = limit(users)
    return most - outside - _MARKERS if most else None


def full(users: Sequence[Tool]) -> str:
    """Return the reason nothing can be written into a full file."""
    names = ", ".join(tool.title for tool in _readers(users) if tool.limits.file_bytes == limit(users))
    return (
        f"has no room for the memory: {names} reads only the first {limit(users)} bytes of this file,"
        " and other text uses nearly all of them"
    )
