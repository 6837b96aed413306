"""Reader of Codex CLI's session files, and of the memories that it collects for groups of tasks."""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from agentplane.agents import lines
from agentplane.agents.plugin import (
    CallEnd,
    CallStart,
    MemoryFile,
    MemoryItem,
    Note,
    Places,
    Plugin,
    SessionStart,
    Skipped,
    TranscriptFile,
)


_SECONDS = re.compile(r"(?i)\bWall time: ([0-9]{1,9}(?:\.[0-9]{1,9})?) seconds")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")

_MARKS = (
    b'"function_call',
    b'"local_shell_call"',
    b'"custom_tool_call',
    b'"turn_context"',
    b'"exec_command_end"',
)
"""The byte strings that mark calls. A line without any of them can't describe a call."""

_MEMORIES = "~/.codex/memories/MEMORY.md"
_GROUP = re.compile(r"(?m)^# Task Group:[^\n]*$")
_APPLIES = re.compile(r"(?m)^applies_to:[ \t]*(.*)$")
_PATHS = re.compile(r"cwd=(.+?)(?:;|$)")
_NOT_KEPT = re.compile(r"(?m)^###? (?:rollout_summary_files|keywords|Task \d+)\b[^\n]*\n(?:(?!#).*\n?)*")


def session_start(line: Mapping[str, Any]) -> SessionStart | None:
    payload = line.get("payload")
    if line.get("type") != "session_meta" or not isinstance(payload, dict):
        return None
    id_, folder, at = payload.get("id"), payload.get("cwd"), payload.get("timestamp") or line.get("timestamp")
    if isinstance(id_, str) and isinstance(folder, str) and isinstance(at, str):
        return SessionStart(id_, folder, at)
    return None


class Transcripts:
    """Reader of session files."""

    def read(self, file: TranscriptFile, /) -> Iterator[CallStart | CallEnd]:
        mode = ""
        for line in lines.objects_in(file, _MARKS):
            payload = line.get("payload")
            if isinstance(payload, dict):
                if line.get("type") == "turn_context":
                    mode = lines.string(payload, "approval_policy")
                yield from _events(payload, lines.string(line, "timestamp"), mode)


def _events(payload: Mapping[str, Any], at: str, mode: str) -> Iterator[CallStart | CallEnd]:
    kind, use = payload.get("type"), payload.get("call_id")
    if kind in _CALLS:
        given = (
            payload.get("action") if kind == "local_shell_call" else lines.fields(payload.get("arguments"))
        )
        yield CallStart(use, payload.get("name") or "shell", given, at, mode)
    elif kind in _RESULTS:
        yield from _result(use, payload.get("output"))
    elif kind == "exec_command_end" and (code := lines.exit_code(payload.get("exit_code"))) is not None:
        yield CallEnd(use, exit=code)


def _result(use: object, output: object) -> Iterator[CallEnd]:
    about = lines.fields(output).get("metadata")
    text = lines.result_text(output)
    if isinstance(about, dict):
        code, took = lines.exit_code(about.get("exit_code")), about.get("duration_seconds")
    else:
        found = _SECONDS.search(text[:400])
        code, took = lines.exit_in(text), float(found[1]) if found else None
    if lines.REJECTED.search(text[:400]):
        yield CallEnd(use, "denied", by="person")
    elif code is not None:
        seconds = float(took) if isinstance(took, int | float) else None
        yield CallEnd(use, "failed" if code else "ran", exit=code, seconds=seconds)


def memories(places: Places) -> Iterator[MemoryItem]:
    """Yield the memories of task groups that apply to folders of the project."""
    path = places.home / "memories" / "MEMORY.md"
    if not path.is_file() or (text := places.read(path, _MEMORIES)) is None:
        return
    yield MemoryFile(_MEMORIES)
    starts = [found.start() for found in _GROUP.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        group, first = text[start:end], 1 + text.count("\n", 0, start)
        if not _applies(group, Path(os.path.realpath(places.project))):
            yield Skipped(f"{_MEMORIES}:{first}", "from another project", group.partition("\n")[0])
            continue
        body = _NOT_KEPT.sub(lambda found: "\n" * found[0].count("\n"), group)
        body = re.sub(r"(?m)^(?:scope|applies_to):.*$", "", body)
        yield Note(_MEMORIES, re.sub(r"\s*\[Task [\d, ]+\]", "", body), first)


def _applies(group: str, project: Path) -> bool:
    applies = _APPLIES.search(group)
    found = _PATHS.search(applies[1]) if applies else None
    paths = re.split(r",\s*(?=/)|\s+and\s+(?=/)", found[1].strip()) if found else []
    return any(path.startswith("/") and Path(path.strip()).is_relative_to(project) for path in paths)


PLUGIN = Plugin(session_start, Transcripts(), memories)
