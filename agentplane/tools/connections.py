"""Wiring a tool: memory in the file it reads, our hooks and our MCP server in its settings; how that stands, and taking it
out again.
"""

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
from agentplane.tools.memory_file.size_limit import Packs
from agentplane.tools.settings_file import desired, edit
from agentplane.tools.settings_file.desired import Place
from agentplane.tools.settings_file.edit import UnfitError


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the things that wire a tool, and how it stands."""

    part: Literal["file", "hooks", "mcp"]
    path: str
    state: sync.State
    why: str = ""
    revision: str | None = None
    cut: int = 0
    """Entries that the file has no room for."""


class Wiring(msgspec.Struct, frozen=True):
    tool: Tool
    parts: tuple[Part, ...]


class Wired(msgspec.Struct, frozen=True):
    """What became of it."""

    written: tuple[str, ...] = ()
    blocked: dict[str, str] = {}
    """Files that were not touched, and why."""
    by_hand: dict[str, str] = {}
    """What a person adds to them."""
    proposed: tuple[str, ...] = ()
    shared: dict[str, tuple[str, ...]] = {}
    """Files that keep the memory, for these other tools."""
    calling: tuple[str, ...] = ()
    """Files that still call us, in a command that a person wrote."""


class _Planned(msgspec.Struct, frozen=True):
    changes: list[Change]
    blocked: dict[str, str]
    by_hand: dict[str, str]
    calling: list[str] = []


def wirings(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Wiring]:
    """How each tool stands, part by part."""
    stands = {name: one for one in sync.standings(project, plane, tools, packs) for name in one.tools}
    rows = []
    for tool in tools:
        one = stands[tool.name]
        file = Part("file", one.path, one.state, one.why, one.revision, len(one.cut))
        rows.append(Wiring(tool, (file, *(_part(project, place) for place in desired.places(project, tool)))))
    return rows


def changes(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Change]:
    """What wiring these tools would write."""
    return [*sync.changes(project, plane, tools, packs), *_additions(project, tools).changes]


def touched(project: Path, tools: Sequence[Tool]) -> list[str]:
    """Which files wiring these tools would write, before there is a memory to write into them."""
    held = sync.blocked(project, tools)
    bare = [tool.target.path for tool in tools if not sync.wired(project, [tool])]
    found_paths = [*(path for path in bare if path not in held), *(one.path for one in _additions(project, tools).changes)]  # fmt: skip
    return list(dict.fromkeys(found_paths))


def blocked(project: Path, tools: Sequence[Tool]) -> dict[str, str]:
    """The files of these tools that we may not or cannot write, and why."""
    return {**sync.blocked(project, tools), **_additions(project, tools).blocked}


def removals(project: Path, tools: Sequence[Tool]) -> list[Change]:
    """What taking these tools out would write."""
    return [*sync.removals(project, _alone(project, tools)[0]), *_subtractions(project, tools).changes]


def wire(project: Path, plane: str, tools: Sequence[Tool], packs: Packs, propose: sync.Propose) -> Wired:  # fmt: skip
    """Writes all that is missing or old. What somebody wrote into a block is proposed first."""
    synced = sync.bring(project, plane, tools, packs, propose)
    planned = _additions(project, tools)
    written, failed = foreign_file.write_all(project, planned.changes)
    return Wired(
        written=(*synced.written, *written),
        blocked={**synced.blocked, **synced.kept, **planned.blocked, **failed},
        by_hand=planned.by_hand,
        proposed=synced.proposed,
    )


def unwire(project: Path, plane: str, tools: Sequence[Tool], packs: Packs, propose: sync.Propose) -> Wired:  # fmt: skip
    """Takes out exactly what is ours. What somebody wrote into a block is proposed first. A file that others of the tools
    in use read as well keeps its memory.
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
    """The tools that left something in the project, or whose settings hold entries of ours."""
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
    """Whether a file that we may not change seems to hold something of ours."""
    try:
        return b"agentplane" in (project / path).read_bytes()
    except OSError:
        return False


def _blocks(project: Path, tools: Iterable[Tool]) -> list[str]:
    """The instruction files of these tools that hold a block of ours."""
    return list(dict.fromkeys(tool.target.path for tool in tools if sync.wired(project, [tool])))


def _alone(project: Path, tools: Sequence[Tool]) -> tuple[list[Tool], dict[str, tuple[str, ...]]]:
    """The tools whose file nobody else reads, and the files that others in use read as well."""
    readers: dict[str, tuple[str, ...]] = {}
    for tool in in_use(project):
        if tool in tools:
            continue
        path = os.path.realpath(project / tool.target.path)
        readers[path] = (*readers.get(path, ()), tool.name)
    alone = [tool for tool in tools if os.path.realpath(project / tool.target.path) not in readers]
    kept = _blocks(project, [tool for tool in tools if tool not in alone])
    return alone, {path: readers[os.path.realpath(project / path)] for path in kept}


def _by_file(project: Path, places: Iterable[Place]) -> dict[str, list[Place]]:
    """By the file that they are in; links that lead to one file are one file."""
    found_places: dict[str, list[Place]] = {}
    names: dict[str, str] = {}
    for place in places:
        name = names.setdefault(os.path.realpath(project / place.path), place.path)
        found_places.setdefault(name, []).append(place)
    return found_places


def _of_all_projects(project: Path) -> str:
    """Why nothing is wired in the home folder: the settings there are not a project's."""
    if os.path.realpath(project) != os.path.realpath(os.path.expanduser("~")):
        return ""
    return "is in your home folder, and would count for all projects"


def _rivalled(project: Path, place: Place) -> str:
    """Why a new file would silence hooks that the tool reads elsewhere; empty where there are none."""
    if not place.rival or (project / place.path).exists() or foreign_file.trouble(project, place.rival):
        return ""
    data = files.read_if(foreign_file.real(project, place.rival))
    try:
        root = with_comments.parse((data or b"{}").decode())
    except ValueError:
        return ""
    if root.child("hooks") is None:
        return ""
    return f"would silence the hooks in {place.rival}; move them here first"
