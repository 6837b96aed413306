"""Detection of the coding tools in use, from their traces in the project and on the machine."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agentplane.agents.catalog import BY_NAME, BY_PROGRAM, TOOLS
from agentplane.agents.model import Tool
from agentplane.errors import BadInput
from agentplane.system import programs
from agentplane.text.visible import one_line


class ToolPresence(msgspec.Struct, frozen=True):
    tool: Tool
    in_project: bool
    installed: bool


def look(project: Path, home: Path | None = None) -> list[ToolPresence]:
    """Return every tool of the catalog, with the places where it was found. No tool is started."""
    home_folder = home or Path(os.path.expanduser("~"))
    return [
        ToolPresence(
            tool,
            in_project=any(os.path.lexists(project / mark) for mark in tool.marks),
            installed=any(programs.find(name) for name in tool.programs)
            or any(os.path.isdir(home_folder / folder) for folder in tool.homes),
        )
        for tool in TOOLS
    ]


def named(names: Sequence[str]) -> list[Tool]:
    """Return the tools for names or commands that a person gives."""
    by_name = {**BY_PROGRAM, **BY_NAME}
    found = []
    for name in names:
        tool = by_name.get(name.strip().lower())
        if tool is None:
            known = ", ".join(tool.name for tool in TOOLS)
            raise BadInput(f"Unknown tool: {one_line(name, 40)}.", todo=f"The supported tools are {known}.")
        found.append(tool)
    return list(dict.fromkeys(found))
