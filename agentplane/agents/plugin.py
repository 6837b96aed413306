"""The interface of modules that read the session files and memories of one tool.

A row of the catalog names the module. A module only interprets the contents of a tool's files. The callers
find and limit files, mask secrets, and turn memories into candidates.
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
    """The time at which it began, in ISO 8601."""


class CallStart(msgspec.Struct, frozen=True):
    """A call in a session file."""

    use: object
    """The tool's own id of the call."""
    name: object
    arguments: object
    at: str
    mode: str = ""
    """The tool's permission mode or approval policy."""


class CallEnd(msgspec.Struct, frozen=True):
    """The outcome of a call."""

    use: object
    event: Literal["ran", "failed", "denied"] | None = None
    """None if the session file doesn't say it again."""
    exit: int | None = None
    seconds: float | None = None
    at: str = ""
    """The time at which it ended, for a tool that doesn't state the duration."""
    by: str = ""
    """`person` or `settings`, whichever denied it."""
    reason: str = ""


class Transcript(Protocol):
    """Reads one session file, line by line. Arguments and results can have any content."""

    @property
    def marks(self) -> tuple[bytes, ...]:
        """The byte strings that mark calls. A line without any of them can't describe a call."""

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
    """A piece of a source that isn't imported, and the reason."""

    place: str
    """`path:line`, or `path` for a whole file."""
    why: str
    text: str = ""


class Remark(msgspec.Struct, frozen=True):
    """The reason memories weren't read at all."""

    text: str


class Places(msgspec.Struct, frozen=True):
    """The folders of a project and of a tool, and a reader for the files in them."""

    project: Path
    home: Path
    """The tool's own folder, such as `~/.codex`."""
    read: Callable[[Path, str], str | None]
    """Return the text of a file, or None if it can't be read. The second argument is its name in messages."""


MemoryItem = MemoryFile | Note | Skipped | Remark


class Plugin(msgspec.Struct, frozen=True):
    """The functions in a tool's module. If a function is missing, agentplane doesn't read those files."""

    session_start: Callable[[Mapping[str, Any]], SessionStart | None] | None = None
    """Return the session from a line of a session file, or None if the line doesn't state it."""
    transcript: Callable[[], Transcript] | None = None
    """Make a reader for one session file."""
    memories: Callable[[Places], Iterator[MemoryItem]] | None = None
    """Yield the memories of a project. The field `memories` of the row is their title."""


_NOTHING = Plugin()


def plugin_of(tool: Tool) -> Plugin:
    """Return the plugin of a tool. Its module is loaded on first use."""
    if not tool.module:
        return _NOTHING
    found: Plugin = import_module(f"{__package__}.{tool.module}").PLUGIN
    return found


def home_of(tool: Tool, home: Path, environment: Mapping[str, str]) -> Path:
    """Return the tool's own folder, such as `~/.codex`. The environment may move it from the home folder."""
    moved = environment.get(tool.home_variable) if tool.home_variable else None
    return Path(moved) if moved else home / tool.homes[0]
