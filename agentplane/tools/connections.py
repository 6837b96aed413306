"""Connections of tools, made of memory in a file, and of hooks and an MCP server in the tool's settings."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Tool
from agentplane.text import files
from agentplane.text.json import with_comments
from agentplane.tools import foreign_file, presence
from agentplane.tools.foreign_file import Change
from agentplane.tools.memory_file import sync
from agentplane.tools.memory_file.edited_lines import LineProposer
from agentplane.tools.memory_file.size_limit import Packs
from agentplane.tools.settings_file import desired, edit
from agentplane.tools.settings_file.desired import Place
from agentplane.tools.settings_file.edit import UnfitError


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a tool's connection, and its state."""

    part: Literal["file", "hooks", "mcp"]
    path: str
    state: sync.State
    why: str = ""
    revision: str | None = None
    cut: int = 0
    """Number of entries that don't fit in the file."""


class Wiring(msgspec.Struct, frozen=True):
    tool: Tool
    parts: tuple[Part, ...]


class Wired(msgspec.Struct, frozen=True):
    """The result of connecting or disconnecting tools."""

    written: tuple[str, ...] = ()
    blocked: dict[str, str] = {}
    """The files that weren't changed, and the reasons."""
    by_hand: dict[str, str] = {}
    """The text for a person to add to each of these files."""
    proposed: tuple[str, ...] = ()
    shared: dict[str, tuple[str, ...]] = {}
    """The files that keep the memory, and the other tools that read them."""
    calling: tuple[str, ...] = ()
    """The files that still call agentplane, in a command that a person wrote."""


class _Planned(msgspec.Struct, frozen=True):
    changes: list[Change]
    blocked: dict[str, str]
    by_hand: dict[str, str]
    calling: list[str] = []


def wirings(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Wiring]:
    """Return the state of each tool's connection, part by part."""
    stands = {name: one for one in sync.standings(project, plane, tools, packs) for name in one.tools}
    rows = []
    for tool in tools:
        one = stands[tool.name]
        file = Part("file", one.path, one.state, one.why, one.revision, len(one.cut))
        rows.append(Wiring(tool, (file, *(_part(project, place) for place in desired.places(project, tool)))))
    return rows


def changes(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Change]:
    """Return the changes that connecting these tools would write."""
    return [*sync.changes(project, plane, tools, packs), *_additions(project, tools).changes]


def touched(project: Path, tools: Sequence[Tool]) -> list[str]:
    """Return the files that connecting these tools would write if there is no memory yet."""
    held = sync.blocked(project, tools)
    bare = [tool.target.path for tool in tools if not sync.wired(project, [tool])]
    found_paths = [*(path for path in bare if path not in held), *(one.path for one in _additions(project, tools).changes)]  # fmt: skip
    return list(dict.fromkeys(found_paths))


def blocked(project: Path, tools: Sequence[Tool]) -> dict[str, str]:
    """Return the files of these tools that agentplane may not or can't write, and the reasons."""
    return {**sync.blocked(project, tools), **_additions(project, tools).blocked}


def by_hand(project: Path, tools: Sequence[Tool]) -> dict[str, str]:
    """Return the text for a person to add to each settings file that agentplane may not or can't write."""
    return _additions(project, tools).by_hand


def removals(project: Path, tools: Sequence[Tool]) -> list[Change]:
    """Return the changes that disconnecting these tools would write."""
    return [*sync.removals(project, _alone(project, tools)[0]), *_subtractions(project, tools).changes]


def wire(project: Path, plane: str, tools: Sequence[Tool], packs: Packs, propose: LineProposer) -> Wired:  # fmt: skip
    """Write everything that is missing or outdated. First propose the lines that people wrote into blocks."""
    synced = sync.bring(project, plane, tools, packs, propose)
    planned = _additions(project, tools)
    written, failed = foreign_file.write_all(project, planned.changes)
    return Wired(
        written=(*synced.written, *written),
        blocked={**synced.blocked, **synced.kept, **planned.blocked, **failed},
        by_hand=planned.by_hand,
        proposed=synced.proposed,
    )


def unwire(project: Path, plane: str, tools: Sequence[Tool], packs: Packs, propose: LineProposer) -> Wired:  # fmt: skip
    """Remove everything that agentplane added. First propose the lines that people wrote into blocks.

    A file that another tool in use also reads keeps its memory.
    """
    alone, shared = _alone(project, tools)
    synced = sync.take_out(project, plane, alone, packs, propose)
    planned = _subtractions(project, tools)
    written, failed = foreign_file.write_all(project, planned.changes)
    held = {path: why for path in _blocks(project, alone) if (why := foreign_file.trouble(project, path))}
    return Wired(
        written=(*synced.written, *written),
        blocked={**held, **synced.kept, **planned.blocked, **failed},
        proposed=synced.proposed,
        shared=shared,
        calling=tuple(planned.calling),
    )


def in_use(project: Path) -> list[Tool]:
    """Return the tools with files in the project, or with agentplane's entries in their settings."""
    here = {row.tool.name for row in presence.look(project) if row.in_project}
    return [tool for tool in TOOLS if tool.name in here or _in_settings(project, tool)]


def _in_settings(project: Path, tool: Tool) -> bool:
    return any(_part(project, place).state in ("current", "old") for place in desired.places(project, tool))


def _part(project: Path, place: Place) -> Part:
    why = foreign_file.trouble(project, place.path)
    if why:
        return Part(place.part, place.path, "blocked", why)
    try:
        data = files.read_if(foreign_file.real(project, place.path))
        state: sync.State = edit.state(data, place)
        why = _rivalled(project, place) if state == "absent" else ""
    except UnfitError as error:
        state, why = "blocked", str(error)
    return Part(place.part, place.path, "blocked" if why else state, why)


def _additions(project: Path, tools: Iterable[Tool]) -> _Planned:
    planned = _Planned([], {}, {})
    for path, places in _by_file(project, [place for tool in tools for place in desired.places(project, tool)]).items():  # fmt: skip
        before = after = None
        why = foreign_file.trouble(project, path) or _of_all_projects(project)
        if not why:
            before = after = files.read_if(foreign_file.real(project, path))
        for place in places:
            one = why or _rivalled(project, place)
            try:
                after = after if one else edit.put(after, place)
            except UnfitError as error:
                one = str(error)
            if one:
                planned.blocked[path] = one
                planned.by_hand[path] = planned.by_hand.get(path, "") + edit.by_hand(place)
        if after is not None and after != before:
            planned.changes.append(Change(path, before, after))
    return planned


def _subtractions(project: Path, tools: Sequence[Tool]) -> _Planned:
    planned = _Planned([], {}, {})
    places = [place for tool in tools for place in desired.all_places(tool)]
    for path, ours in _by_file(project, places).items():
        if not (project / path).exists():
            continue
        why = foreign_file.trouble(project, path)
        try:
            before = None if why else files.read_if(foreign_file.real(project, path))
            after = None if before is None else edit.without(before, ours)
        except UnfitError as error:
            why = str(error)
        if why:
            planned.blocked.update({path: why} if _names_us(project, path) else {})
            continue
        if before is not None and after != before:
            planned.changes.append(Change(path, before, after))
        if after and edit.is_called(after, ours):
            planned.calling.append(path)
    return planned


def _names_us(project: Path, path: str) -> bool:
    """True if a file that agentplane may not change seems to contain its entries."""
    try:
        return b"agentplane" in (project / path).read_bytes()
    except OSError:
        return False


def _blocks(project: Path, tools: Iterable[Tool]) -> list[str]:
    """Return the instruction files of these tools that have a managed block."""
    return list(dict.fromkeys(tool.target.path for tool in tools if sync.wired(project, [tool])))


def _alone(project: Path, tools: Sequence[Tool]) -> tuple[list[Tool], dict[str, tuple[str, ...]]]:
    """Return the tools whose file no other tool in use reads, and the files that other tools also read."""
    readers: dict[str, tuple[str, ...]] = {}
    for tool in in_use(project):
        if tool in tools:
            continue
        path = os.path.realpath(project / tool.target.path)
        readers[path] = (*readers.get(path, ()), tool.name)
    alone = [tool for tool in tools if os.path.realpath(project / tool.target.path) not in readers]
    shared_paths = _blocks(project, [tool for tool in tools if tool not in alone])
    return alone, {path: readers[os.path.realpath(project / path)] for path in shared_paths}


def _by_file(project: Path, places: Iterable[Place]) -> dict[str, list[Place]]:
    """Return places grouped by file. Links to the same file count as one file."""
    found_places: dict[str, list[Place]] = {}
    names: dict[str, str] = {}
    for place in places:
        name = names.setdefault(os.path.realpath(project / place.path), place.path)
        found_places.setdefault(name, []).append(place)
    return found_places


def _of_all_projects(project: Path) -> str:
    """Return the reason nothing is connected in the home folder, where settings apply to all projects."""
    if os.path.realpath(project) != os.path.realpath(os.path.expanduser("~")):
        return ""
    return "is in your home folder, so its settings would apply to all projects"


def _rivalled(project: Path, place: Place) -> str:
    """Return the reason a new file would disable hooks in another file, or an empty string if it wouldn't."""
    if not place.rival or (project / place.path).exists() or foreign_file.trouble(project, place.rival):
        return ""
    data = files.read_if(foreign_file.real(project, place.rival))
    try:
        root = with_comments.parse((data or b"{}").decode())
    except ValueError:
        return ""
    if root.child("hooks") is None:
        return ""
    return f"would disable the hooks in {place.rival}. Move those hooks to {place.path} first"
