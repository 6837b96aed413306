"""Changes to another program's JSON text, a few characters at a time, and their removal.

A change has the style of the text around it. A container for new values either existed before or is created.
A created container begins with white space after its bracket. An existing empty one gets its first child
directly after the bracket. So the text itself shows which container to remove with the last child. Removing
an addition restores the earlier text to the byte.
"""

import json
import re
from collections.abc import Mapping, Sequence

from agentplane.text.json import with_comments
from agentplane.text.json.with_comments import Child, Node


_SAME_LINE = re.compile(r"(?:[ \t]*(?://[^\n]*?(?=\r?\n|\Z)|/\*[^\r\n]*?\*/))*")
_INDENT = re.compile(r'\n([ \t]+)["{\[]')


class NotPlain(ValueError):
    """The error for a text that can't be changed at a place, with the reason."""


def node_at(root: Node, path: Sequence[str]) -> Node | None:
    """Return the node at a path of keys, or None if it doesn't exist."""
    node = root
    for key in path:
        if node.kind != "object":
            raise NotPlain(f"has no object that could contain `{key}`")
        same = [child for child in node.children if child.key == key]
        if len(same) > 1:
            raise NotPlain(f"contains `{key}` twice")
        if not same:
            return None
        node = same[0].node
    return node


def put(text: str, path: Sequence[str], key: str | None, value: object) -> str:
    """Add a member to the object at a path.

    Without a key, add an item to the array there. Missing containers are created.
    """
    root = with_comments.parse(text)
    depth = next(size for size in range(len(path), -1, -1) if node_at(root, path[:size]) is not None)
    into = node_at(root, path[:depth]) or root
    whole: object = value
    wanted = [*path[depth:], *([] if key is None else [key])]
    if key is None and wanted:
        whole = [value]
    for name in reversed(wanted[1:]):
        whole = {name: whole}
    first = wanted[0] if wanted else None
    kind = "array" if first is None else "object"
    if into.kind != kind:
        raise NotPlain(f"has no {kind} at `{'.'.join(path[:depth]) or 'the top level'}`")
    return _insert(text, root, into, first, whole)


def replace(text: str, node: Node, value: object) -> str:
    """Replace a value. The text around it doesn't change."""
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def remove(text: str, route: Sequence[int], left: Mapping[str, object]) -> str | None:
    """Return the text without the child at a route of positions.

    Containers that were created for the child are removed too. Return None if the text was created for this
    child. The child is then its first, and the text has nothing else but `left`.
    """
    root = with_comments.parse(text)
    chain = [root]
    for place in route[:-1]:
        chain.append(chain[-1].children[place].node)
    steps = list(route)
    while _was_made(text, chain[-1]):
        if len(chain) == 1:
            return None if _is_all(text, root) else text[: root.start] + "{}" + text[root.end :]
        chain.pop()
        steps.pop()
    if len(chain) == 1 and steps == [0] and _is_all(text, root) and _holds_only(text, root, left):
        return None
    done = _cut(text, chain[-1], steps[-1])
    if with_comments.plain(with_comments.parse(done)) != _plain_without(root, steps):
        raise NotPlain("can't be changed without changing the text around it")
    return done


def _insert(text: str, root: Node, into: Node, key: str | None, value: object) -> str:
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    unit = _unit(text)
    one_line = bool(root.children) and "\n" not in text[root.start : root.end]
    if not into.children:
        base = None if one_line else _line_indent(text, into.start)
        at = into.start + 1
        return text[:at] + _member(key, value, base, unit, newline) + text[at:]
    last = into.children[-1]
    at = last.end if last.comma is None else last.comma + 1
    own = _own_indent(text, last)
    if own is not None:
        gap, indent, at = newline + own, own, _past_same_line(text, at)
    elif "\n" in text[last.start : last.end]:
        # The next item follows as `}, {` in a list, and on its own line in an object.
        indent = _line_indent(text, last.start)
        gap = newline + indent if into.kind == "object" else " "
    else:
        gap, indent = " ", None
    body = gap + _member(key, value, indent, unit, newline)
    if last.comma is not None:
        return f"{text[:at]}{body},{text[at:]}"
    return f"{text[: last.end]},{text[last.end : at]}{body}{text[at:]}"


def _past_same_line(text: str, at: int) -> int:
    """Return the position after the comments that follow on the same line."""
    found = _SAME_LINE.match(text, at)
    return found.end() if found else at


def _member(key: str | None, value: object, indent: str | None, unit: str, newline: str) -> str:
    start = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    return start + (in_line(value) if indent is None else on_lines(value, indent, unit, newline))


def in_line(value: object) -> str:
    """Return a value on one line, with spaces inside its brackets."""
    if isinstance(value, Mapping) and value:
        rows = (f"{json.dumps(key, ensure_ascii=False)}: {in_line(item)}" for key, item in value.items())
        return f"{{ {', '.join(rows)} }}"
    if isinstance(value, list) and value and not _is_short(value):
        return f"[ {', '.join(map(in_line, value))} ]"
    return json.dumps(value, ensure_ascii=False)


def on_lines(value: object, indent: str, unit: str, newline: str) -> str:
    """Return a value on several lines. Lists of plain values stay on one line."""
    inner = indent + unit
    if isinstance(value, Mapping) and value:
        rows = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {on_lines(item, inner, unit, newline)}"
            for key, item in value.items()
        ]
        return f"{{{newline}{f',{newline}'.join(rows)}{newline}{indent}}}"
    if isinstance(value, list) and value and not _is_short(value):
        rows = [inner + on_lines(item, inner, unit, newline) for item in value]
        return f"[{newline}{f',{newline}'.join(rows)}{newline}{indent}]"
    return json.dumps(value, ensure_ascii=False)


def _is_short(value: list[object]) -> bool:
    return not any(isinstance(item, Mapping | list) for item in value)


def _unit(text: str) -> str:
    """Return the indentation of one level, from the first indented line."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _line_indent(text: str, at: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _own_indent(text: str, child: Child) -> str | None:
    """Return the indentation of a child, or None if it doesn't begin its line."""
    start = text.rfind("\n", 0, child.start) + 1
    before = text[start : child.start]
    return before if start and not before.strip(" \t") else None


def _was_made(text: str, into: Node) -> bool:
    """True if a container was created for its only child. The white space after its bracket shows that."""
    if len(into.children) != 1:
        return False
    child = into.children[0]
    before = text[into.start + 1 : child.start]
    after = text[child.end if child.comma is None else child.comma + 1 : into.end - 1]
    return bool(before) and not before.strip() and not after.strip()


def _is_all(text: str, root: Node) -> bool:
    """True if a text has nothing around its one value."""
    return not (text[: root.start] + text[root.end :]).strip()


def _holds_only(text: str, root: Node, left: Mapping[str, object]) -> bool:
    """True if the members after the first child are exactly the rest of a file that agentplane created."""
    rest = root.children[1:]
    if not left or {child.key: text[child.node.start : child.end] for child in rest} != {
        key: json.dumps(value) for key, value in left.items()
    }:
        return False
    first = root.children[0]
    return bool(text[root.start + 1 : first.start]) and not text[root.start + 1 : first.start].strip()


def _cut(text: str, into: Node, place: int) -> str:
    child = into.children[place]
    before = child.start - (len(text[: child.start]) - len(text[: child.start].rstrip(" \t\r\n")))
    if child.comma is None:
        comma = into.children[place - 1].comma if place else None
        if comma is None:
            return text[:before] + text[child.end :]
        return text[:comma] + text[comma + 1 : before] + text[child.end :]
    until = child.comma + 1
    if text[child.end : child.comma].strip():
        return text[:before] + text[child.end : child.comma] + text[until:]
    if place == 0 and len(into.children) > 1 and not text[until : into.children[1].start].strip():
        return text[: child.start] + text[into.children[1].start :]
    return text[:before] + text[until:]


def _plain_without(node: Node, route: Sequence[int]) -> object:
    rows = [
        (
            child.key,
            _plain_without(child.node, route[1:]) if place == route[0] else with_comments.plain(child.node),
        )
        for place, child in enumerate(node.children)
        if place != route[0] or len(route) > 1
    ]
    return (node.kind, rows)
