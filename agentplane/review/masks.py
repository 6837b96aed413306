"""Secrets in what programs print, masked where they stand.

What is looked for, and how, is that of the gate: `secrets.py`.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from agentplane.review import secrets, worth


class Masked(msgspec.Struct, frozen=True):
    """A secret that was taken out; never the secret itself."""

    kind: str
    line: int


_MASKED = re.compile(rb"\[masked: ([^\]\n]{1,80})\]")


def masked(data: bytes) -> tuple[bytes, list[Masked]]:
    """The bytes with every secret replaced by its kind, and what was replaced on which line."""
    if not worth.LINE.search(data):
        return data, []
    text = data.decode(errors="surrogateescape")
    found = secrets.spans(text)
    if not text.isascii():
        found = _in_bytes(text, found)
    return _replaced(data, found)


ROUNDS = 4
"""Maximum number of passes. The text around a mask can look like another secret."""


def masked_text(text: str) -> str:
    """Also of a text with what JSON cannot hold: bytes that are no UTF-8, halves of surrogate pairs."""
    data = text.encode(errors="surrogatepass")
    for _ in range(ROUNDS):
        data, found = masked(data)
        if not found:
            break
    return data.decode(errors="replace")


def masked_named(name: str, value: str) -> str:
    """A value that stands under a name: the name may say that it is a secret."""
    return _masked_behind(f"{name}=", value)


def _masked_behind(words: str, text: str) -> str:
    """A text, masked as it would be behind these words."""
    told = masked_text(words + text)
    return told[len(words) :] if told.startswith(words) else masked_text(text)


def masked_words(words: Sequence[str]) -> list[str]:
    """The words of a command line; an option names the word that follows it, and the program says what it means."""
    before = ["", *words]
    told = [
        _masked_argument(option, word) if option.startswith("--") else masked_text(word)
        for option, word in zip(before, words, strict=False)
    ]
    for number, (start, end) in _of_command(words):
        if told[number] == words[number]:
            word = words[number]
            told[number] = f"{word[:start]}[masked: a password of a command]{word[end:]}"
    return told


def _masked_argument(option: str, word: str) -> str:
    """The word that an option names: in quotes where it holds blanks, so that all of it is the value."""
    if " " not in word or '"' in word:
        return _masked_behind(f"{option}=", word)
    lead = f'{option}="'
    told = masked_text(f'{lead}{word}"')
    return told[len(lead) : -1] if told.startswith(lead) and told.endswith('"') else masked_text(word)


def _of_command(words: Sequence[str]) -> list[tuple[int, tuple[int, int]]]:
    """What the whole line says of its words: of each that holds a secret its number, and from where to where."""
    shown = [_shown(word) for word in words]
    line = " ".join(shown)
    found: dict[int, tuple[int, int]] = {}
    for start, end, _ in secrets.spans(line):
        place = 0
        for number, word in enumerate(shown):
            lead = len(word) - len(words[number]) >= 2
            first, last = max(start, place + lead), min(end, place + lead + len(words[number]))
            if first < last:
                known = found.get(number, (first - place - lead, 0))
                found[number] = min(known[0], first - place - lead), max(known[1], last - place - lead)
            place += len(word) + 1
    return sorted(found.items())


def _shown(word: str) -> str:
    """A word as a shell would take it, where quotes are enough for that."""
    return f"'{word}'" if any(char.isspace() for char in word) and "'" not in word else word


def masked_value(value: Any) -> Any:
    """The same for each text of a value as JSON has it. A name of a field stays, unless it is a secret itself."""
    if isinstance(value, str):
        return masked_text(value)
    if isinstance(value, dict):
        told: dict[Any, Any] = {}
        for key, item in value.items():
            hidden = masked_named(str(key), item) if isinstance(item, str) else masked_value(item)
            told[_unused(masked_text(key), told) if isinstance(key, str) else key] = hidden
        return told
    if isinstance(value, list | tuple):
        return [masked_value(item) for item in value]
    return value


def _unused(name: str, taken: Collection[str]) -> str:
    """A name that no other field has: two secrets can be masked alike."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} {number}"
    return found


def places(data: bytes) -> list[Masked]:
    """Where in a text that was masked before something was taken out."""
    notes: list[Masked] = []
    line, counted = 1, 0
    for match in _MASKED.finditer(data):
        line += data.count(b"\n", counted, match.start())
        counted = match.start()
        notes.append(Masked(match[1].decode(errors="replace"), line))
    return notes


def _in_bytes(text: str, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The places in the bytes of a text for places in its characters, in order."""
    moved: list[tuple[int, int, str]] = []
    place = size = 0
    for start, end, kind in found:
        begin = size + len(text[place:start].encode(errors="surrogateescape"))
        size = begin + len(text[start:end].encode(errors="surrogateescape"))
        place = end
        moved.append((begin, size, kind))
    return moved


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
