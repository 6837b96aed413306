"""How much of the memory there is room for in a file that a tool reads only so far."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from agentplane.context import active, pack
from agentplane.context.choose import Ask
from agentplane.context.pack import Pack
from agentplane.memory.entry import Entry
from agentplane.memory.shelf import Memory
from agentplane.tools import said
from agentplane.tools.table import TOOLS, Tool


_MARKERS = 200
"""Bytes that the marker lines and the gap before them take at most."""


Make = Callable[[int, Mapping[str, str]], Pack]
"""A pack for a budget, without the entries that a reader's own files say already."""


class Packs:
    """The memory for each file: in the size that there is room for, without what the file says already."""

    def __init__(self, whole: Pack, make: Make) -> None:
        self.whole = whole
        self._make = make
        self._made: dict[tuple[int, frozenset[str]], Pack] = {}
        self._said: dict[tuple[str, ...], dict[str, str]] = {}

    def said(self, project: Path, users: Sequence[Tool]) -> dict[str, str]:
        """The entries that every one of these tools reads anyway, and where. Their files are read once."""
        names = tuple(tool.name for tool in users)
        if names not in self._said:
            self._said[names] = said.read(project, users).of(self.entries)
        return self._said[names]

    @property
    def entries(self) -> Sequence[Entry]:
        """What there is to choose from."""
        return self.whole.choice.ordered

    def of(self, without: Mapping[str, str], size: int | None = None) -> Pack | None:
        """A pack without these entries, of so many bytes at most; None where that is too few for any. No size: there is no limit."""
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
    """What is left for the memory beside what others wrote; None: there is no limit."""
    most = limit(users)
    return most - outside - _MARKERS if most else None


def full(users: Sequence[Tool]) -> str:
    """Why nothing can be written where there is no room."""
    names = ", ".join(tool.title for tool in _readers(users) if tool.limits.file_bytes == limit(users))
    return f"is full: {names} reads {limit(users)} bytes of it, and others wrote nearly all of them"
