"""Functions to check, add and remove agentplane's entries in a settings file that people write.

An entry is agentplane's if it runs agentplane, wherever it is and whatever text surrounds it. An entry is
only added if removing it would restore the file to the byte.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from agentplane.text.json import splice, with_comments
from agentplane.text.json.with_comments import Node
from agentplane.tools.settings_file import toml_table
from agentplane.tools.settings_file.desired import NAME, Place, Want


State = Literal["current", "old", "absent"]

_HOOK = re.compile(
    rf"(?:command -v {NAME} >/dev/null 2>&1 && )?(?P<path>\S*/)?{NAME} hook [a-z-]+(?: --?[\w-]+(?:[ =][\w./-]+)?)*(?: \|\| true)?"
)
"""A command that agentplane wrote and nothing else. A command with a person's additions is never removed."""
_MCP = re.compile(rf"^(?:\S*/)?{NAME} mcp\b")
_RUNS = ("command", "bash", "powershell")


class UnfitError(Exception):
    """The reason agentplane's entries can't be added to a file or removed from it."""


def state(data: bytes | None, place: Place) -> State:
    """Return the state of agentplane's entries in a file."""
    if data is None:
        return "absent"
    if put(data, place) == data:
        return "current"
    return "old" if without(data, [place]) != data else "absent"


def put(data: bytes | None, place: Place) -> bytes:
    """Return the file with agentplane's entries. The bytes stay the same if the file already has them."""
    made = _in_toml(data, place) if place.toml else _in_json(data, place)
    if made != data and without(made, [place]) != (None if data is None else without(data, [place])):
        raise UnfitError("is formatted in a way that agentplane couldn't restore exactly")
    return made


def without(data: bytes, places: Sequence[Place]) -> bytes | None:
    """Return the file without agentplane's entries, or None if it was made for them and has nothing else."""
    text: str | None = _text(data)
    if text is None or not re.search(NAME, text):
        return data
    for place in places:
        text = None if text is None else _out_of(text, place)
    return None if text is None else text.encode()


def is_called(data: bytes, places: Sequence[Place]) -> bool:
    """True if a hook that a person wrote calls agentplane. Its command does more than that, so it stays."""
    text, call = data.decode(errors="replace"), re.compile(rf"(?<![\w.-]){NAME} hook [a-z-]")
    if not call.search(text) or not any(place.part == "hooks" for place in places):
        return False
    try:
        return any(call.search(node.text) for node, _ in _runs(with_comments.parse(text), ()))
    except with_comments.BadJson:
        return False


def by_hand(place: Place) -> str:
    """Return the text for a person to add to a file that agentplane may not write."""
    return put(None, place).decode()


def _out_of(text: str, place: Place) -> str | None:
    try:
        return _out_of_toml(text, place) if place.toml else _out_of_json(text, place)
    except (with_comments.BadJson, splice.NotPlain, toml_table.NotToml) as error:
        raise UnfitError(_reason(error)) from error


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnfitError("is not UTF-8") from error


def _reason(error: ValueError) -> str:
    return f"isn't valid JSON: {error}" if isinstance(error, with_comments.BadJson) else str(error)


def _in_json(data: bytes | None, place: Place) -> bytes:
    if data is None:
        return _new(place).encode()
    text = _text(data)
    try:
        for want in place.wants:
            text = _with(text, want)
    except (with_comments.BadJson, splice.NotPlain) as error:
        raise UnfitError(_reason(error)) from error
    return text.encode()


def _new(place: Place) -> str:
    tree: dict[str, Any] = {}
    for want in place.wants:
        node = tree
        for key in want.under if want.key else want.under[:-1]:
            node = node.setdefault(key, {})
        if want.key:
            node[want.key] = want.value
        else:
            node.setdefault(want.under[-1], []).append(want.value)
    if place.version is not None:
        tree["version"] = place.version
    return splice.on_lines(tree, "", "  ", "\n") + "\n"


def _with(text: str, want: Want) -> str:
    root = with_comments.parse(text)
    if root.kind != "object":
        raise splice.NotPlain("has no JSON object at the top level")
    around = splice.node_at(root, want.under)
    old = None if around is None else _outdated(around, want)
    if old is not None:
        node, value = old
        return text if node is None else splice.replace(text, node, value)
    if want.key and around is not None and splice.node_at(around, (want.key,)) is not None:
        raise splice.NotPlain(f"already has a different MCP server named `{want.key}`")
    return splice.put(text, want.under, want.key, want.value)


def _outdated(around: Node, want: Want) -> tuple[Node | None, object] | None:
    """Return the outdated node of agentplane's entry and its new value.

    The node is None if the entry is current. The result is None if there is no entry.
    """
    if want.key:
        for child in around.children:
            if _MCP.match(_words(child.node)):
                return _mcp_outdated(child.node, want)
        return None
    sign = re.compile(rf"(?<![\w.-]){re.escape(want.says)}(?![\w-])")
    wanted = next(text for text in _strings(want.value) if sign.search(text))
    for node, _ in _runs(around, ()):
        if sign.search(node.text):
            ours = _HOOK.fullmatch(node.text)
            return (node if node.text != wanted and ours and not ours["path"] else None), wanted
    return None


def _mcp_outdated(node: Node, want: Want) -> tuple[Node | None, object] | None:
    if _words(node).split("/")[-1].startswith(want.says):
        return None, None
    key = "args" if "args" in want.value else "command"
    child = node.child(key)
    return None if child is None else (child.node, want.value[key])


def _out_of_json(text: str, place: Place) -> str | None:
    left = {} if place.version is None else {"version": place.version}
    done: str | None = text
    while done is not None:
        route = _last_of_ours(with_comments.parse(done), place)
        if route is None:
            return done
        done = splice.remove(done, route, left)
    return None


def _last_of_ours(root: Node, place: Place) -> tuple[int, ...] | None:
    """Return the route to the last of agentplane's entries, as the node to remove."""
    around: Node = root
    route: tuple[int, ...] = ()
    for key in place.under:
        found = [number for number, child in enumerate(around.children) if child.key == key]
        if around.kind != "object" or len(found) != 1:
            return None
        around, route = around.children[found[0]].node, (*route, found[0])
    if place.part == "mcp":
        ours = [number for number, child in enumerate(around.children) if _MCP.match(_words(child.node))]
        return (*route, ours[-1]) if ours and around.kind == "object" else None
    found_at = [where for node, where in _runs(around, ()) if _HOOK.fullmatch(node.text)]
    return (*route, *_whole(around, found_at)) if found_at else None


def _whole(around: Node, found: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the route to the list item of the last command, or to its group if all of it is agentplane's."""
    where = found[-1]
    chain = [around]
    for place in where:
        chain.append(chain[-1].children[place].node)
    items = [depth for depth in range(len(where), 0, -1) if chain[depth - 1].kind == "array"]
    if not items:
        return where[:1]
    inner = items[0]
    if len(items) > 1 and items[1] == inner - 2:
        siblings = {route[inner - 1] for route in found if route[: inner - 1] == where[: inner - 1]}
        if len(siblings) == len(chain[inner - 1].children):
            return where[: inner - 2]
    return where[:inner]


def _runs(node: Node, route: tuple[int, ...]) -> Iterator[tuple[Node, tuple[int, ...]]]:
    """Yield the commands below a node, in order, each with its route."""
    for place, child in enumerate(node.children):
        if child.key in _RUNS and child.node.kind == "string":
            yield child.node, (*route, place)
        else:
            yield from _runs(child.node, (*route, place))


def _words(node: Node) -> str:
    """Return the command line of an MCP server's entry."""
    if node.kind != "object":
        return ""
    found = [child.node for key in ("command", "args") if (child := node.child(key))]
    return " ".join(
        part.text for one in found for part in (one, *(child.node for child in one.children)) if part.text
    )


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _in_toml(data: bytes | None, place: Place) -> bytes:
    (want,) = place.wants
    path = (*want.under, want.key or NAME)
    try:
        if data is None:
            return toml_table.put(None, path, want.value).encode()
        text = _text(data)
        there = toml_table.at(toml_table.read(text), want.under)
        ours = _toml_ours(there)
        if ours is not None and there[ours].get("args") == want.value["args"]:
            return data
        if ours is not None:
            rest = toml_table.remove(text, (*want.under, ours))
            text = toml_table.MADE if rest is None else rest
        elif isinstance(there, Mapping) and want.key in there:
            raise UnfitError(f"already has a different MCP server named `{want.key}`")
        return toml_table.put(text, path, want.value).encode()
    except toml_table.NotToml as error:
        raise UnfitError(_reason(error)) from error


def _out_of_toml(text: str, place: Place) -> str | None:
    ours = _toml_ours(toml_table.at(toml_table.read(text), place.under))
    return text if ours is None else toml_table.remove(text, (*place.under, ours))


def _toml_ours(servers: object) -> str | None:
    """Return the name of agentplane's server, or None if it isn't configured."""
    for name, entry in servers.items() if isinstance(servers, Mapping) else ():
        if isinstance(entry, Mapping):
            args = entry.get("args")
            words = [entry.get("command"), *(args if isinstance(args, list) else [])]
            if _MCP.match(" ".join(word for word in words if isinstance(word, str))):
                return str(name)
    return None
