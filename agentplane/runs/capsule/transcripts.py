"""The tool calls in the session files of coding tools, with commands, results and denials.

A session file can have any content and size. Therefore the reader skips long and invalid lines and limits how
much it reads and keeps.
"""

import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import BinaryIO, Literal

import msgspec

from agentplane import extensions
from agentplane.agents.catalog import BY_NAME
from agentplane.agents.hooks import COMMANDS, PATHS
from agentplane.agents.plugin import CallEnd, CallStart, TranscriptReader, is_sound, plugin_of
from agentplane.runs.open import hook_notes


MOST_ROWS = 20_000
MOST_COMMAND = 64 << 10
"""Maximum number of characters of a command."""
_MOST_READ = 256 << 20
_LONGEST_LINE = 16 << 20
_MOST_DECODED = 128 << 20
_BLOCK = 1 << 20
_EARLIER = timedelta(seconds=2)

CallEvent = Literal["ran", "failed", "asked", "denied"]


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A report about a call by a hook or a session file."""

    event: CallEvent
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
    """The actor that denied or allowed the call, if the file states it."""
    reason: str = ""
    cut: int = 0
    """Number of characters that were cut off the command."""


def read(tool: str | None, path: str, since: str) -> list[ToolCall]:
    """Return the calls in a session file from a moment on, or none if the file or its tool is unknown."""
    if not tool or not os.path.isabs(path):
        return []
    calls, start = _Calls(), _moment(since)
    if tool in extensions.names(extensions.TRANSCRIPT_READERS):
        _read_by_extension(tool, _File(path), calls)
    elif (row := BY_NAME.get(tool)) and (reader := plugin_of(row).transcripts):
        calls.take_all(reader.read(_File(path)))
    rows = list(calls.rows.values())
    return [row for row in rows if start is None or _is_after(row.at, start)]


def _read_by_extension(tool: str, file: "_File", calls: "_Calls") -> None:
    """Take the calls that an extension reads. If it fails, the calls before that count."""
    try:
        extension = extensions.get(extensions.TRANSCRIPT_READERS, tool)
        reader: TranscriptReader = extension.made()
        if not extension.call(lambda: calls.take_all(reader.read(file))):
            raise extension.error("returned something other than tool calls")
    except extensions.ExtensionError as error:
        extensions.report(error)


def shown_command(given: object) -> tuple[str, int]:
    """Return a command as one text, and the number of characters that were cut off.

    Tools pass a text or a list of words.
    """
    if isinstance(given, list) and given and all(isinstance(word, str) for word in given):
        given = given[2] if len(given) == 3 and given[1] in ("-c", "-lc") else shlex.join(given)
    if not isinstance(given, str):
        return "", 0
    kept = hook_notes.beginning(given, MOST_COMMAND)
    return kept, len(given) - len(kept)


class _Calls:
    """The calls of one file, by the tool's own id of each call."""

    def __init__(self) -> None:
        self.rows: dict[str, ToolCall] = {}

    def take_all(self, found: Iterator[CallStart | CallEnd]) -> bool:
        """Take calls up to the limit. Return False at the first value that is none."""
        for one in found:
            if not is_sound(one):
                return False
            self.take(one)
            if len(self.rows) >= MOST_ROWS:
                break
        return True

    def take(self, found: CallStart | CallEnd) -> None:
        if not isinstance(found.use, str):
            return
        row = self.rows.get(found.use)
        if isinstance(found, CallEnd):
            if row is not None:
                self.rows[found.use] = _ended(row, found)
        elif found.use and row is None:
            self.rows[found.use] = _row(found, found.use)


def _ended(row: ToolCall, found: CallEnd) -> ToolCall:
    took = _between(row.at, found.at) if found.at else found.seconds
    return msgspec.structs.replace(
        row,
        event=found.event or row.event,
        exit=row.exit if found.exit is None else found.exit,
        seconds=row.seconds if took is None else took,
        by=found.by or row.by,
        reason=hook_notes.beginning(found.reason, hook_notes.MOST_REASON) or row.reason,
    )


class _File:
    """A session file. Links are refused, and a FIFO can't block the reader."""

    def __init__(self, path: str) -> None:
        self.path = path

    def lines(self, marks: tuple[bytes, ...] = ()) -> Iterator[bytes]:
        # Sessions of tools come and go. A file that can't be read has no calls.
        with suppress(OSError):
            fd = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(fd, "rb", _BLOCK) as file:
                if stat.S_ISREG(os.fstat(fd).st_mode):
                    yield from _with_marks(file, marks)


def _with_marks(file: BinaryIO, marks: tuple[bytes, ...]) -> Iterator[bytes]:
    read = given = 0
    while read < _MOST_READ and given < _MOST_DECODED and (line := file.readline(_LONGEST_LINE)):
        read += len(line)
        while not line.endswith(b"\n") and len(line) == _LONGEST_LINE and (rest := file.readline(_BLOCK)):
            read += len(rest)
            if read >= _MOST_READ or rest.endswith(b"\n"):
                line = b""
        if not marks or any(mark in line for mark in marks):
            given += len(line)
            yield line


def _row(found: CallStart, use: str) -> ToolCall:
    about = found.arguments if isinstance(found.arguments, dict) else {}
    command, cut = "", 0
    for key in COMMANDS:
        command, cut = (command, cut) if command else shown_command(about.get(key))
    path = next((value for key in PATHS if isinstance(value := about.get(key), str)), "")
    name = found.name[:80] if isinstance(found.name, str) else ""
    return ToolCall("ran", name, command, path[:400], found.at, mode=found.mode[:40], use=use[:200], cut=cut)


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
