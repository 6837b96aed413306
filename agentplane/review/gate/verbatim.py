"""Repeats word for word: of a project's instruction files, and of what is on the shelf."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentplane.agents.catalog import instruction_files
from agentplane.errors import AgentplaneError
from agentplane.memory.entry import Entry, without_label
from agentplane.text import files


_LARGEST = 256 * 1024
_FEWEST_WORDS = 4
"""A shorter statement stands in a long text by chance."""

_WORD = re.compile(r"\w+")
_PLAIN_WORD = re.compile(rb"[0-9A-Za-z]{4,}")
_LABEL = re.compile(r"^\s*[A-Z][\w-]{0,30}:\s")


def words(text: str) -> str:
    """The words of a text and nothing between them, with a blank on both ends."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def read_instructions(project: Path) -> dict[str, str]:
    """The project's instruction files, by name; no links, and nothing large."""
    found = {}
    for name in instruction_files():
        path = os.path.join(project, name)
        try:
            if "/" in name and os.path.islink(os.path.dirname(path)):
                continue
            if os.lstat(path).st_size <= _LARGEST:
                found[name] = files.read(path).decode(errors="replace")
        except (OSError, AgentplaneError):
            continue
    return found


def in_instructions(statement: str, instructions: Mapping[str, str]) -> str | None:
    """Where an instruction file says this already, as `AGENTS.md:12`."""
    said = words(statement)
    if said.count(" ") - 1 < _FEWEST_WORDS:
        return None
    for name, text in instructions.items():
        if said in words(text):
            lines = (number for number, line in enumerate(text.splitlines(), 1) if said in words(line))
            number = next(lines, None)
            return f"{name}:{number}" if number else name
    return None


def said_in(entry: Entry) -> str:
    """The body without its label: that of its kind, or what somebody wrote in its place by hand."""
    body = without_label(entry.body, entry.label)
    return body if body != entry.body else _LABEL.sub("", body, count=1)


def on_shelf(statement: str, entries: Iterable[Entry], besides: frozenset[str] = frozenset()) -> str | None:
    """The id of the trusted entry in force that says this already."""
    said = words(statement)
    if said == "  ":
        return None
    plain = _PLAIN_WORD.findall(statement.encode(errors="replace"))
    needle = max(plain, key=len, default=b"").lower()
    for entry in entries:
        if needle not in entry.raw.lower():
            continue
        if not entry.trusted or entry.head.status != "accepted" or entry.id in besides:
            continue
        told = words(said_in(entry))
        if told == said or told.startswith(f"{said}rationale "):
            return entry.id
    return None
