"""How much of the memory there is room for in a file that a tool reads only so far."""

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
from agentplane.tools.memory_file import repeats as said
from agentplane.tools.memory_file.repeats import Said


T = TypeVar("T")

_MARKERS = 200
"""Bytes that the marker lines and the gap before them take at most."""


Make = Callable[[int, Mapping[str, str]], Pack]
"""A pack for a budget, without the entries that a reader's own files say already."""


class Packs:
    """The packs for each file: in the size that fits, without what the file already says."""

    def __init__(self, whole: Pack, make: Make) -> None:
        self.whole = whole
        self._make = make
        self._made: dict[tuple[int, frozenset[str]], Pack] = {}
        self._said: dict[tuple[str, ...], Said] = {}
        self._about: dict[tuple[int, object], tuple[Pack, Any]] = {}

    def said(self, project: Path, users: Sequence[Tool]) -> dict[str, str]:
        """The entries that every one of these tools reads anyway, and where. Their files are read once."""
        return self._read(project, users).of(self.entries)

    def given(self, project: Path, tool: Tool) -> dict[str, str]:
        """The entries that a tool gets from the block of a file that its own file imports, and from which."""
        return self._read(project, (tool,)).given(self.entries)

    def _read(self, project: Path, users: Sequence[Tool]) -> Said:
        names = tuple(tool.name for tool in users)
        if names not in self._said:
            self._said[names] = said.read(project, users)
        return self._said[names]

    def about(self, made: Pack, gather: Callable[[Pack], T]) -> T:
        """Return what `gather` tells of a pack. A pack serves many files, and gathering takes long in a large memory."""
        key = id(made), gather
        if key not in self._about:
            # The pack is kept too, so that no other one gets its id.
            self._about[key] = made, gather(made)
        told: T = self._about[key][1]
        return told

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries to choose from."""
        return self.whole.choice.ordered

    def of(self, without: Mapping[str, str], size: int | None = None) -> Pack | None:
        """Return a pack without these entries that fits into `size` bytes, or None if nothing fits. By default, any
        size fits.
        """
        whole = self._of(self.whole.receipt.budget, without) if without else self.whole
        if size is None or _size(whole) <= size:
            return whole
        budget = size * 2 // 7
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
    """Of its bytes in a file, where every line may end as on Windows."""
    return len(made.text.encode()) + made.text.count("\n")


def packs(read: Callable[[], Memory], today: date, whole: Pack | None = None) -> Packs:
    """A pack, by default that of the whole project, and smaller ones for the same ask. Reads only what it needs."""
    told = whole.receipt if whole else None
    ask = Ask(told.task, told.paths, told.budget, passing=False) if told else Ask(passing=False)
    sources = cache(lambda: active.sources(read(), ask, today))

    def make(budget: int, without: Mapping[str, str]) -> Pack:
        return pack.make(sources(), msgspec.structs.replace(ask, budget=budget), said=without)

    return Packs(whole or make(ask.budget, {}), make)


def limit(users: Sequence[Tool]) -> int:
    """How far a file is read by every tool that reads it, also by those that are not asked about: so it is the same
    whoever brings the memory. 0: as far as is known, wholly.
    """
    return min((tool.limits.file_bytes for tool in _readers(users)), default=0)


def _readers(users: Sequence[Tool]) -> list[Tool]:
    """Those with a limit, of all that read the files of these tools."""
    paths = {tool.target.path for tool in users}
    return [tool for tool in TOOLS if tool.target.path in paths and tool.limits.file_bytes]


def left(users: Sequence[Tool], outside: int) -> int | None:
    """Return the bytes left for the memory next to other text, or None if there is no limit."""
    most = limit(users)
    return most - outside - _MARKERS if most else None


def full(users: Sequence[Tool]) -> str:
    """Why nothing can be written where there is no room."""
    names = ", ".join(tool.title for tool in _readers(users) if tool.limits.file_bytes == limit(users))
    return f"is full: {names} reads {limit(users)} bytes of it, and others wrote nearly all of them"
