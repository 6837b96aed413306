"""Masking of secrets in the output of programs.

The gate uses the same detection, in `find.py`.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from agentplane.scan.secrets import find, prefilter


class Masked(msgspec.Struct, frozen=True):
    """A masked secret, without the secret itself."""

    kind: str
    line: int


_MASKED = re.compile(rb"\[masked: ([^\]\n]{1,80})\]")


def masked(data: bytes) -> tuple[bytes, list[Masked]]:
    """Return the bytes with every secret replaced by its kind, and the replaced secrets with their lines."""
    if not prefilter.LINE.search(data):
        return data, []
    text = data.decode(errors="surrogateescape")
    found = find.spans(text)
    if not text.isascii():
        found = _in_bytes(text, found)
    return _replaced(data, found)


ROUNDS = 4
"""Maximum number of passes. The text around a mask can look like another secret."""


def masked_text(text: str) -> str:
    """Return the text with its secrets masked. The text can contain invalid UTF-8 and surrogate halves."""
    data = text.encode(errors="surrogatepass")
    for _ in range(ROUNDS):
        data, found = masked(data)
        if not found:
            break
    return data.decode(errors="replace")


def masked_named(name: str, value: str) -> str:
    """Return the masked value of a field, whose name can mark it as a secret."""
    return _masked_behind(f"{name}=", value)


def _masked_behind(words: str, text: str) -> str:
    """Return the text masked as if these words were before it."""
    masked_whole = masked_text(words + text)
    return masked_whole[len(words) :] if masked_whole.startswith(words) else masked_text(text)


def masked_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command line, masked.

    An option names the word after it, and the program defines the meaning of the words.
    """
    before = ["", *words]
    result = [
        _masked_argument(option, word) if option.startswith("--") else masked_text(word)
        for option, word in zip(before, words, strict=False)
    ]
    for number, (start, end) in _of_command(words):
        if result[number] == words[number]:
            word = words[number]
            result[number] = f"{word[:start]}[masked: a password of a command]{word[end:]}"
    return result


def _masked_argument(option: str, word: str) -> str:
    """Return the masked argument of an option. If it has blanks, it is quoted, so that all of it is the
    value.
    """
    if " " not in word or '"' in word:
        return _masked_behind(f"{option}=", word)
    lead = f'{option}="'
    masked_whole = masked_text(f'{lead}{word}"')
    return (
        masked_whole[len(lead) : -1]
        if masked_whole.startswith(lead) and masked_whole.endswith('"')
        else masked_text(word)
    )


def _of_command(words: Sequence[str]) -> list[tuple[int, tuple[int, int]]]:
    """Return the words with a secret in the command line as a whole, each with the start and end of the
    secret.
    """
    shown = [_shown(word) for word in words]
    line = " ".join(shown)
    found: dict[int, tuple[int, int]] = {}
    for start, end, _ in find.spans(line):
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
    """Return the word quoted for a shell, if quotes are enough."""
    return f"'{word}'" if any(char.isspace() for char in word) and "'" not in word else word


def masked_value(value: Any) -> Any:
    """Return a JSON value with all its texts masked. Field names stay, unless they are secrets."""
    if isinstance(value, str):
        return masked_text(value)
    if isinstance(value, dict):
        result: dict[Any, Any] = {}
        for key, item in value.items():
            hidden = masked_named(str(key), item) if isinstance(item, str) else masked_value(item)
            result[_unused(masked_text(key), result) if isinstance(key, str) else key] = hidden
        return result
    if isinstance(value, list | tuple):
        return [masked_value(item) for item in value]
    return value


def _unused(name: str, used: Collection[str]) -> str:
    """Return a name that no other field has, because two secrets can have the same mask."""
    number, unused = 1, name
    while unused in used:
        number += 1
        unused = f"{name} {number}"
    return unused


def places(data: bytes) -> list[Masked]:
    """Return the masks in a text that was masked before."""
    notes: list[Masked] = []
    line, counted = 1, 0
    for match in _MASKED.finditer(data):
        line += data.count(b"\n", counted, match.start())
        counted = match.start()
        notes.append(Masked(match[1].decode(errors="replace"), line))
    return notes


def _in_bytes(text: str, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Convert the places in the characters of a text to places in its bytes, in order."""
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
