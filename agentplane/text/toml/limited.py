"""Reading TOML within fixed limits.

The parser's time and memory grow with the square of the dots in a key.
"""

import re
import tomllib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from tomlkit import TOMLDocument


LARGEST = 1 << 18
"""Maximum characters of a text. 64 KiB of dots cost the parser 8 s and 3.5 GB."""
LONGEST_KEY = 32
"""Maximum parts of a dotted key."""
DEEPEST = 32
"""Maximum depth of nested brackets and braces."""
LARGEST_EDITED = 1 << 16
"""Maximum characters of a text to edit. tomlkit takes 5 s for 1 MiB of short tables, tomllib 0.7 s."""
LONGEST_EDITED_KEY = 8
"""Maximum parts of a dotted key in a text to edit. 800 keys of 16 parts cost tomlkit 20 s."""
MOST_EDITED_DOTS = 2_000
"""Maximum dots outside strings in a text to edit."""

# An unclosed string is one token to the end of the text, so each character is read once.
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


_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class TomlError(ValueError):
    """The error for a text that is not TOML or exceeds a limit."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


def read(text: str, parse_float: Callable[[str], Any] = float, largest: int = LARGEST) -> dict[str, Any]:
    """Return the tables of a TOML text. Raise TomlError, with the line if it is known."""
    if len(text) > largest:
        raise TomlError(f"the text is larger than {largest >> 10} KiB")
    _check(text)
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        what = str(error)[: place.start()] if place else str(error)
        # Without a number, the text ends in the middle of a value.
        line = (int(place[1]) if place[1] else len(text.rstrip().split("\n"))) if place else None
        raise TomlError(what[:1].lower() + what[1:], line) from None
    except RecursionError:
        raise TomlError("the text is nested too deeply") from None
    except ValueError as error:  # an integer with too many digits
        raise TomlError(str(error)[:80].lower()) from None


def tree(text: str) -> "TOMLDocument":
    """Return the text as a document to edit, which keeps every byte. Raise TomlError if that fails.

    tomlkit is many times slower than tomllib, so it has its own limits, and only an edit loads it.
    """
    from tomlkit import parse
    from tomlkit.exceptions import TOMLKitError

    read(text, largest=LARGEST_EDITED)
    _check(text, LONGEST_EDITED_KEY, MOST_EDITED_DOTS)
    try:
        document = parse(text)
        is_unchanged = document.as_string() == text
    except (TOMLKitError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise TomlError(f"the text can't be edited: {error}"[:80]) from None
    if not is_unchanged:
        raise TomlError("the text can't be edited without changing other parts of the file")
    return document


def _check(text: str, longest_key: int = LONGEST_KEY, most_dots: int = LARGEST) -> None:
    """Check the limits on the tokens alone, before the parser runs."""
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
                raise TomlError(f"the text has more than {most_dots} dots outside of strings", line)
        elif first in "[{":
            depth += 1
            if depth > DEEPEST:
                raise TomlError(f"the text has more than {DEEPEST} levels of nesting", line)
        elif first in "]}":
            depth = max(0, depth - 1)
        if first in ",=[]{}#\n":
            parts = 0
        line += token.count("\n")
