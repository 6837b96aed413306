"""Reader of Claude Code's session files, and of the memories that it collects for each project."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from agentplane.agents import lines
from agentplane.agents.plugin import (
    CallEnd,
    CallStart,
    MemoryFile,
    MemoryItem,
    Note,
    Places,
    Plugin,
    Remark,
    SessionStart,
    Skipped,
    TranscriptFile,
)
from agentplane.text import front_matter
from agentplane.text.json import decode


_MARKS = (b'"tool_use"', b'"tool_result"', b'"permissionMode"')
"""The byte strings that mark calls. A line without any of them can't describe a call."""
_FORBIDDEN = re.compile(
    r"(?i)permission to use .{0,200} (?:has been )?denied|haven't granted it yet|needs approval\b|blocked by (?:policy|sandbox|permission)"
)
_REFUSED = re.compile(
    r"(?is)\A.{0,40}\b(?:permission to use\b.*\bdenied|requested permissions? to\b.*haven't granted it yet)"
)
"""A denial in a result that repeats the whole command, of any length."""
_LONGEST_REFUSAL = 65_936

_MOST_FILES = 500
_TRANSCRIPTS = 20
_HEAD = 256 * 1024
_CWD = re.compile(rb'"cwd":("(?:[^"\\]|\\.)*")')
_WHERE = "~/.claude/projects/…/memory/"
_PERSONAL = "user"
"""The type of notes about the person."""


def session_start(line: Mapping[str, Any]) -> SessionStart | None:
    id_, folder, at = line.get("sessionId"), line.get("cwd"), line.get("timestamp")
    if isinstance(id_, str) and isinstance(folder, str) and isinstance(at, str):
        return SessionStart(id_, folder, at)
    return None


class Transcripts:
    """Reader of session files."""

    def read(self, file: TranscriptFile, /) -> Iterator[CallStart | CallEnd]:
        mode = ""
        for line in lines.objects_in(file, _MARKS):
            at, message = lines.string(line, "timestamp"), line.get("message")
            mode = lines.string(line, "permissionMode") or mode
            for part in lines.objects(message.get("content") if isinstance(message, dict) else None):
                if part.get("type") == "tool_use":
                    yield CallStart(part.get("id"), part.get("name"), part.get("input"), at, mode)
                elif part.get("type") == "tool_result":
                    yield _result(part, at)


def _result(part: Mapping[str, Any], at: str) -> CallEnd:
    use, text = part.get("tool_use_id"), lines.result_text(part.get("content"))
    if not part.get("is_error"):
        return CallEnd(use, exit=None if "running in background" in text[:200] else 0, at=at)
    if lines.REJECTED.search(text[:400]):
        return CallEnd(use, "denied", by="person")
    if _FORBIDDEN.search(text[:400]) or _REFUSED.match(text[:_LONGEST_REFUSAL]):
        return CallEnd(use, "denied", by="settings", reason=text)
    return CallEnd(use, "failed", exit=lines.exit_in(text), at=at)


def memories(places: Places) -> Iterator[MemoryItem]:
    """Yield the automatic memory of a project.

    Its folder is named after the project's path, and different paths can have the same name.
    """
    project = os.path.realpath(places.project)
    folder = places.home / "projects" / slug(project)
    memory = folder / "memory"
    if not memory.is_dir():
        return
    other = _other_owner(folder, Path(project))
    if other is not None:
        yield Remark(f"the memory folder of Claude Code for this project may belong to {other} instead")
        return
    for path in sorted(memory.rglob("*.md"))[:_MOST_FILES]:
        if path.is_symlink() or (text := places.read(path, _WHERE + path.name)) is None:
            continue
        place = _WHERE + str(path.relative_to(memory))
        yield MemoryFile(place)
        yield _topic(text, place)


def _topic(text: str, place: str) -> MemoryItem:
    """Return the notes of a topic file without its header.

    The lines of the index repeat the topics, so they are removed.
    """
    found, body, first = front_matter.split(text)
    head = found or {}
    more = head.get("metadata")
    kind = head.get("type") or (more.get("type") if isinstance(more, dict) else None)
    if kind == _PERSONAL:
        return Skipped(place, "about the user, not the project")
    if place.endswith("MEMORY.md"):
        body = re.sub(r"(?m)^\s*[-*] \[[^\]]*\]\([^)]*\).*$", "", body)
    return Note(place, body, first)


def slug(path: str) -> str:
    """Return the folder name for a path. `/a/b.c` and `/a/b/c` have the same name."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _other_owner(folder: Path, project: Path) -> str | None:
    """Return another path that this folder may belong to, or None if it belongs to this project."""
    seen = {Path(cwd) for cwd in _folders_of_sessions(folder) if slug(cwd) == folder.name}
    if seen:
        return next((str(path) for path in sorted(seen) if path != project), None)
    # Without sessions, the project owns the folder only if no other path on this machine has the same name.
    twins = (path for path in _named(Path("/"), folder.name[1:]) if path != project)
    return next((str(path) for path in twins), None)


def _folders_of_sessions(folder: Path) -> Iterator[str]:
    try:
        sessions = sorted(folder.glob("*.jsonl"), key=lambda path: -path.stat().st_mtime)[:_TRANSCRIPTS]
    except OSError:
        return
    for path in sessions:
        try:
            with path.open("rb") as stream:
                found = set(_CWD.findall(stream.read(_HEAD)))
        except OSError:
            continue
        for text in found:
            try:
                yield decode.Json(str).decode(text)
            except msgspec.MsgspecError:
                continue


def _named(top: Path, rest: str) -> Iterator[Path]:
    """Yield the folders whose path below `top` has this name."""
    try:
        names = [entry.name for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for name in names:
        begins = slug(name)
        if begins == rest:
            yield top / name
        elif rest.startswith(f"{begins}-"):
            yield from _named(top / name, rest[len(begins) + 1 :])


PLUGIN = Plugin(session_start, Transcripts(), memories)
