"""Reader of Gemini CLI's session files, and of the memories that it keeps for all projects."""

import re
from collections.abc import Iterator, Mapping
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
    TranscriptFile,
)


_MARKS = (b'"toolCalls"',)
"""The byte strings that mark calls. A line without any of them can't describe a call."""
_MEMORIES = "~/.gemini/GEMINI.md"
_ADDED = re.compile(r"(?ms)^## Gemini Added Memories[ \t]*\n(.*?)(?=^#{1,2} |\Z)")


class Transcripts:
    """Reader of session files."""

    def read(self, file: TranscriptFile, /) -> Iterator[CallStart | CallEnd]:
        for line in lines.objects_in(file, _MARKS):
            messages = line.get("messages")
            for message in [line, *lines.objects(messages), *lines.objects([line.get("$set")])]:
                for call in lines.objects(message.get("toolCalls")):
                    at = lines.string(call, "timestamp") or lines.string(message, "timestamp")
                    yield CallStart(call.get("id"), call.get("name"), call.get("args"), at)
                    yield from _ended(call)


def _ended(call: Mapping[str, Any]) -> Iterator[CallEnd]:
    use, code = call.get("id"), lines.exit_in(lines.result_text(call.get("resultDisplay")))
    match call.get("status"):
        case "cancelled":
            yield CallEnd(use, "denied", by="person")
        case "error":
            yield CallEnd(use, "failed", exit=code)
        case "success":
            yield CallEnd(use, exit=code or 0)


def memories(places: Places) -> Iterator[MemoryItem]:
    """Yield the memories in a section of the tool's instruction file. The person wrote the rest."""
    path = places.home / "GEMINI.md"
    if not path.is_file() or (text := places.read(path, _MEMORIES)) is None:
        return
    for found in _ADDED.finditer(text):
        yield MemoryFile(_MEMORIES)
        yield Note(_MEMORIES, found[1], 1 + text.count("\n", 0, found.start(1)))


PLUGIN = Plugin(transcripts=Transcripts(), memories=memories)
