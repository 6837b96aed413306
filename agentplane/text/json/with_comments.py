"""A parser for JSON with comments and trailing commas that keeps the position of every piece.

The text belongs to other programs, and `splice.py` changes a few characters of it. So nothing is dropped. A
node has its start and end, and a child has the position of the comma after it.
"""

import json
import re
from typing import Literal

import msgspec


Kind = Literal["object", "array", "string", "number", "word"]

_DEEPEST = 100
_SKIP = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")


class BadJson(ValueError):
    """The error for invalid JSON, with the line where it was noticed."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(f"{what} on line {line}")


class Node(msgspec.Struct):
    kind: Kind
    start: int
    end: int
    text: str = ""
    """The value of a string. For a number or word, the source text."""
    children: list["Child"] = []

    def child(self, key: str) -> "Child | None":
        return next((child for child in self.children if child.key == key), None)


class Child(msgspec.Struct):
    """A member of an object, or an item of an array."""

    key: str | None
    start: int
    """Start of its key, or of the value if there is no key."""
    node: Node
    comma: int | None = None
    """Position of the comma after it."""

    @property
    def end(self) -> int:
        return self.node.end


def parse(text: str) -> Node:
    """Return the one value of a text. A byte order mark before it is skipped."""
    reader = _Reader(text)
    node = reader.value(reader.skip(1 if text.startswith("\ufeff") else 0), 0)
    if reader.skip(node.end) != len(text):
        raise reader.bad("unexpected text after the end", node.end)
    return node


def plain(node: Node) -> object:
    """Return the content of a node without its formatting.

    Two texts with the same content have equal results. Order counts.
    """
    if node.kind == "object":
        return ("object", [(child.key, plain(child.node)) for child in node.children])
    if node.kind == "array":
        return ("array", [(None, plain(child.node)) for child in node.children])
    return (node.kind, node.text)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        """Return the position after white space and comments."""
        found = _SKIP.match(self.text, at)
        return found.end() if found else at

    def bad(self, what: str, at: int) -> BadJson:
        return BadJson(what, self.text.count("\n", 0, at) + 1)

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.bad("too many nested brackets", at)
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self.container(at, depth)
        if first == '"':
            return self.string(at)
        for kind, pattern in (("number", _NUMBER), ("word", _WORD)):
            found = pattern.match(self.text, at)
            if found:
                return Node(kind, at, found.end(), found[0])  # type: ignore[arg-type]
        raise self.bad("invalid value" if first else "unexpected end", at)

    def string(self, at: int) -> Node:
        found = _STRING.match(self.text, at)
        if not found:
            raise self.bad("invalid string", at)
        return Node("string", at, found.end(), json.loads(found[0]))

    def container(self, at: int, depth: int) -> Node:
        kind: Kind = "object" if self.text[at] == "{" else "array"
        closing = "}" if kind == "object" else "]"
        node = Node(kind, at, at, children=[])
        place = self.skip(at + 1)
        while self.text[place : place + 1] != closing:
            if node.children and node.children[-1].comma is None:
                raise self.bad("missing comma", place)
            node.children.append(self.child(kind, place, depth))
            place = self.skip(node.children[-1].end)
            if self.text[place : place + 1] == ",":
                node.children[-1].comma = place
                place = self.skip(place + 1)
        node.end = place + 1
        return node

    def child(self, kind: Kind, at: int, depth: int) -> Child:
        if kind == "array":
            return Child(None, at, self.value(at, depth + 1))
        if self.text[at : at + 1] != '"':
            raise self.bad("missing key" if self.text[at : at + 1] else "unexpected end", at)
        key = self.string(at)
        colon = self.skip(key.end)
        if self.text[colon : colon + 1] != ":":
            raise self.bad("missing colon", colon)
        return Child(key.text, at, self.value(self.skip(colon + 1), depth + 1))
