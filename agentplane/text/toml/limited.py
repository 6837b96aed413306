"""Reading TOML within fixed limits. The parser's time and memory grow with the square of the dots in a key."""

import re
import tomllib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from tomlkit import TOMLDocument


LARGEST = 1 << 18
"""Characters of a text. 64 KiB of dots cost the parser 8 s and 3.5 GB."""
LONGEST_KEY = 32
"""Parts of a dotted key."""
DEEPEST = 32
"""Brackets and braces inside of one another."""
LARGEST_EDITED = 1 << 16
"""Characters of a text that is edited. tomlkit takes 5 s for 1 MiB of short tables, tomllib 0.7 s."""
LONGEST_EDITED_KEY = 8
"""Parts of a dotted key in a text that is edited. 800 keys of 16 parts cost tomlkit 20 s."""
MOST_EDITED_DOTS = 2_000
"""Dots outside of strings in a text that is edited."""

# An unclosed string is one token to the end of the text, so each character is looked at once.
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\\?\Z)'
    r"|'''(?:.*?)(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
    r"|[\[{]|[\]}]"
    r"|[A-Za-z0-9_-]++"
    r"|\.|[ \t]++|\n|.",
    re.DOTALL,
)


class TomlError(ValueError):
    """A text that is no TOML, or that is over a limit."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


def read(text: str, parse_float: Callable[[str], Any] = float, largest: int = LARGEST) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises TomlError, with the line where that is known."""
    if len(text) > largest:
        raise TomlError(f"is larger than {largest >> 10} KiB")
    _check(text)
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        what = str(error)[: place.start()] if place else str(error)
        raise TomlError(what[:1].lower() + what[1:], int(place[1]) if place else None) from None
    except RecursionError:
        raise TomlError("is nested too deeply") from None
    except ValueError as error:  # a whole number with too many digits
        raise TomlError(str(error)[:80].lower()) from None


def tree(text: str) -> "TOMLDocument":
    """Return the text as a document to edit, which keeps every byte. Raises TomlError.

    tomlkit is many times slower than tomllib, so it has limits of its own, and only an edit loads it.
    """
    from tomlkit import parse
    from tomlkit.exceptions import TOMLKitError

    read(text, largest=LARGEST_EDITED)
    _check(text, LONGEST_EDITED_KEY, MOST_EDITED_DOTS)
    try:
        document = parse(text)
        kept = document.as_string() == text
    except (TOMLKitError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise TomlError(f"can't be edited: {error}"[:80]) from None
    if not kept:
        raise TomlError("can't be edited without changing other bytes")
    return document


def _check(text: str, longest_key: int = LONGEST_KEY, most_dots: int = LARGEST) -> None:
    """Look at the tokens alone, before the parser does its work."""
    if text.count(".") <= longest_key and text.count("[") + text.count("{") <= DEEPEST:
        return
    line, depth, parts, dots = 1, 0, 0, 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        first = token[0]
        if first == ".":
            parts += 1
            dots += 1
            if parts > longest_key:
                raise TomlError(f"a key has more than {longest_key} parts", line)
            if dots > most_dots:
                raise TomlError(f"has more than {most_dots} dots outside of strings", line)
        elif first in "[{":
            depth += 1
            if depth > DEEPEST:
                raise TomlError(f"is nested more than {DEEPEST} deep", line)
        elif first in "]}":
            depth = max(0, depth - 1)
        if first in ",=[]{}#\n":
            parts = 0
        line += token.count("\n")
