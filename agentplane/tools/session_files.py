"""Which session a tool's process has, by the files in which the tool keeps its sessions: only where there is no doubt."""

import glob
import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from agentplane.agents.model import Tool


_HEAD = 1 << 18
_LINES = 20
_NEAR = 2.0
_HOMES = {"codex": ("CODEX_HOME", ".codex"), "claude-code": ("CLAUDE_CONFIG_DIR", ".claude")}
"""The variable that moves a tool's folder, and which part of its paths that is. The others say no folder in their files."""


class Kept(msgspec.Struct, frozen=True):
    """A session as its file begins."""

    id: str
    folder: str
    started: float


def only_one(tool: Tool, folder: str, since: float, variables: Mapping[str, str]) -> str | None:
    """The id of the one session that was begun in a folder since then, or None if there is none, or more."""
    found = {
        kept.id
        for path in _paths(tool, since, variables)
        if (kept := _read(path)) and kept.folder == folder and kept.started >= since - _NEAR
    }
    return found.pop() if len(found) == 1 else None


def _paths(tool: Tool, since: float, variables: Mapping[str, str]) -> Iterator[str]:
    """Those that were written to since then."""
    if tool.name not in _HOMES:
        return
    variable, part = _HOMES[tool.name]
    base = variables.get(variable) or os.path.join(variables.get("HOME") or str(Path.home()), part)
    below = tool.sessions.removeprefix(f"{part}/").removesuffix(
        "*" if tool.sessions.endswith("jsonl*") else ""
    )
    for path in glob.iglob(os.path.join(glob.escape(base), below)):
        try:
            if os.stat(path).st_mtime >= since - _NEAR:
                yield path
        except OSError:
            continue


def _read(path: str) -> Kept | None:
    """What its first lines say, or None if they do not say it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            lines = file.read(_HEAD).split(b"\n")[:_LINES]
    except OSError:
        return None
    for line in lines:
        try:
            said = json.loads(line) if line else None
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict) and (kept := _kept(said)):
            return kept
    return None


def _kept(said: dict[str, Any]) -> Kept | None:
    inside = said.get("payload")
    told = inside if said.get("type") == "session_meta" and isinstance(inside, dict) else said
    id_, folder = told.get("id") if told is inside else told.get("sessionId"), told.get("cwd")
    when = told.get("timestamp") or said.get("timestamp")
    try:
        if isinstance(id_, str) and isinstance(folder, str) and isinstance(when, str):
            return Kept(id_, folder, datetime.fromisoformat(when).timestamp())
    except (ValueError, OverflowError):
        pass
    return None
