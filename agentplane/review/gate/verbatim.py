"""Word-for-word repeats of instruction files and of entries in memory."""

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
"""Minimum number of words. A shorter statement can occur in a long text by chance."""

_WORD = re.compile(r"\w+")
_PLAIN_WORD = re.compile(rb"[0-9A-Za-z]{4,}")
_LABEL = re.compile(r"^\s*[A-Z][\w-]{0,30}:\s")


def words(text: str) -> str:
    """Return the words of a text, separated by single blanks, with a blank on both ends."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def read_instructions(project: Path) -> dict[str, str]:
    """Return the project's instruction files by name. Links and large files are skipped."""
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
    """Return the place where an instruction file already contains this statement, such as `AGENTS.md:12`, or
    None.
    """
    statement_words = words(statement)
    if statement_words.count(" ") - 1 < _FEWEST_WORDS:
        return None
    for name, text in instructions.items():
        if statement_words in words(text):
            lines = (
                number for number, line in enumerate(text.splitlines(), 1) if statement_words in words(line)
            )
            number = next(lines, None)
            return f"{name}:{number}" if number else name
    return None


def unlabeled_body(entry: Entry) -> str:
    """Return the body without its label, which is the label of its kind or a label that somebody wrote
    instead.
    """
    body = without_label(entry.body, entry.label)
    return body if body != entry.body else _LABEL.sub("", body, count=1)


def on_shelf(statement: str, entries: Iterable[Entry], ignored: frozenset[str] = frozenset()) -> str | None:
    """Return the id of the trusted entry in force that already contains this statement, or None."""
    statement_words = words(statement)
    if statement_words == "  ":
        return None
    plain = _PLAIN_WORD.findall(statement.encode(errors="replace"))
    needle = max(plain, key=len, default=b"").lower()
    for entry in entries:
        if needle not in entry.raw.lower():
            continue
        if not entry.trusted or entry.head.status != "accepted" or entry.id in ignored:
            continue
        entry_words = words(unlabeled_body(entry))
        if entry_words == statement_words or entry_words.startswith(f"{statement_words}rationale "):
            return entry.id
    return None
