"""Writes one key of a TOML text, and no other byte.

The places where it may stand are tried in turn. Whether one was right is seen by reading the text again: apart from this
key it has to say the same as before.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from agentplane.text import toml_text


_TRIES = 50
"""Places where the key may stand. Each one costs reading the whole text."""


class NoPlace(ValueError):
    """The key stands there in a form of its own."""


def put(text: str, table: str, key: str, value: str) -> str:
    """The text with a string under a key of a table."""
    data = _read(text)
    before = data.get(table, {})
    if not isinstance(before, dict):
        raise NoPlace(f"`{table}` is no table")
    if before.get(key) == value:
        return text
    wanted = {**data, table: {**before, key: value}}
    for made in _ways(text, table, key, json.dumps(value)):
        if _read_if(made) == wanted:
            return made
    raise NoPlace(f"`{table}.{key}` stands there in a form of its own")


def _ways(text: str, table: str, key: str, written: str) -> Iterator[str]:
    """In place of the value, or below the table's header, or beside its other keys, or as a table at the end."""
    value = re.finditer(rf"""\b{re.escape(key)}["']?[ \t]*=[ \t]*("[^"\r\n]*"|'[^'\r\n]*')""", text)
    for found in islice(value, _TRIES):
        yield text[: found.start(1)] + written + text[found.end(1) :]
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    header = re.finditer(
        rf"""(?m)^[ \t]*\[[ \t]*["']?{re.escape(table)}["']?[ \t]*\][^\r\n]*(\r?\n|\Z)""", text
    )
    for found in islice(header, _TRIES):
        end = "" if found[1] else newline
        yield f"{text[: found.end()]}{end}{key} = {written}{newline}{text[found.end() :]}"
    for found in islice(re.finditer(rf"(?m)^[ \t]*{re.escape(table)}[ \t]*\.", text), _TRIES):
        yield f"{text[: found.start()]}{table}.{key} = {written}{newline}{text[found.start() :]}"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    yield f"{text}{gap}[{table}]{newline}{key} = {written}{newline}"


def _read(text: str) -> dict[str, Any]:
    return toml_text.read(text, parse_float=str)


def _read_if(text: str) -> dict[str, Any] | None:
    try:
        return _read(text)
    except toml_text.TomlError:
        return None
