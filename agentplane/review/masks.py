"""Secrets in what programs print, masked where they stand.

Output is long and mostly harmless, so only the lines in which a secret could stand are looked at closely.
What steers a terminal is left out of the look: a token in colour is still a token.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from agentplane.review import secrets, worth


class Masked(msgspec.Struct, frozen=True):
    """A secret that was taken out; never the secret itself."""

    kind: str
    line: int


_KEY_BLOCK = re.compile(
    rb"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----).){16,20000}"
    rb"(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?",
    re.DOTALL,
)
_KEY_END = re.compile(rb"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(rb"[0-9A-Za-z+/=]{1,80}\r?\n")
_LONGEST_KEY = 20_000
_STEERING = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u2060\ufeff]"
)
_MASKED = re.compile(rb"\[masked: ([^\]\n]{1,80})\]")
_PIECE = 16_000
_OVERLAP = 600


def masked(data: bytes) -> tuple[bytes, list[Masked]]:
    """The bytes with every secret replaced by its kind, and what was replaced on which line."""
    found = [(match.start(), match.end(), "a private key") for match in _KEY_BLOCK.finditer(data)]
    found += [(start, end, "a private key") for start, end in _key_ends(data)]
    for start, end in _worth_a_look(data):
        found += [(start + at, start + until, kind) for at, until, kind in _in_piece(data[start:end])]
    return _replaced(data, _apart(found))


def masked_text(text: str) -> str:
    """Also of a text with what JSON cannot hold: bytes that are no UTF-8, halves of surrogate pairs."""
    return masked(text.encode(errors="surrogatepass"))[0].decode(errors="replace")


def masked_named(name: str, value: str) -> str:
    """A value that stands under a name: the name may say that it is a secret."""
    return _masked_behind(f"{name}=", value)


def _masked_behind(words: str, text: str) -> str:
    """A text, masked as it would be behind these words."""
    told = masked_text(words + text)
    return told[len(words) :] if told.startswith(words) else masked_text(text)


def masked_words(words: Sequence[str]) -> list[str]:
    """The words of a command line; an option names the word that follows it, and the program says what it means."""
    program = "curl " if any(os.path.basename(word) == "curl" for word in words) else ""
    before = ["", *words]
    return [
        _masked_behind(f"{program}{option}=" if option.startswith("-") else program, word)
        for option, word in zip(before, words, strict=False)
    ]


def masked_value(value: Any) -> Any:
    """The same for each text of a value as JSON has it; the names of fields stay."""
    if isinstance(value, str):
        return masked_text(value)
    if isinstance(value, dict):
        return {
            key: masked_named(str(key), item) if isinstance(item, str) else masked_value(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked_value(item) for item in value]
    return value


def places(data: bytes) -> list[Masked]:
    """Where in a text that was masked before something was taken out."""
    notes: list[Masked] = []
    line, counted = 1, 0
    for match in _MASKED.finditer(data):
        line += data.count(b"\n", counted, match.start())
        counted = match.start()
        notes.append(Masked(match[1].decode(errors="replace"), line))
    return notes


def _key_ends(data: bytes) -> Iterator[tuple[int, int]]:
    """Ends of private keys, also of one whose beginning was cut off, with the lines of the key above."""
    for match in _KEY_END.finditer(data):
        begin = match.start()
        while (line := data.rfind(b"\n", 0, max(0, begin - 1)) + 1) < begin:
            if match.start() - line > _LONGEST_KEY or not _KEY_LINE.fullmatch(data, line, begin):
                break
            begin = line
        if begin < match.start():
            yield begin, match.end()


def _worth_a_look(data: bytes) -> Iterator[tuple[int, int]]:
    """Pieces of the lines in which a secret could stand; those of a long line overlap."""
    place = 0
    while match := worth.LINE.search(data, place):
        begin = max(data.rfind(b"\n", 0, match.start()) + 1, place)
        end = data.find(b"\n", match.end())
        end = len(data) if end < 0 else end
        for start in range(begin, end, _PIECE):
            yield max(begin, start - _OVERLAP), min(end, start + _PIECE)
        place = end + 1


def _in_piece(piece: bytes) -> list[tuple[int, int, str]]:
    text = piece.decode(errors="surrogateescape")
    plain, places = _without_steering(text)
    if not places and text.isascii():
        return secrets.spans(text)
    return [(_offset(text, places, at), _offset(text, places, end - 1) + 1, kind)
            for at, end, kind in secrets.spans(plain)]  # fmt: skip


def _without_steering(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without what steers a terminal, and for each piece left where it begins here and there."""
    kept: list[str] = []
    places: list[tuple[int, int]] = []
    place = length = 0
    for match in _STEERING.finditer(text):
        if match.start() > place:
            places.append((length, place))
            kept.append(text[place : match.start()])
            length += match.start() - place
        place = match.end()
    if not place:
        return text, []
    places.append((length, place))
    return "".join([*kept, text[place:]]), places


def _offset(text: str, places: list[tuple[int, int]], at: int) -> int:
    """The byte at which a character of the plain text stands in the piece."""
    for here, there in reversed(places):
        if here <= at:
            at = there + at - here
            break
    return len(text[:at].encode(errors="surrogateescape"))


def _apart(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """In order; what begins within another belongs to it."""
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(found):
        if merged and start < merged[-1][1]:
            first, last, name = merged[-1]
            merged[-1] = (first, max(last, end), name)
        else:
            merged.append((start, end, kind))
    return merged


def _replaced(data: bytes, found: list[tuple[int, int, str]]) -> tuple[bytes, list[Masked]]:
    parts: list[bytes] = []
    notes: list[Masked] = []
    place, line, counted = 0, 1, 0
    for start, end, kind in found:
        line += data.count(b"\n", counted, start)
        counted = start
        notes.append(Masked(kind, line))
        parts += [data[place:start], f"[masked: {kind}]".encode()]
        place = end
    return b"".join([*parts, data[place:]]), notes
