"""The session id of a tool's process, found in the tool's session files if there is no doubt."""

import glob
import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from agentplane.agents.model import Tool
from agentplane.agents.plugin import SessionStart, home_of, plugin_of


_HEAD = 1 << 18
_LINES = 20
_NEAR = 2.0


class SessionFile(msgspec.Struct, frozen=True):
    """A session as described at the beginning of its file."""

    id: str
    folder: str
    started: float


def only_one(tool: Tool, folder: str, since: float, variables: Mapping[str, str]) -> str | None:
    """Return the id of the session that began in a folder since a time. None if there isn't exactly one."""
    start_in = plugin_of(tool).session_start
    if start_in is None:
        return None
    found = {
        session.id
        for path in _paths(tool, since, variables)
        if (session := _read(path, start_in))
        and session.folder == folder
        and session.started >= since - _NEAR
    }
    return found.pop() if len(found) == 1 else None


def _paths(tool: Tool, since: float, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the session files that were modified since a time."""
    base = home_of(tool, Path(variables.get("HOME") or Path.home()), variables)
    below = tool.sessions.removeprefix(f"{tool.homes[0]}/")
    for path in glob.iglob(os.path.join(glob.escape(str(base)), below)):
        try:
            if os.stat(path).st_mtime >= since - _NEAR:
                yield path
        except OSError:
            continue


def _read(path: str, start_in: Callable[[Mapping[str, Any]], SessionStart | None]) -> SessionFile | None:
    """Return the session that the first lines of a file state, or None."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            lines = file.read(_HEAD).split(b"\n")[:_LINES]
    except OSError:
        return None
    for line in lines:
        try:
            fields = json.loads(line) if line else None
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and (start := start_in(fields)):
            try:
                return SessionFile(start.id, start.folder, datetime.fromisoformat(start.at).timestamp())
            except (ValueError, OverflowError):
                continue
    return None
