"""The forms of evidence: a file, lines or a symbol of a file, a commit, a URL, or another entry.

This is the only module that reads the text of an `evidence` item. Whether a word was meant as a path depends
on the files that exist, so callers pass a function that knows them. It gets a path relative to the project.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from agentplane.memory import ids
from agentplane.text.visible import is_encodable


Exists = Callable[[str], bool]
"""True if a path in the project exists, even as a broken link."""

_LONGEST = 1024
_QUOTES = "`'\"<>"

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://|(?:mailto|doi|urn|tel):", re.IGNORECASE)
_COMMIT = re.compile(r"(?:commit[: ] ?|git:)?([0-9a-f]{7,40})", re.IGNORECASE)
# After the first line comes the last line, or the column of a compiler's message.
_LINES = re.compile(r"(?P<path>.+?):L?(?P<first>[0-9]{1,9})(?:-L?(?P<last>[0-9]{1,9})|:L?[0-9]{1,9})?")
_LINE_ANCHOR = re.compile(r"L(?P<first>[0-9]{1,9})(?:C[0-9]+)?(?:-L?(?P<last>[0-9]{1,9})(?:C[0-9]+)?)?")
_ABSOLUTE = re.compile(r"[/~\\]|[A-Za-z]:[\\/]|file:", re.IGNORECASE)
_ISSUE = re.compile(r"[\w.-]+/[\w.-]+#[0-9]+")
_ENDING = re.compile(
    r".+\.(?:py|pyi|md|rst|txt|toml|ya?ml|jsonl?|tsx?|jsx?|mjs|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|sh|sql|"
    r"html?|css|scss|cfg|ini|lock|xml|proto|tf|env|ipynb|log|csv|svg|png)"
)
_HEADED = (".md", ".rst", ".markdown")
"""Endings of texts whose headings can be evidence."""


class File(msgspec.Struct, frozen=True, tag="file"):
    """A file or a folder of the project."""

    path: str


class Lines(msgspec.Struct, frozen=True, tag="lines"):
    """Lines of a file."""

    path: str
    first: int
    last: int


class Symbol(msgspec.Struct, frozen=True, tag="symbol"):
    """A name that a file defines, such as a function."""

    path: str
    name: str
    """The name as it was written, such as `Class.method` or `Class::method`."""
    line: int | None = None
    """A line that was given too, as in `path:12#name`."""


class Heading(msgspec.Struct, frozen=True, tag="heading"):
    """A section of a text with headings."""

    path: str
    name: str
    line: int | None = None


class Commit(msgspec.Struct, frozen=True, tag="commit"):
    name: str
    """A full or short hex name."""


class Url(msgspec.Struct, frozen=True, tag="url"):
    url: str


class EntryId(msgspec.Struct, frozen=True, tag="entry"):
    id: str


class Outside(msgspec.Struct, frozen=True, tag="outside"):
    """A path that leads out of the project."""

    text: str
    is_relative: bool
    """True if it contains `..`. Otherwise it is an absolute path."""


class Other(msgspec.Struct, frozen=True, tag="other"):
    """Text that agentplane can't look up."""

    text: str


Place = File | Lines | Symbol | Heading
"""References to a path of the project."""
Reference = Place | Commit | Url | EntryId | Outside | Other


def exists_in(project: Path | str) -> Exists:
    """Return the function that looks for paths in the work tree."""
    root = os.path.realpath(project)
    return lambda path: os.path.lexists(os.path.join(root, path))


def plain(text: str) -> str:
    """Return a piece of evidence without its quotes, or an empty text if it can't be looked up."""
    text = text.strip().strip(_QUOTES).strip()
    return "" if "\0" in text or len(text) > _LONGEST or not is_encodable(text) else text


def parse(raw: str, exists: Exists, *, was_path: bool = False) -> Reference:
    """Return the reference of a piece of evidence.

    `was_path` means that the text was known to name a path, which may be gone now with its folder.
    """
    text = plain(raw)
    if not text:
        return Other(raw)
    if (found := _COMMIT.fullmatch(text)) and not found[1].isdigit() and not exists(text):
        return Commit(found[1])
    if _ABSOLUTE.match(text):
        return Outside(text, is_relative=False)
    if _URL.match(text):
        return Other(text) if _URL.fullmatch(text) else Url(text)
    place = _place(text, exists)
    if ".." in re.split(r"[/\\]", place.path):
        return Outside(text, is_relative=True)
    if was_path or exists(place.path) or _is_path(place.path, text, exists):
        return place
    return EntryId(text) if ids.is_plain(text) else Other(text)


def is_file_name(name: str) -> bool:
    """True if a name ends like the names of files, such as `.py`."""
    return _ENDING.fullmatch(name.lower()) is not None


def shown(place: Place, path: str) -> str:
    """Return the text of a reference to the same part of another file."""
    match place:
        case File():
            return path
        case Lines(first=first, last=last):
            return lines_shown(path, first, last)
        case Symbol(name=name) | Heading(name=name):
            return f"{path}#{name}"


def lines_shown(path: str, first: int, last: int) -> str:
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"


def _place(text: str, exists: Exists) -> Place:
    if exists(text):
        return File(text)
    name, _, symbol = text.partition("#")
    if anchor := _LINE_ANCHOR.fullmatch(symbol):
        return _lines(name, anchor)
    line = None
    if numbered := _LINES.fullmatch(name):
        lines = _lines(numbered["path"], numbered)
        if not symbol:
            return lines
        name, line = lines.path, lines.first
    elif "::" in name:  # the notation of pytest
        name, _, symbol = name.partition("::")
    if not symbol:
        return File(name)
    return Heading(name, symbol, line) if name.endswith(_HEADED) else Symbol(name, symbol, line)


def _lines(path: str, found: re.Match[str]) -> Lines:
    first = int(found["first"])
    return Lines(path, first, max(first, int(found["last"] or first)))


def _is_path(name: str, text: str, exists: Exists) -> bool:
    """True if a missing name was meant as a path in the project."""
    if not name or any(char.isspace() for char in name) or _ISSUE.fullmatch(text):
        return False
    if _ENDING.fullmatch(name.lower()):
        return True
    first, slash, _ = name.partition("/")
    return bool(slash) and exists(first)
