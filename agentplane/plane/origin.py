"""Who does something, through which door, started by which program."""

import getpass
import os
from pathlib import Path

import msgspec

from agentplane.agents.catalog import tool_in


class Origin(msgspec.Struct, frozen=True):
    actor: str
    """A person's name, or the tool's."""
    channel: str
    """The door: `terminal`, `tui`, `cli` (no terminal), `mcp`, `hook`, `api`, `policy`, `merge`."""
    program: str
    """What started this process."""
    tool: str | None = None
    """The coding tool whose environment this is, if any."""


def person(project: Path) -> str:
    """The name git has for the person here, else that of the login."""
    from agentplane.plane.git import git

    name = git.user_name(project)
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def parent_program() -> str:
    """The name of the process that started this one."""
    parent = os.getppid()
    try:
        return Path(f"/proc/{parent}/comm").read_text().strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        pass
    import psutil

    try:
        return str(psutil.Process(parent).name())
    except psutil.Error:
        return "unknown"


def here(channel: str, project: Path, actor: str | None = None) -> Origin:
    """The origin of what this process does."""
    tool = tool_in(os.environ)
    return Origin(
        actor=actor or tool or person(project),
        channel=channel,
        program=tool or parent_program(),
        tool=tool,
    )
