"""The code that only one tool needs: reading its session files and its memories. A row of the catalog names the module.

A module describes what a tool's files say and nothing else. The callers find and limit files, mask secrets, and turn memories into
candidates.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from agentplane.agents.model import Tool


class SessionStart(msgspec.Struct, frozen=True):
    """The session that a session file belongs to."""

    id: str
    folder: str
    at: str
    """When it began, in ISO 8601."""


class CallStart(msgspec.Struct, frozen=True):
    """A call that a session file tells of."""

    use: object
    """The tool's own id of the call."""
    name: object
    arguments: object
    at: str
    mode: str = ""
    """The tool's permission mode or approval policy."""


class CallEnd(msgspec.Struct, frozen=True):
    """How a call ended, by the id of the call."""

    use: object
    event: Literal["ran", "failed", "denied"] | None = None
    """None if the session file doesn't say it again."""
    exit: int | None = None
    seconds: float | None = None
    at: str = ""
    """When it ended, for a tool that doesn't state how long it took."""
    by: str = ""
    """Who denied it."""
    reason: str = ""


class Transcript(Protocol):
    """Reads one session file, line by line. Arguments and results can have any content."""

    @property
    def marks(self) -> tuple[bytes, ...]:
        """Only a line with one of these can describe a call."""

    def read(self, line: Mapping[str, Any]) -> Iterator[CallStart | CallEnd]:
        """Yield the calls and results in a line."""


class MemoryFile(msgspec.Struct, frozen=True):
    """A file of memories that was read."""

    place: str


class Note(msgspec.Struct, frozen=True):
    """Markdown from a file of memories."""

    place: str
    text: str
    first: int = 1
    """The line of the file in which the text begins."""


class Skipped(msgspec.Struct, frozen=True):
    """A piece of a source that isn't imported, and why."""

    place: str
    """`path:line`, or `path` for a whole file."""
    why: str
    text: str = ""


class Remark(msgspec.Struct, frozen=True):
    """Why memories weren't read at all."""

    text: str


class Places(msgspec.Struct, frozen=True):
    """Where a tool's memories of a project are, and how to read them."""

    project: Path
    home: Path
    """The tool's own folder, such as `~/.codex`."""
    read: Callable[[Path, str], str | None]
    """Return the text of a file, or None if it can't be read. The second argument is the file's name in messages."""


MemoryItem = MemoryFile | Note | Skipped | Remark


class Plugin(msgspec.Struct, frozen=True):
    """The functions that a tool's module offers. A missing function means that agentplane doesn't read those files."""

    session_start: Callable[[Mapping[str, Any]], SessionStart | None] | None = None
    """Return the session from a line of a session file, or None if the line doesn't state it."""
    transcript: Callable[[], Transcript] | None = None
    """Make a reader for one session file."""
    memories: Callable[[Places], Iterator[MemoryItem]] | None = None
    """Yield the memories of a project. The field `memories` of the row is their title."""


_NOTHING = Plugin()


def plugin_of(tool: Tool) -> Plugin:
    """The plugin of a tool. Its module is loaded when it is needed first."""
    if not tool.module:
        return _NOTHING
    found: Plugin = import_module(f"{__package__}.{tool.module}").PLUGIN
    return found


def home_of(tool: Tool, home: Path, environment: Mapping[str, str]) -> Path:
    """The tool's own folder, such as `~/.codex`, for a home folder and an environment that may move it."""
    moved = environment.get(tool.home_variable) if tool.home_variable else None
    return Path(moved) if moved else home / tool.homes[0]
