"""Set or remove one key of a TOML text without changing any other byte.

tomlkit finds the place and keeps the layout. Its result is used only if it reads correctly and differs from
the text in one place.
"""

import json
import re
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from agentplane.text.toml import limited


if TYPE_CHECKING:
    from tomlkit import TOMLDocument


Value = bool | int | float | str | Sequence[str]


class NoPlace(ValueError):
    """The error for a key in a form that can't be changed."""


def put(text: str, table: str, key: str, value: Value) -> str:
    """Return the text with a value under a key of a table."""
    data, before = _tables(text, table)
    written = json.dumps(value, ensure_ascii=False)
    found = limited.read(f"value = {written}", parse_float=str)["value"]
    if key in before and before[key] == found:
        return text
    newline = _newline(text)
    if table in data:
        made, old = _edited(text, table, key, value, newline)
    else:
        made, old = text + _new_table(text, f"[{table}]{newline}{key} = {written}{newline}", newline), ""
    wanted = {**data, table: {**before, key: found}}
    if _read_if(made) != wanted or not _differs_in_one_place(text, made, old):
        raise _no_place(table, key)
    return made


def drop(text: str, table: str, key: str) -> str:
    """Return the text without a key of a table. A comment in the same line stays, in a line of its own."""
    data, before = _tables(text, table)
    if key not in before:
        return text
    wanted = {**data, table: {name: value for name, value in before.items() if name != key}}
    name = rf"(?:{re.escape(table)}[ \t]*\.[ \t]*)?[\"']?{re.escape(key)}[\"']?[ \t]*="
    for found in re.finditer(rf"^[ \t]*{name}", text, re.MULTILINE):
        end = _end_of_pair(text, found.start())
        if end is None or _has_comment(text[found.start() : end]):
            continue
        # A comment after the value stays, with the end of its line.
        rest = text[end:] if text.startswith("#", end) else re.sub(r"\A\r?\n", "", text[end:])
        made = text[: found.start()] + rest
        if {table: {}, **(_read_if(made) or {})} == wanted:
            return made
    raise _no_place(table, key)


_MOST_ENDS = 200
"""Maximum number of places at which the value of a key is searched for its end."""


def _end_of_pair(text: str, start: int) -> int | None:
    """Return where a key and its value end: at a comment, at the end of a line or of the text. None if unknown."""
    ends = (found.start() for found in re.finditer(r"#|\r?\n|\Z", text[start:]))
    return next(
        (start + end for end in islice(ends, _MOST_ENDS) if _read_if(text[start : start + end])), None
    )


def _tables(text: str, table: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values in a text, and those in one of its tables."""
    data = limited.read(text, parse_float=str)
    before = data.get(table, {})
    if not isinstance(before, dict):
        raise NoPlace(f"`{table}` isn't a table")
    return data, before


def _no_place(table: str, key: str) -> NoPlace:
    return NoPlace(f"`{table}.{key}` is written in a form that agentplane can't edit")


def _newline(text: str) -> str:
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def _has_comment(value: str) -> bool:
    """True if a value as it is written may contain a comment. Only a value of several lines can."""
    return "\n" in value and "#" in value


def _new_table(text: str, written: str, newline: str) -> str:
    """Return a text that adds a table at the end, after an empty line."""
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return gap + written


def _edited(text: str, table: str, key: str, value: Value, newline: str) -> tuple[str, str]:
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


def _set(document: "TOMLDocument", table: str, key: str, value: Value, newline: str) -> str:
    import tomlkit
    from tomlkit.items import Item, Table

    found: Any = document[table]
    if key in found:
        # tomlkit returns a bool without its layout, unlike other values.
        item = found[key] if isinstance(found[key], Item) else found.value.item(key)
        old: str = item.as_string()
        if _has_comment(old):
            raise LookupError("its value contains a comment")
        found[key] = _plain(value)
        return old
    item = tomlkit.item(_plain(value))
    if not isinstance(found, Table):
        found[key] = item
        return ""
    # If it were appended, the key would come after a comment that belongs to the next table.
    item.trivia.trail = newline
    if not found.trivia.trail.endswith("\n"):
        found.trivia.trail += newline
    found.value.body.insert(0, (tomlkit.key(key), item))
    return ""


def _plain(value: Value) -> Value:
    return list(value) if isinstance(value, tuple) else value


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
