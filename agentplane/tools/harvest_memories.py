"""What tools remembered on their own, in the home folder of the person."""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import msgspec

from agentplane.text import decoding
from agentplane.tools import harvest_front, harvest_lines
from agentplane.tools.harvest_files import bare, read_text, tags_of
from agentplane.tools.taken import Haul, Taken


_MOST_FILES = 500
_TRANSCRIPTS = 20
_HEAD = 256 * 1024
_CWD = re.compile(rb'"cwd":("(?:[^"\\]|\\.)*")')
_GROUP = re.compile(r"(?m)^# Task Group:[^\n]*$")
_APPLIES = re.compile(r"(?m)^applies_to:[ \t]*(.*)$")
_PATHS = re.compile(r"cwd=(.+?)(?:;|$)")
_NOT_KEPT = re.compile(r"(?m)^###? (?:rollout_summary_files|keywords|Task \d+)\b[^\n]*\n(?:(?!#).*\n?)*")
_ADDED = re.compile(r"(?ms)^## Gemini Added Memories[ \t]*\n(.*?)(?=^#{1,2} |\Z)")
_WHERE = "~/.claude/projects/…/memory/"
_PERSONAL = frozenset(("user",))


def claude(project: Path, home: Path, environ: Mapping[str, str]) -> Haul:
    """Claude Code's auto memory of this project: a folder by the project's path, in which other paths may meet."""
    haul = Haul("claude-code")
    house = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    folder = house / "projects" / slug(os.path.realpath(project))
    memory = folder / "memory"
    if not memory.is_dir():
        return haul
    other = _somebody_else(folder, Path(os.path.realpath(project)))
    if other is not None:
        haul.notes.append(f"its folder for this project may be that of {other}; nothing was taken from it")
        return haul
    for path in sorted(memory.rglob("*.md"))[:_MOST_FILES]:
        if path.is_symlink() or (text := read_text(str(path), _WHERE + path.name, haul)) is None:
            continue
        name = str(path.relative_to(memory))
        haul.places.append(_WHERE + name)
        haul.taken += _of_note(text, _WHERE + name, haul)
    return haul


def _of_note(text: str, place: str, haul: Haul) -> Iterator[Taken]:
    """A topic of Claude Code's memory: a header, then notes. Its index only repeats what the topics say."""
    found, body, first = harvest_front.split(text)
    fields = found or {}
    more = fields.get("metadata")
    kind = fields.get("type") or (more.get("type") if isinstance(more, dict) else None)
    if isinstance(kind, str) and kind in _PERSONAL:
        haul.skip(place, "a note about the person")
        return
    if place.endswith("MEMORY.md"):
        # The lines of the index point to topics.
        body = re.sub(r"(?m)^\s*[-*] \[[^\]]*\]\([^)]*\).*$", "", body)
    yield from _notes(body, place, "claude-code", haul, first)


def _notes(body: str, place: str, tool: str, haul: Haul, first: int = 1) -> Iterator[Taken]:
    found = harvest_lines.read(bare(body), first)
    for piece in found.left:
        haul.skip(f"{place}:{piece.line}", piece.why, piece.text)
    for line in found.lines:
        yield Taken(line.kind, line.text, f"{place}:{line.line}", tool, why=line.why, tags=tags_of(line))


def slug(path: str) -> str:
    """How Claude Code names the folder of a path: `/a/b.c` and `/a/b/c` are one to it."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _somebody_else(folder: Path, project: Path) -> str | None:
    """Another path that this folder may belong to; None: it is this project's."""
    seen = {Path(cwd) for cwd in _cwds(folder) if slug(cwd) == folder.name}
    if seen:
        return next((str(path) for path in sorted(seen) if path != project), None)
    # No session says whose it is: then no other folder on this machine may have the same name.
    twins = (path for path in _named(Path("/"), folder.name[1:]) if path != project)
    return next((str(path) for path in twins), None)


def _cwds(folder: Path) -> Iterator[str]:
    """The working folders that its sessions name."""
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
                yield decoding.Json(str).decode(text)
            except msgspec.MsgspecError:
                continue


def _named(top: Path, rest: str) -> Iterator[Path]:
    """The folders whose path from `top` becomes this name."""
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


def codex(project: Path, home: Path, environ: Mapping[str, str]) -> Haul:
    """Codex's memories: groups of tasks, each with the folders that it applies to."""
    haul = Haul("codex")
    house = Path(environ.get("CODEX_HOME") or home / ".codex")
    path = house / "memories" / "MEMORY.md"
    place = "~/.codex/memories/MEMORY.md"
    if not path.is_file() or (text := read_text(str(path), place, haul)) is None:
        return haul
    haul.places.append(place)
    starts = [found.start() for found in _GROUP.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        group = text[start:end]
        if not _applies(group, Path(os.path.realpath(project))):
            haul.skip(
                f"{place}:{1 + text.count(chr(10), 0, start)}",
                "of another project",
                group.partition(chr(10))[0],
            )
            continue
        body = _NOT_KEPT.sub(lambda found: "\n" * found[0].count("\n"), group)
        body = re.sub(r"(?m)^(?:scope|applies_to):.*$", "", body)
        body = re.sub(r"\s*\[Task [\d, ]+\]", "", body)
        haul.taken += _notes(body, place, "codex", haul, 1 + text.count("\n", 0, start))
    return haul


def _applies(group: str, project: Path) -> bool:
    said = _APPLIES.search(group)
    found = _PATHS.search(said[1]) if said else None
    paths = re.split(r",\s*(?=/)|\s+and\s+(?=/)", found[1].strip()) if found else []
    return any(path.startswith("/") and Path(path.strip()).is_relative_to(project) for path in paths)


def gemini(_project: Path, home: Path, _environ: Mapping[str, str]) -> Haul:
    """What Gemini CLI was told to remember. It keeps that for all projects alike."""
    haul = Haul("gemini-cli")
    path = home / ".gemini" / "GEMINI.md"
    place = "~/.gemini/GEMINI.md"
    if not path.is_file() or (text := read_text(str(path), place, haul)) is None:
        return haul
    for found in _ADDED.finditer(text):
        haul.places.append(place)
        haul.taken += _notes(found[1], place, "gemini-cli", haul, 1 + text.count("\n", 0, found.start(1)))
    return haul
