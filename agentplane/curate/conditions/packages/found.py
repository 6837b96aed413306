"""The versions of a package that files contain."""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec


class Pin(msgspec.Struct, frozen=True):
    """The version that a lock file has."""

    version: str
    line: int


class Range(msgspec.Struct, frozen=True):
    """The versions that a manifest allows, in the syntax of its package manager. Empty for all versions."""

    text: str
    line: int


class Opaque(msgspec.Struct, frozen=True):
    """A dependency whose version the file doesn't contain."""

    why: str
    """The reason, as words that follow "because"."""
    line: int = 1


Found = Pin | Range | Opaque


class Source(msgspec.Struct, frozen=True):
    """A file to read."""

    path: str
    text: str
    direct: frozenset[str] = frozenset()
    """The ranges that the manifests of the project give the package."""
    others: Callable[[str], str | None] = lambda _: None
    """Returns the text of another file of the project, or None."""


Reader = Callable[[Source, str], Sequence[Found]]
"""Returns what a file says about a package."""


class Form(msgspec.Struct, frozen=True):
    """A file of a package manager."""

    name: re.Pattern[str]
    """Matches the whole name of the file."""
    is_lock: bool
    read: Reader


def line_of(text: str, index: int) -> int:
    return text.count("\n", 0, index) + 1


def line_with(text: str, pattern: str) -> int:
    """Return the line of the first match, or the first line."""
    found = re.search(pattern, text, re.MULTILINE)
    return line_of(text, found.start()) if found else 1


def table(value: object) -> Mapping[str, object]:
    """Return a value if it is a mapping, or an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> Sequence[object]:
    """Return a value if it is a list, or an empty one."""
    return value if isinstance(value, list) else ()


def line_of_version(text: str, key: str) -> int:
    """Return the line of the version of a package in JSON. `key` is its name."""
    found = re.search(rf'^[ \t]*"{re.escape(key)}"\s*:\s*\{{(?:[^{{}}]*?)"version"', text, re.MULTILINE)
    return line_of(text, found.end()) if found else 1
