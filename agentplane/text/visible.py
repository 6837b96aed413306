"""Text from other people, made safe to display.

Characters that are invisible or that could control a terminal are spelled out.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence

import msgspec


PLAIN_TERMINALS = ("linux", "dumb", "vt100", "vt220")
"""The values of `TERM` for terminals that can only draw plain characters."""


class Hidden(msgspec.Struct, frozen=True):
    """A character that a reader would not see, or that changes how other characters are displayed."""

    offset: int
    """Offset in characters, not in bytes."""
    char: str
    name: str


# These are fixed ranges instead of unicodedata's categories, so that every Python gives the same answer.
_RANGES = (
    (0x00, 0x08, "control character"),
    (0x0B, 0x0C, "control character"),
    (0x0D, 0x0D, "lone carriage return"),
    (0x0E, 0x1F, "control character"),
    (0x7F, 0x9F, "control character"),
    (0xAD, 0xAD, "soft hyphen"),
    (0x034F, 0x034F, "invisible joiner"),
    (0x061C, 0x061C, "direction control"),
    (0x115F, 0x1160, "invisible letter"),
    (0x17B4, 0x17B5, "invisible letter"),
    (0x180B, 0x180F, "variation selector"),
    (0x200B, 0x200D, "zero-width character"),
    (0x200E, 0x200F, "direction control"),
    (0x2028, 0x2029, "line separator"),
    (0x202A, 0x202E, "direction control"),
    (0x2060, 0x2065, "zero-width character"),
    (0x2066, 0x2069, "direction control"),
    (0x206A, 0x206F, "format control"),
    (0x3164, 0x3164, "invisible letter"),
    (0xD800, 0xDFFF, "half of a surrogate pair"),
    (0xE000, 0xF8FF, "private character"),
    (0xFDD0, 0xFDEF, "noncharacter"),
    (0xFE00, 0xFE0F, "variation selector"),
    (0xFEFF, 0xFEFF, "zero-width character"),
    (0xFFA0, 0xFFA0, "invisible letter"),
    (0xFFF0, 0xFFFB, "format control"),
    (0xFFFE, 0xFFFF, "noncharacter"),
    (0x1BCA0, 0x1BCA3, "format control"),
    (0x1D173, 0x1D17A, "format control"),
    *((plane + 0xFFFE, plane + 0xFFFF, "noncharacter") for plane in range(0x10000, 0xF0000, 0x10000)),
    (0xE0000, 0xE007F, "tag"),
    (0xE0080, 0xE00FF, "invisible character"),
    (0xE0100, 0xE01EF, "variation selector"),
    (0xE01F0, 0xE0FFF, "invisible character"),
    (0xF0000, 0x10FFFF, "private character"),
)


def _class(*ranges: tuple[int, int]) -> str:
    return "[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges) + "]"


_EMOJI = _class(
    (0xA9, 0xA9),
    (0xAE, 0xAE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2194, 0x21AA),
    (0x231A, 0x23FF),
    (0x24C2, 0x24C2),
    (0x25AA, 0x25FE),
    (0x2600, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B55),
    (0x3030, 0x303D),
    (0x3297, 0x3299),
    (0x1F000, 0x1FAFF),
)
# Characters that keep an emoji together are not hidden. These are a presentation selector after it, a joiner
# between two, and a keycap.
_ALWAYS_VISIBLE = (
    rf"(?<={_EMOJI})[\ufe0e\ufe0f]"
    rf"|(?:(?<={_EMOJI})|(?<={_EMOJI}\ufe0f))\u200d(?={_EMOJI})"
    r"|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    r"|\r(?=\n)"
)
_HIDDEN = re.compile(f"(?!{_ALWAYS_VISIBLE}){_class(*((first, last) for first, last, _ in _RANGES))}")
_ODD = re.compile(r"[^\n\t\x20-\x7e]")
_SELECTOR = "\ufe0f"
_JOINER = "\u200d"
_CONTROLS = {
    0x00: "null",
    0x07: "bell",
    0x08: "backspace",
    0x1B: "escape",
    0x7F: "delete",
    0x9B: "control sequence",
}


def visible(text: str) -> str:
    """Return the text with a mark such as `<U+202E>` in place of each hidden character.

    Line ends and tabs stay.
    """
    if not _ODD.search(text):
        return text
    return _HIDDEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def replaced(text: str, by: Callable[[str], str]) -> str:
    """Return the text with each hidden character replaced by the result of `by`."""
    if not _ODD.search(text):
        return text
    return _HIDDEN.sub(lambda found: by(found[0]), text)


def hidden(text: str) -> tuple[Hidden, ...]:
    if not _ODD.search(text):
        return ()
    found = _HIDDEN.finditer(text)
    return tuple(Hidden(offset=hit.start(), char=hit[0], name=_name(hit[0])) for hit in found)


def one_line(text: str, width: int | None = None) -> str:
    """Return the visible text on one line, cut to `width` cells of a terminal."""
    line = " ".join(visible(text).split())
    if width is None or (len(line) <= width and line.isascii()):
        return line
    return _cut(line, width)


def listed(names: Sequence[str], most: int) -> str:
    """Return short names with commas. Only the first ones are named, and the others are counted."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(one_line(name, 40) for name in names[:most]) + more


def is_encodable(text: str) -> bool:
    """True if a text has no unpaired surrogate, so that it can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def padded(text: str, width: int) -> str:
    """Return one line that fills `width` cells. A longer line is cut."""
    line = one_line(text, width)
    return line + " " * (width - cells(line))


def cells(line: str) -> int:
    """Return the number of terminal cells that a line takes."""
    return len(line) if line.isascii() else sum(_cells(line, at) for at in range(len(line)))


def _name(char: str) -> str:
    code = ord(char)
    kind = next(name for first, last, name in _RANGES if first <= code <= last)
    return _CONTROLS.get(code) or unicodedata.name(char, kind).lower()


def _cut(line: str, width: int) -> str:
    if width < 1:
        return ""
    used = fitting = 0
    for at, char in enumerate(line):
        used += _cells(line, at)
        if used > width:
            return line[:fitting].rstrip(f" {_JOINER}") + "…"
        # A character without a cell belongs to the character before it and stays with it.
        if used < width and char != _JOINER:
            fitting = at + 1
    return line


def _cells(line: str, at: int) -> int:
    """Return the cells of a character. If terminals disagree, the wider value counts."""
    char = line[at]
    if char == _SELECTOR:
        return 2 - _cells(line, at - 1) if at else 0
    if char == _JOINER or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
