"""Who does something, through which door, started by which program."""

import getpass
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec


# The variables that coding tools set in the shells they start.
TOOL_VARIABLES = {
    "claude-code": ("CLAUDECODE",),
    "codex": ("CODEX_SANDBOX", "CODEX_THREAD_ID", "CODEX_CI", "CODEX_SANDBOX_NETWORK_DISABLED"),
    "gemini-cli": ("GEMINI_CLI",),
    "cursor": ("CURSOR_AGENT",),
    "copilot": ("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "GITHUB_COPILOT_CLI"),
    "opencode": ("OPENCODE", "OPENCODE_CLIENT"),
    "cline": ("CLINE_ACTIVE",),
    "antigravity": ("ANTIGRAVITY_AGENT",),
    "augment": ("AUGMENT_AGENT",),
    "unnamed": ("AI_AGENT",),
}


class Origin(msgspec.Struct, frozen=True):
    actor: str
    """A person's name, or the tool's."""
    channel: str
    """The door: `terminal`, `tui`, `cli` (no terminal), `mcp`, `hook`, `api`, `policy`, `merge`."""
    program: str
    """What started this process."""
    tool: str | None = None
    """The coding tool whose environment this is, if any."""


def tool_in(environment: Mapping[str, str]) -> str | None:
    """The coding tool in whose shell a process with this environment runs."""
    for tool, names in TOOL_VARIABLES.items():
        if any(environment.get(name) for name in names):
            return environment.get("AI_AGENT") or tool if tool == "unnamed" else tool
    return None


def person(project: Path) -> str:
    """The name git has for the person here, else that of the login."""
    from agentplane.plane import git

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
