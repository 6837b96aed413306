"""The tool calls in the session files of coding tools: commands, how they ended, and who denied them.

A session file can have any content and size. So the reader skips long and invalid lines and limits how much it reads
and keeps.
"""

import os
import re
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

import msgspec

from agentplane.runs import noted
from agentplane.text import decoding


MOST_ROWS = 20_000
MOST_COMMAND = 64 << 10
"""Characters of a command that are kept."""
_MOST_READ = 256 << 20
_LONGEST_LINE = 16 << 20
_MOST_DECODED = 128 << 20
_BLOCK = 1 << 20
_INT = 1 << 31
_EARLIER = timedelta(seconds=2)

Event = Literal["ran", "failed", "asked", "denied"]


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that a hook or a session file tells of a call."""

    event: Event
    tool: str = ""
    command: str = ""
    path: str = ""
    at: str = ""
    exit: int | None = None
    seconds: float | None = None
    mode: str = ""
    """The tool's permission mode, or approval policy."""
    use: str = ""
    """The tool's own id of the call."""
    by: str = ""
    """Who denied or allowed it, if the file says so."""
    reason: str = ""
    cut: int = 0
    """Characters of the command that are left out."""


def read(tool: str | None, path: str, since: str) -> list[Row]:
    """Return the calls in a session file from a moment on, or none if the file or its tool is unknown."""
    known = _FORMATS.get(tool or "")
    if known is None or not os.path.isabs(path):
        return []
    reader, calls, start = known(), _Calls(), _moment(since)
    # Sessions of tools come and go. A file that can't be read has no calls.
    with suppress(OSError):
        for line in _lines(path, reader.marks):
            reader.read(line, calls)
            if len(calls.rows) >= MOST_ROWS:
                break
    return [row for row in calls.rows.values() if start is None or _is_after(row.at, start)]


def shown_command(given: object) -> tuple[str, int]:
    """A command as one text, and how much of it is left out. Tools give a text or a list of words."""
    if isinstance(given, list) and given and all(isinstance(word, str) for word in given):
        given = given[2] if len(given) == 3 and given[1] in ("-c", "-lc") else shlex.join(given)
    if not isinstance(given, str):
        return "", 0
    kept = noted.beginning(given, MOST_COMMAND)
    return kept, len(given) - len(kept)


def exit_in(text: object) -> int | None:
    """The exit code that the beginning of a result tells."""
    found = _EXIT.search(text[:400]) if isinstance(text, str) else None
    return int(found[1]) if found else None


_EXIT = re.compile(r"(?i)\b(?:exit code|exited with code|exit status|exit_code)\"?:? *(-?[0-9]{1,5})\b")
_SECONDS = re.compile(r"(?i)\bWall time: ([0-9]{1,9}(?:\.[0-9]{1,9})?) seconds")
_REJECTED = re.compile(r"(?i)user doesn't want to proceed|rejected by (?:the )?user|user rejected")
_FORBIDDEN = re.compile(
    r"(?i)permission to use .{0,200} (?:has been )?denied|haven't granted it yet|needs approval\b|blocked by (?:policy|sandbox|permission)"
)
_REFUSED = re.compile(
    r"(?is)\A.{0,40}\b(?:permission to use\b.*\bdenied|requested permissions? to\b.*haven't granted it yet)"
)
"""The same about a call that is told in full, however long its command is."""


class _Calls:
    """The calls of one file, by the tool's own id of each."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def begun(self, use: object, row: Row) -> None:
        if isinstance(use, str) and use and use not in self.rows:
            self.rows[use] = msgspec.structs.replace(row, use=use[:200])

    def ended(self, use: object, **known: Any) -> None:
        row = self.rows.get(use) if isinstance(use, str) else None
        if row is not None and isinstance(use, str):
            self.rows[use] = msgspec.structs.replace(row, **known)


class _Format(Protocol):
    """Reads the session files of one tool."""

    @property
    def marks(self) -> tuple[bytes, ...]:
        """Only a line with one of these can describe a call."""

    def read(self, line: Mapping[str, Any], calls: _Calls) -> None:
        """Add the calls and results in a line."""


class _Claude:
    marks = (b'"tool_use"', b'"tool_result"', b'"permissionMode"')
    mode = ""

    def read(self, line: Mapping[str, Any], calls: _Calls) -> None:
        at, message = _text(line, "timestamp"), line.get("message")
        self.mode = _text(line, "permissionMode") or self.mode
        for part in _dicts(message.get("content") if isinstance(message, dict) else None):
            if part.get("type") == "tool_use":
                calls.begun(part.get("id"), _row(part.get("name"), part.get("input"), at, self.mode))
            elif part.get("type") == "tool_result":
                self._result(part, at, calls)

    def _result(self, part: Mapping[str, Any], at: str, calls: _Calls) -> None:
        use, text = part.get("tool_use_id"), _flat(part.get("content"))
        took = _between(calls.rows[use].at, at) if isinstance(use, str) and use in calls.rows else None
        if not part.get("is_error"):
            calls.ended(use, exit=None if "running in background" in text[:200] else 0, seconds=took)
        elif _REJECTED.search(text[:400]):
            calls.ended(use, event="denied", by="person")
        elif _FORBIDDEN.search(text[:400]) or _REFUSED.match(text[: MOST_COMMAND + 400]):
            calls.ended(use, event="denied", by="settings", reason=noted.beginning(text, noted.MOST_REASON))
        else:
            calls.ended(use, event="failed", exit=exit_in(text), seconds=took)


class _Codex:
    marks = (
        b'"function_call',
        b'"local_shell_call"',
        b'"custom_tool_call',
        b'"turn_context"',
        b'"exec_command_end"',
    )
    mode = ""

    def read(self, line: Mapping[str, Any], calls: _Calls) -> None:
        at, told = _text(line, "timestamp"), line.get("payload")
        if not isinstance(told, dict):
            return
        if line.get("type") == "turn_context":
            self.mode = _text(told, "approval_policy")
        kind = told.get("type")
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            given = told.get("action") if kind == "local_shell_call" else _object(told.get("arguments"))
            calls.begun(told.get("call_id"), _row(told.get("name") or "shell", given, at, self.mode))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._result(told.get("call_id"), told.get("output"), calls)
        elif kind == "exec_command_end" and (code := _code(told.get("exit_code"))) is not None:
            calls.ended(told.get("call_id"), exit=code)

    def _result(self, use: object, output: object, calls: _Calls) -> None:
        about = _object(output).get("metadata")
        text = _flat(output)
        if isinstance(about, dict):
            code, took = _code(about.get("exit_code")), about.get("duration_seconds")
        else:
            found = _SECONDS.search(text[:400])
            code, took = exit_in(text), float(found[1]) if found else None
        if _REJECTED.search(text[:400]):
            calls.ended(use, event="denied", by="person")
        elif code is not None:
            seconds = float(took) if isinstance(took, int | float) else None
            calls.ended(use, event="failed" if code else "ran", exit=code, seconds=seconds)


class _Gemini:
    marks = (b'"toolCalls"',)

    def read(self, line: Mapping[str, Any], calls: _Calls) -> None:
        messages = line.get("messages")
        for message in [line, *_dicts(messages), *_dicts([line.get("$set")])]:
            for call in _dicts(message.get("toolCalls")):
                at = _text(call, "timestamp") or _text(message, "timestamp")
                calls.begun(call.get("id"), _row(call.get("name"), call.get("args"), at, ""))
                status, text = call.get("status"), _flat(call.get("resultDisplay"))
                if status == "cancelled":
                    calls.ended(call.get("id"), event="denied", by="person")
                elif status == "error":
                    calls.ended(call.get("id"), event="failed", exit=exit_in(text))
                elif status == "success":
                    code = exit_in(text)
                    calls.ended(call.get("id"), exit=0 if code is None else code)


_FORMATS: dict[str, Callable[[], _Format]] = {"claude-code": _Claude, "codex": _Codex, "gemini-cli": _Gemini}

_json = decoding.Json()


def _lines(path: str, marks: tuple[bytes, ...]) -> Iterator[Mapping[str, Any]]:
    """Yield the lines that can describe a call. Links are refused, and a FIFO can't block the reader."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb", _BLOCK) as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return
        read = decoded = 0
        while read < _MOST_READ and decoded < _MOST_DECODED and (line := file.readline(_LONGEST_LINE)):
            read += len(line)
            while not line.endswith(b"\n") and len(line) == _LONGEST_LINE and (rest := file.readline(_BLOCK)):
                read += len(rest)
                if read >= _MOST_READ or rest.endswith(b"\n"):
                    line = b""
            if any(mark in line for mark in marks):
                decoded += len(line)
                if isinstance(found := _decoded(line), dict):
                    yield found


def _decoded(line: bytes) -> object:
    try:
        return _json.decode(line)
    except msgspec.MsgspecError:
        return None


def _row(name: object, given: object, at: str, mode: str) -> Row:
    about = given if isinstance(given, dict) else {}
    command, cut = "", 0
    for key in COMMANDS:
        command, cut = (command, cut) if command else shown_command(about.get(key))
    path = next((told for key in PATHS if isinstance(told := about.get(key), str)), "")
    return Row(
        "ran",
        str(name)[:80] if isinstance(name, str) else "",
        command,
        path[:400],
        at,
        mode=mode[:40],
        cut=cut,
    )


COMMANDS = ("command", "cmd", "CommandLine", "commandLine", "script")
PATHS = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "AbsolutePath", "TargetFile")
"""Argument names that tools use for the command and for the file."""


def _object(given: object) -> dict[str, Any]:
    """Some tools give the arguments or a result as JSON in a text."""
    if isinstance(given, str) and given.startswith("{"):
        given = _decoded(given.encode(errors="replace"))
    return given if isinstance(given, dict) else {}


def _flat(given: object) -> str:
    """The beginning of a result, whatever its form."""
    if isinstance(given, dict):
        given = next((given[key] for key in ("content", "output", "text", "stdout") if key in given), "")
    if isinstance(given, list):
        given = next((part["text"] for part in _dicts(given) if isinstance(part.get("text"), str)), "")
    return given if isinstance(given, str) else ""


def _dicts(given: object) -> list[dict[str, Any]]:
    return [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []


def _text(fields: Mapping[str, Any], name: str) -> str:
    found = fields.get(name)
    return found[:200] if isinstance(found, str) else ""


def _code(given: object) -> int | None:
    return given if isinstance(given, int) and -_INT < given < _INT else None


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


def _is_after(at: str, start: datetime) -> bool:
    """True if a call isn't from an earlier session in the same file. A call without a time counts."""
    moment = _moment(at)
    return moment is None or moment >= start - _EARLIER


def _between(began: str, ended: str) -> float | None:
    one, other = _moment(began), _moment(ended)
    return round(max(0.0, (other - one).total_seconds()), 3) if one and other else None
