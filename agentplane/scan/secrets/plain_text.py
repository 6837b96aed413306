r"""Plain readings of a text, with a mapping from each character to its place in the original.

A token in color, in full-width letters, with an invisible character in it, with `%40` or `&quot;` or `\\n` in
it, or wrapped onto the next line is still a token. So the rules search the plain text, and their matches are
masked in the original.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from html import unescape
from urllib.parse import unquote

import msgspec


Hit = tuple[int, int, str, bool]
"""The start, the end, the kind, and True if it is certain."""


class Plain(msgspec.Struct, frozen=True):
    """A plain reading of a text.

    Each piece has its start `here` in the plain text, and its start `there` and length in the original.
    `same` is True if it has that length in both.
    """

    text: str
    here: list[int]
    there: list[int]
    long: list[int]
    same: list[bool]

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of the characters from `start` to `end`."""
        first, last = bisect_right(self.here, start) - 1, bisect_right(self.here, max(start, end - 1)) - 1
        begin = self.there[first] + (start - self.here[first] if self.same[first] else 0)
        if self.same[last]:
            return begin, self.there[last] + end - self.here[last]
        return begin, self.there[last] + self.long[last]


_STEERING = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
_UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# NFKC turns these into ASCII letters, digits and signs. Other quotes and blanks count as plain ones.
_WIDE = "[\u00a0\u2000-\u200a\u202f\u205f\u3000\u2018-\u201f\u02bc\uff01-\uff5e\u2460-\u24ff\u2070-\u209c\u2100-\u214f\U0001d400-\U0001d7ff]"
_SCRIPTS = "A-Za-z\u0370-\u03ff\u0400-\u052f"
_MIXED = rf"(?<![{_SCRIPTS}])(?=[A-Za-z]*[\u0370-\u052f])(?=[\u0370-\u052f]*[A-Za-z])[{_SCRIPTS}]{{3,60}}"
_ODD = re.compile(f"{_STEERING}|{_UNSEEN}|{_WIDE}|{_MIXED}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_TWINS = str.maketrans(
    "асеһіјӏорԛѕԝхуАВСЕНІЈКМОРЅТХУνοΑΒΕΗΙΚΜΝΟΡΤΥΧΖԁɡ", "acehijlopqswxyABCEHIJKMOPSTXYvoABEHIKMNOPTYXZdg"
)
_SIGNS = {"\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u02bc": "'",
          "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"'}  # fmt: skip

_ESCAPED = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|&(?:quot|amp|lt|gt|apos|nbsp|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});|"
    r"\\{1,15}(?:[\"'/nrt]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})"
)
_LETTERS = {"n": "\n", "r": "\n", "t": "\t"}
_WRAP = re.compile(r"(?<=[0-9A-Za-z_.+/-])(?:[\\=]?\n[ \t>|+]{0,12})(?=[0-9A-Za-z_.+/-])")


def plain(text: str) -> Plain | None:
    """Return the text without terminal controls and invisible characters, in plain letters, or None if it is
    plain.
    """
    if text.isascii() and not _CONTROL.search(text):
        return None
    return _replaced(text, _ODD, _as_read)


def decoded(text: str) -> Plain | None:
    """Return the text with escapes of URLs, HTML and strings decoded, or None if it has none."""
    if not ("%" in text or "&" in text or "\\" in text):
        return None
    return _replaced(text, _ESCAPED, _as_decoded)


def unwrapped(text: str) -> Plain | None:
    """Return the text with wrapped words joined, or None if there are none."""
    return _replaced(text, _WRAP, lambda _: "")


class Lowered(msgspec.Struct, frozen=True):
    """A lowercase text with every character at its place, and one byte for each to search marks faster."""

    text: str
    encoded: bytes
    triples: AbstractSet[bytes] | None = None
    """All sequences of three bytes. None for a long text, which has `places`."""
    places: dict[int, list[int]] | None = None
    """The places of the beginnings of marks, for a long text only."""


class Marks(msgspec.Struct, frozen=True):
    """Words of which a text must contain at least one for a rule to apply."""

    words: tuple[bytes, ...]
    by_begin: Mapping[bytes, tuple[bytes, ...]]
    """The words by their first three bytes."""
    short: tuple[bytes, ...] = ()
    """Words shorter than three bytes."""

    def possible(self, low: Lowered) -> Iterable[bytes]:
        """Return the words that the text can contain. This costs much less than searching for each word."""
        if low.triples is None:
            return self.words
        begins = self.by_begin.keys() & low.triples
        return (*self.short, *(word for begin in begins for word in self.by_begin[begin]))


_LONG = 60_000
_BEGIN = 3
_MARKS: set[bytes] = set()
# Six bits for each byte. Collisions are resolved when the whole mark is compared.
_CODES = bytes(byte & 63 for byte in range(256))


def lowered(text: str) -> Lowered:
    low = text.lower()
    if len(low) != len(text):
        low = "".join(one if len(one := char.lower()) == 1 else char for char in text)
    encoded = low.encode("latin-1", errors="replace")
    if len(encoded) > _LONG:
        return Lowered(low, encoded, places=_places(encoded))
    return Lowered(low, encoded, {encoded[at : at + _BEGIN] for at in range(len(encoded) - _BEGIN + 1)})


def marks_of(*marks: str) -> Marks:
    found = tuple(mark.encode("latin-1", errors="replace") for mark in marks)
    _MARKS.update(found)
    by_begin: dict[bytes, tuple[bytes, ...]] = {}
    for mark in found:
        if len(mark) >= _BEGIN:
            by_begin[mark[:_BEGIN]] = (*by_begin.get(mark[:_BEGIN], ()), mark)
    return Marks(found, by_begin, tuple(mark for mark in found if len(mark) < _BEGIN))


def near(low: Lowered, marks: Marks, before: int, after: int) -> list[tuple[int, int]]:
    """Return the places around the marks, sorted and without overlaps."""
    found: list[tuple[int, int]] = []
    size = len(low.encoded)
    for mark in marks.possible(low):
        last = -after
        for at in _found(low, mark):
            if at >= last + after // 2:
                last = at
                found.append((max(0, at - before), min(size, at + after)))
    found.sort()
    merged: list[tuple[int, int]] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def holds(low: Lowered, marks: Marks) -> bool:
    return any(mark in low.encoded for mark in marks.possible(low))


def _found(low: Lowered, mark: bytes) -> Iterator[int]:
    encoded = low.encoded
    if low.places is not None and len(mark) >= _BEGIN:
        for at in low.places.get(_code(mark), ()):
            if encoded.startswith(mark, at):
                yield at
        return
    at = encoded.find(mark)
    while at >= 0:
        yield at
        at = encoded.find(mark, at + 1)


def _code(mark: bytes) -> int:
    first, second, third = mark[:_BEGIN].translate(_CODES)
    return first << 12 | second << 6 | third


def _places(encoded: bytes) -> dict[int, list[int]]:
    """Return the places of each beginning of a mark, in one pass instead of one pass for each mark."""
    import numpy as np

    wanted = np.zeros(1 << 18, dtype=bool)
    wanted[[_code(mark) for mark in _MARKS if len(mark) >= _BEGIN]] = True
    codes = np.frombuffer(encoded.translate(_CODES), dtype=np.uint8).astype(np.uint32)
    grams = codes[:-2] << 12 | codes[1:-1] << 6 | codes[2:]
    at = np.flatnonzero(wanted[grams])
    if not len(at):
        return {}
    keys = grams[at]
    order = np.argsort(keys, kind="stable")
    keys, at = keys[order], at[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return {
        int(keys[start]): part.tolist() for start, part in zip(starts, np.split(at, starts[1:]), strict=True)
    }


def _as_read(match: re.Match[str]) -> str:
    original = match[0]
    if original == "\r":
        return "" if match.string[match.end() : match.end() + 1] == "\n" else "\n"
    if len(original) == 1:
        if sign := _SIGNS.get(original):
            return sign
        read = unicodedata.normalize("NFKC", original)
        return (
            read
            if read.isascii() and read.isprintable()
            else ""
            if re.match(_UNSEEN, original) or original < "\xa0"
            else original
        )
    return "" if original[0] == "\x1b" else original.translate(_TWINS)


def _as_decoded(match: re.Match[str]) -> str:
    original = match[0]
    if original[0] == "%":
        return unquote(original, errors="replace")
    if original[0] == "&":
        return unescape(original)
    rest = original.lstrip("\\")
    return chr(int(rest[1:], 16)) if rest[0] in "ux" else _LETTERS.get(rest, rest)


def _replaced(text: str, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str]) -> Plain | None:
    pieces: list[str] = []
    here: list[int] = []
    there: list[int] = []
    long: list[int] = []
    same: list[bool] = []
    place = length = 0

    def add(piece: str, at: int, size: int) -> None:
        nonlocal length
        if piece:
            here.append(length)
            there.append(at)
            long.append(size)
            same.append(len(piece) == size)
            pieces.append(piece)
            length += len(piece)

    for match in pattern.finditer(text):
        add(text[place : match.start()], place, match.start() - place)
        add(by(match), match.start(), match.end() - match.start())
        place = match.end()
    if not place:
        return None
    add(text[place:], place, len(text) - place)
    return Plain("".join(pieces), here, there, long, same) if pieces else None
