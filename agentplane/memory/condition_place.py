"""The position of an error in a `check` within its entry's header."""

import re

import msgspec

from agentplane.errors import BadInput
from agentplane.memory import condition
from agentplane.memory.condition import Problem
from agentplane.memory.entry import Entry, Header, read_header
from agentplane.text.markdown import document


class Place(msgspec.Struct, frozen=True):
    """A place in a text, counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


_KEY = re.compile(r"^(?:check|\"check\"|'check'):[ \t]*", re.MULTILINE)
_BLOCK = re.compile(r"[|>][^\n]*\n([ \t]*)")
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|U.{8}|.)", re.DOTALL)


def problem_of(entry: Entry) -> Problem | None:
    """Return the problem with an entry's check, or None if the check is valid or missing."""
    return _problem(entry.head)


def refuse_unreadable(text: bytes, approved: bytes | None, where: str, line: int = 1) -> None:
    """Raise an error if a person's text of an entry has an invalid check.

    A check that was approved earlier isn't an error, so a person can edit the rest of the entry. `line` is the line of
    the text in its file.
    """
    after, before = document.parse(text), document.parse(approved or b"")
    if len(after.blocks) != 1:
        return
    block = after.blocks[0]
    head = read_header(block.packed)[0]
    problem = _problem(head)
    if problem is None or any(read_header(one.packed)[0].check == head.check for one in before.blocks):
        return
    found = place(text[block.head : block.body].decode(errors="replace"), problem.offset)
    at = Place(line + text.count(b"\n", 0, block.head) + found.line - 1, found.column)
    raise BadInput(
        f"The check is invalid: {problem.what}.",
        where=f"{where}:{at}",
        todo="For example, write `version: textual >=8,<9`. If the check is a command, put `run:` before it.",
    )


def _problem(head: Header) -> Problem | None:
    found = condition.parse(head.check) if head.check else None
    return found if isinstance(found, Problem) else None


def place_in(entry: Entry, offset: int) -> Place:
    """Return the place in the entry's file of a character of its check."""
    above = entry.text.count(b"\n", 0, entry.starts)
    found = place(entry.header.decode(errors="replace"), offset)
    return Place(above + found.line, found.column)


def place(header: str, offset: int) -> Place:
    """Return the place in a header of a character of its check. Without the key, it is the beginning."""
    found = _KEY.search(header)
    if found is None:
        return Place(1, 1)
    at = _index(header, found.end(), offset)
    return Place(header.count("\n", 0, at) + 1, at - (header.rfind("\n", 0, at) + 1) + 1)


def _index(header: str, start: int, offset: int) -> int:
    """Return the index of a character of a scalar that begins at `start`."""
    match header[start : start + 1]:
        case "'":
            return _after(header, start + 1, offset, re.compile("''"))
        case '"':
            return _after(header, start + 1, offset, _ESCAPE)
        case "|" | ">":
            block = _BLOCK.match(header, start)
            return min(block.end() + offset, len(header)) if block else start
        case _:
            return min(start + offset, len(header))


def _after(header: str, start: int, count: int, escaped: re.Pattern[str]) -> int:
    """Return the index of a character of a quoted scalar, in which some characters are escaped."""
    at = start
    for _ in range(count):
        found = escaped.match(header, at)
        at = found.end() if found else at + 1
    return min(at, len(header))
