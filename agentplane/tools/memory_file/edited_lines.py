"""The lines that somebody wrote into agentplane's block in a tool file, and the diff of the block."""

import difflib
from collections.abc import Callable, Iterable, Iterator

import msgspec

from agentplane.context.pack_text import EXPIRED, LEFT_OUT, marked_in, read_item
from agentplane.tools.memory_file.block import Block


_OURS = ("#", "<!-- agentplane:", LEFT_OUT, EXPIRED)
"""The beginnings of lines that belong to no entry. They are titles, markers and lists of entries left out."""


class Written(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that somebody wrote into a block."""

    text: str
    id: str = ""
    """The entry that the line seems to belong to."""
    bare: str = ""
    """The text without that id, if it begins with the id."""


LineProposer = Callable[[str, Written], str | None]
"""Proposes a line of a file. Returns the candidate's id, or None if a person already decided about it."""


def of(data: bytes, found: Block, wanted: str) -> tuple[tuple[str, ...], tuple[Written, ...]]:
    """Return the diff from the text to write to the edited block, and the lines that only the file has.

    Both are empty if the block isn't edited.
    """
    if not found.is_edited(data):
        return (), ()
    now = found.content(data).decode(errors="replace").splitlines()
    made = wanted.splitlines()
    diff = tuple(difflib.unified_diff(made, now, "written by agentplane", "current", lineterm="", n=1))
    return diff, tuple(_written(now, {line.strip() for line in made}))


def _written(now: Iterable[str], known: set[str]) -> Iterator[Written]:
    """Yield the unknown lines, each with the entry that it seems to belong to."""
    id_ = ""
    for line in now:
        head = read_item(line)
        id_ = head.id if head else id_ if line.startswith("  ") else ""
        text, bare = line.strip().lstrip("-* ").strip(), head.statement if head else ""
        is_ours = text.startswith(_OURS) or marked_in(line.rstrip()) is not None
        if line.strip() not in known and text and not is_ours:
            yield Written(text, id_, bare)
