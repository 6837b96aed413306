"""A table for agentplane at the end of a TOML file that people write.

The table is identified by the command it runs. Before a write, the old and the new file are parsed. They must
be equal except for agentplane's table.

The text is cut here by hand because tomlkit doesn't give back the bytes from before. Removing a table with
tomlkit also removes the comments that follow it and leaves the empty line that was added before it. A list of
tables with another table in between is written in another order.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from agentplane.text.toml import limited


MADE = "# Made by `agentplane tools connect`.\n"
"""The first line of a file that was made for the table. Such a file is removed with the table."""


_TRIES = 50
"""Maximum number of lines to try that look like the table's header. Each try parses the whole text."""


class NotToml(ValueError):
    """The reason a text is invalid TOML, or can't take agentplane's table."""


def read(text: str) -> dict[str, Any]:
    try:
        return limited.read(text, parse_float=str)
    except limited.TomlError as error:
        place = f" (line {error.line})" if error.line else ""
        raise NotToml(f"isn't valid TOML: {error.what[:80]}{place}") from error


def at(data: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Return the value at a path, or None if it is missing."""
    found: Any = data
    for key in path:
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found


def put(text: str | None, path: Sequence[str], value: Mapping[str, object]) -> str:
    """Return the text with a table at its end. A text without a final newline still has none."""
    old = MADE if text is None else text
    newline = "\r\n" if old.count("\r\n") * 2 > old.count("\n") else "\n"
    table = newline.join(
        [f"[{'.'.join(path)}]", *(f"{key} = {_written(item)}" for key, item in value.items())]
    )
    if old and not old.endswith("\n"):
        made = old + newline * 2 + table
    else:
        made = (old and old + newline) + table + newline
    wanted = dict(value)
    for key in reversed(path):
        wanted = {key: wanted}
    if _read_if(made) != _merged(read(old), wanted):
        raise NotToml(f"has other content where agentplane would add the table `{'.'.join(path)}`")
    return made


def remove(text: str, path: Sequence[str]) -> str | None:
    """Return the text without the table at a path, or None if it was made for the table alone."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    header = re.compile(r"[ \t]*\[[ \t]*" + r"[ \t]*\.[ \t]*".join(map(_key, path)) + r"[ \t]*\]")
    wanted = _bare(_without(read(text), path), path)
    # A line that looks like the header may be part of a string. Then the parsed rest differs.
    places = (begin for begin in reversed(range(len(lines))) if header.match(lines[begin]))
    for begin in islice(places, _TRIES):
        rest = _cut(lines, begin)
        if _bare(_read_if(rest), path) == wanted:
            return None if rest.replace("\r\n", "\n") == MADE else rest
    raise NotToml(f"defines `{'.'.join(path)}` in a form that agentplane can't edit")


def _cut(lines: list[str], begin: int) -> str:
    """Return the text without the table that begins on a line, and without the gap before it."""
    end = next((place for place in range(begin + 1, len(lines)) if lines[place].startswith("[")), len(lines))
    while end > begin + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    before, after = "".join(lines[:begin]), "".join(lines[end:])
    gap = 1 if lines[end - 1].endswith("\n") else 2
    for _ in range(gap if before else 0):
        before = before.removesuffix("\n").removesuffix("\r")
    return before + after


def _read_if(text: str) -> dict[str, Any] | None:
    try:
        return read(text)
    except NotToml:
        return None


def _key(name: str) -> str:
    return f'(?:{re.escape(name)}|"{re.escape(name)}")'


def _written(value: object) -> str:
    """Return a value as TOML. Strings and lists of strings that agentplane writes are the same in JSON."""
    return json.dumps(value)


def _merged(data: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(data)
    for key, value in more.items():
        inner = found.get(key)
        found[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return found


def _without(data: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    return {**data, path[0]: _without(data[path[0]], path[1:])}


def _bare(data: Mapping[str, Any] | None, path: Sequence[str]) -> Mapping[str, Any] | None:
    """Return the data without empty tables on the path, whose headers make no difference."""
    if data is None or len(path) < 2 or not isinstance(data.get(path[0]), dict):
        return data
    inner = _bare(data[path[0]], path[1:])
    return (
        {**data, path[0]: inner} if inner else {key: value for key, value in data.items() if key != path[0]}
    )
