"""Findings of the gate about orders to the reader and hidden text, in every reading of a text."""

import re
from collections.abc import Iterator

import msgspec

from agentplane.review.gate import wording
from agentplane.scan import orders, readings
from agentplane.scan.readings import View
from agentplane.scan.secrets import find
from agentplane.text.markdown import invisible
from agentplane.text.visible import one_line


Noticed = tuple[str, str]
"""Code and message of a finding."""


class Place(msgspec.Struct, frozen=True):
    """The place in a text where something was found."""

    code: str
    what: str
    offset: int
    """Offset of its first character, or of its line if only the line is known."""
    exact: bool


_SHORTEST = 6
_SHOWN = 80
_PROSE = re.compile(r"(?<!\w)(?:[^\W\d_]{2,30}[\s,.;:!?'-]{1,3}){2}[^\W\d_]{2,}")
_ENCODINGS = ("in base", "in hex", "in binary", "in character codes", "in invisible", "in Morse", "in quoted")


def noticed(text: str) -> Iterator[Noticed]:
    """Yield orders to the reader, role marks of a conversation, and commands that run unread code. Each is
    yielded once.
    """
    for code, what, _ in _noticed(text):
        yield code, what


def unseen(text: str) -> Iterator[str]:
    """Yield findings about invisible characters and encoded text."""
    for what, _ in _unseen(text):
        yield what


def places(text: str) -> Iterator[Place]:
    """Yield the places of orders and of hidden text, to show a person the spot."""
    for code, what, (offset, exact) in _noticed(text):
        yield Place(code, what, offset, exact)
    for what, offset in _unseen(text):
        yield Place("hidden", what, offset, exact=True)


def _noticed(text: str) -> Iterator[tuple[str, str, tuple[int, bool]]]:
    if len(text) < _SHORTEST:
        return
    if encoded := wording.blob(text):
        yield "command", f"{encoded[0]} (line {wording.line_at(text, encoded[1])})", (encoded[1], True)
    yielded: set[str] = set()
    for view in readings.views(text):
        for code, what, offset in _in_view(view):
            if what not in yielded:
                yielded.add(what)
                yield code, what + _place(text, view, offset), _offset(text, view, offset)


def _unseen(text: str) -> Iterator[tuple[str, int]]:
    if len(text) < _SHORTEST:
        return
    for part in invisible.parts(text):
        what = f"contains {part.kind}, which is invisible when rendered{_quoted(part.text)}"
        yield f"{what} (line {wording.line_at(text, part.offset)})", part.offset
    for view in readings.decoded(text):
        if view.how.startswith(_ENCODINGS) and _PROSE.search(view.text):
            what = f"contains text {view.how}{_quoted(view.text)} (line {wording.line_at(text, view.offset)})"
            yield what, view.offset


def _offset(text: str, view: View, offset: int) -> tuple[int, bool]:
    """Return the offset in the text for an offset in a view, and True if it is the exact character."""
    if view.how:
        return min(view.offset, len(text)), False
    if len(view.text) == len(text):
        return offset, True
    # The view leaves out characters, but no lines.
    line = view.text.count("\n", 0, offset)
    return sum(map(len, text.splitlines(keepends=True)[:line])), False


def _in_view(view: View) -> Iterator[tuple[str, str, int]]:
    if view.joined:
        for order in orders.find_joined(view.text):
            yield "instruction", order.what, 0
        return
    for order in orders.find(view.text):
        yield "instruction", order.what, order.offset
    clean = wording.folded(view.text)
    for what, offset in wording.aimed_at_reader(clean):
        yield "instruction", what, offset
    mark = wording.role_marks(clean)
    if mark is not None:
        yield "markup", "contains markup that imitates a conversation or a tool call", mark
    for what, offset in wording.commands(clean):
        yield "command", what, offset


def _place(text: str, view: View, offset: int) -> str:
    if not view.how:
        return f" (line {wording.line_at(view.text, offset)})"
    return (
        f", {view.how}{_quoted(view.text[max(offset - 10, 0) :])} (line {wording.line_at(text, view.offset)})"
    )


def _quoted(text: str) -> str:
    """Return a short piece of a text for a message, or an empty text if the piece could be a secret."""
    piece = one_line(text[:400], _SHOWN)
    return "" if not piece or find.find(text[:400]) else f": `{piece}`"
