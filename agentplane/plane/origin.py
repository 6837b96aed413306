"""The origin of an action, which consists of the actor, the channel and the calling program."""

import getpass
import os
from pathlib import Path

import msgspec

from agentplane.agents.catalog import tool_in


class Origin(msgspec.Struct, frozen=True):
    actor: str
    """A person's name, or the tool's."""
    channel: str
    """The interface, one of `terminal`, `tui`, `cli` (not interactive), `mcp`, `hook`, `api`, `policy` or
    `merge`.
    """
    program: str
    """The program that started this process."""


def person(project: Path) -> str:
    """Return the person's name from Git, or else the login name."""
    from agentplane.plane.git import git

    name = git.user_name(project)
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def parent_program() -> str:
    """Return the name of the process that started this one."""
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
    """Return the origin of this process's actions."""
    tool = tool_in(os.environ)
    return Origin(actor=actor or tool or person(project), channel=channel, program=tool or parent_program())
