"""The draft for splitting an entry. The draft contains one entry for each statement."""

import re
from collections.abc import Iterator

from agentplane.errors import BadInput
from agentplane.memory.entry import Entry
from agentplane.memory.entry_changes import OF_ONE_ENTRY
from agentplane.memory.operations import core_of
from agentplane.memory.view import Memory
from agentplane.text.markdown import document, header


_ID = "NEW"
"""Prefix of the ids in a draft. Splitting replaces them with real ids."""
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?P<text>\S.*)")
_RATIONALE = re.compile(r"[ \t]*Rationale:", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[^a-z\s])|(?<=;)[ \t]+")
_NO_END = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|[A-Z])\.\Z", re.IGNORECASE)
"""The end of a text whose last period belongs to an abbreviation."""


def draft(memory: Memory, entry: Entry) -> bytes:
    """Return a text with an entry for each statement of an entry, at least two, for a person to edit.

    Each one has the header and the rationale of the entry.
    """
    statements, rest = parts_of(entry)
    if len(statements) == 1:
        statements *= 2
    core = core_of(memory, entry)
    dropped = dict.fromkeys((*OF_ONE_ENTRY, "supersedes", "superseded_by"), header.DROP)
    label = f"{entry.label}: " if entry.label else ""
    parts = []
    for number, statement in enumerate(statements, 1):
        fields = header.set_fields(core, {"id": f"{_ID}-{number}"} | dropped)
        (block,) = document.parse(fields).blocks
        body = "\n".join(filter(None, (f"{label}{statement}", rest)))
        parts.append(fields[: block.body] + body.encode())
    return b"\n\n".join(parts)


def texts(data: bytes) -> tuple[bytes, ...]:
    """Return the entries of an edited draft."""
    page = document.parse(data)
    if page.troubles:
        trouble = page.troubles[0]
        raise BadInput(trouble.what, where=f"line {trouble.line}", todo=trouble.todo)
    if not page.blocks or data[: page.blocks[0].start].strip(b"\xef\xbb\xbf \t\r\n"):
        raise BadInput(
            "The draft doesn't begin with an entry.", todo="Start with a header between two `---` lines."
        )
    return tuple(map(page.core, page.blocks))


def parts_of(entry: Entry) -> tuple[list[str], str]:
    """Return the statements of an entry, and the rest of its text.

    The statements are the items of a list before the rationale, or else the sentences of the statement.
    """
    lines = entry.body.replace("\r\n", "\n").strip().split("\n")
    end = next((at for at, line in enumerate(lines) if _RATIONALE.match(line)), len(lines))
    items = list(_items(lines[1:end]))
    if len(items) > 1:
        intro = entry.statement
        statements = [f"{intro} {item}" for item in items] if intro.endswith(":") else [intro, *items]
        return statements, "\n".join(lines[end:])
    return list(_sentences(entry.statement)), "\n".join(lines[1:]).strip("\n")


def _items(lines: list[str]) -> Iterator[str]:
    """Yield the items of a list. Lines that begin no item continue the last one."""
    item: list[str] = []
    for line in lines:
        found = _ITEM.fullmatch(line)
        if found is not None and item:
            yield " ".join(item)
            item = []
        if found is not None:
            item = [found["text"].strip()]
        elif item and line.strip():
            item.append(line.strip())
    if item:
        yield " ".join(item)


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for gap in _SENTENCE.finditer(text):
        sentence = text[start : gap.start()]
        if not _NO_END.search(sentence):
            yield sentence.rstrip(";")
            start = gap.end()
    yield text[start:]
