"""The entries for agentplane's hooks and MCP server in a tool's settings files, in the tool's format.

The files are often committed and reach people who don't have agentplane. A hook therefore looks for the
program first and succeeds without it. No command contains `$`, because several tools would substitute a
variable.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Hooks, Mcp, Tool


if TYPE_CHECKING:
    from agentplane.agents.model import Event

NAME = "agentplane"
"""The name of agentplane's MCP server in the settings of every tool."""

Part = Literal["hooks", "mcp"]


class Want(msgspec.Struct, frozen=True):
    """An entry that a settings file should have."""

    under: tuple[str, ...]
    key: str | None
    """The key of the entry, or None for an item of a list."""
    value: dict[str, Any]
    says: str
    """The words that identify the entry, even if somebody wrote text around them."""


class Place(msgspec.Struct, frozen=True):
    """A settings file, and the entries that it should have for one tool."""

    path: str
    part: Part
    wants: tuple[Want, ...]
    under: tuple[str, ...]
    """The keys under which agentplane's entries are looked up."""
    toml: bool = False
    version: int | str | None = None
    rival: str = ""


def places(project: Path, tool: Tool) -> list[Place]:
    found = [_hooks_place(tool, tool.hooks)] if tool.hooks else []
    return [*found, *(_mcp_place(project, tool, mcp) for mcp in tool.mcp)]


def all_places(tool: Tool) -> list[Place]:
    """Return every place that may have agentplane's entries, including other files that the tool supports."""
    found = [_hooks_place(tool, tool.hooks)] if tool.hooks else []
    return [*found, *(_mcp_at(path, tool, mcp) for mcp in tool.mcp for path in mcp.paths)]


def written_paths() -> list[str]:
    """Return every file of a project that agentplane may write for a tool."""
    targets = [tool.target.path for tool in TOOLS]
    return list(dict.fromkeys([*targets, *(place.path for tool in TOOLS for place in all_places(tool))]))


def hook_command(event: "Event", tool: str) -> str:
    """Return a command that runs a hook if agentplane is installed. It never fails in a person's session."""
    return f"command -v {NAME} >/dev/null 2>&1 && {_hook(event, tool)} || true"


def mcp_words(tool: str) -> list[str]:
    return [NAME, "mcp", "--tool", tool]


def _hook(event: "Event", tool: str) -> str:
    return f"{NAME} hook {event} --tool {tool}"


def _hooks_place(tool: Tool, hooks: Hooks) -> Place:
    wants = []
    for event, theirs in hooks.events:
        command = hook_command(event, tool.name)
        under = (*hooks.under, theirs) if hooks.by_event else hooks.under
        most = (event == "session-end" and hooks.last_timeout) or hooks.timeout
        value = hooks.entry(command, theirs, {"timeout": most} if most else {})
        wants.append(Want(under, None, value, _hook(event, tool.name)))
    return Place(hooks.path, "hooks", tuple(wants), hooks.under, version=hooks.version, rival=hooks.rival)


def _mcp_place(project: Path, tool: Tool, mcp: Mcp) -> Place:
    there = next((path for path in mcp.paths if (project / path).exists()), mcp.paths[0])
    return _mcp_at(there, tool, mcp)


def _mcp_at(path: str, tool: Tool, mcp: Mcp) -> Place:
    value = {**mcp.server(mcp_words(tool.name)), **dict(mcp.more)}
    want = Want(mcp.under, NAME, value, " ".join(mcp_words(tool.name)))
    return Place(path, "mcp", (want,), mcp.under, toml=mcp.toml)
