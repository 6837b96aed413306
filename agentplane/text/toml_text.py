"""Reading TOML within fixed limits. The parser's time and memory grow with the square of the dots in a key."""

import re
import tomllib
from collections.abc import Callable
from typing import Any


LARGEST = 1 << 18
"""Characters of a text. 64 KiB of dots cost the parser 8 s and 3.5 GB."""
LONGEST_KEY = 32
"""Parts of a dotted key."""
DEEPEST = 32
"""Brackets and braces inside of one another."""

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


def _check(text: str) -> None:
    """Look at the tokens alone, before the parser does its work."""
    if text.count(".") <= LONGEST_KEY and text.count("[") + text.count("{") <= DEEPEST:
        return
    line, depth, parts = 1, 0, 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        first = token[0]
        if first == ".":
            parts += 1
            if parts > LONGEST_KEY:
                raise TomlError(f"a key has more than {LONGEST_KEY} parts", line)
        elif first in "[{":
            depth += 1
            if depth > DEEPEST:
                raise TomlError(f"is nested more than {DEEPEST} deep", line)
        elif first in "]}":
            depth = max(0, depth - 1)
        if first in ",=[]{}#\n":
            parts = 0
        line += token.count("\n")
