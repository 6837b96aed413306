"""Set one key of a TOML text without changing any other byte.

tomlkit finds the place and keeps the layout. Its result is used only if it reads correctly and differs from
the text in one place.
"""

import json
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from agentplane.text.toml import limited


if TYPE_CHECKING:
    from tomlkit import TOMLDocument


class NoPlace(ValueError):
    """The error for a key in a form that can't be changed."""


def put(text: str, table: str, key: str, value: str) -> str:
    """Return the text with a string under a key of a table."""
    data = limited.read(text, parse_float=str)
    before = data.get(table, {})
    if not isinstance(before, dict):
        raise NoPlace(f"`{table}` isn't a table")
    if before.get(key) == value:
        return text
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    if table in data:
        made, old = _edited(text, table, key, value, newline)
    else:
        made, old = (
            text + _new_table(text, f"[{table}]{newline}{key} = {json.dumps(value)}{newline}", newline),
            "",
        )
    wanted = {**data, table: {**before, key: value}}
    if _read_if(made) != wanted or not _differs_in_one_place(text, made, old):
        raise NoPlace(f"`{table}.{key}` is in a form that can't be changed")
    return made


def _new_table(text: str, written: str, newline: str) -> str:
    """Return a text that adds a table at the end, after an empty line."""
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return gap + written


def _edited(text: str, table: str, key: str, value: str, newline: str) -> tuple[str, str]:
    """Return the text with the value, and the old value.

    The value replaces the old one, or comes directly below the table's header.
    """
    from tomlkit.exceptions import TOMLKitError

    try:
        document = limited.tree(text)
        old = _set(document, table, key, value, newline)
        return document.as_string(), old
    except (TOMLKitError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise NoPlace(f"`{table}.{key}` can't be changed: {error}") from None


def _set(document: "TOMLDocument", table: str, key: str, value: str, newline: str) -> str:
    import tomlkit
    from tomlkit.items import Table

    found: Any = document[table]
    if key in found:
        old: str = found[key].as_string()
        found[key] = value
        return old
    item = tomlkit.item(value)
    if not isinstance(found, Table):
        found[key] = item
        return ""
    # If it were appended, the key would come after a comment that belongs to the next table.
    item.trivia.trail = newline
    if not found.trivia.trail.endswith("\n"):
        found.trivia.trail += newline
    found.value.body.insert(0, (tomlkit.key(key), item))
    return ""


def _differs_in_one_place(text: str, made: str, old: str) -> bool:
    """True if the text lost only the old value, in one piece."""
    start = _shared(text, made)
    rest, new = text[start:], made[start:]
    end = _shared(rest[::-1], new[::-1])
    return rest[: len(rest) - end] in old


def _shared(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _read_if(made: str) -> dict[str, Any] | None:
    try:
        return limited.read(made, parse_float=str)
    except limited.TomlError:
        return None
