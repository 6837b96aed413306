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


def is_sound(event: object) -> bool:
    """True if a value is an event and its fields have the declared types. Extensions make events too."""
    if isinstance(event, CallStart):
        *_, at, mode = msgspec.structs.astuple(event)
        return isinstance(at, str) and isinstance(mode, str)
    if not isinstance(event, CallEnd):
        return False
    _, outcome, code, seconds, at, by, reason = msgspec.structs.astuple(event)
    return (
        outcome in (None, "ran", "failed", "denied")
        and isinstance(code, int | None)
        and isinstance(seconds, int | float | None)
        and all(isinstance(text, str) for text in (at, by, reason))
    )


class TranscriptFile(Protocol):
    """A session file that is opened safely. Its content comes from a tool, so it can be damaged and of any size."""

    @property
    def path(self) -> str: ...

    def lines(self, marks: tuple[bytes, ...] = ()) -> Iterator[bytes]:
        """Yield the lines that contain one of these byte strings, or every line without marks.

        Extremely long lines are skipped. If the file is extremely large or can't be read, the lines end early.
        """


class TranscriptReader(Protocol):
    """Reads the session files of one tool. The same file has the same events, in the order of the file.

    Arguments and results of calls can have any content. A reader skips everything that it doesn't know.
    `extensions.TRANSCRIPT_READERS` has the readers of other packages.
    """

    def read(self, file: TranscriptFile, /) -> Iterator[CallStart | CallEnd]:
        """Yield the calls and their outcomes."""


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
    transcripts: TranscriptReader | None = None
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
