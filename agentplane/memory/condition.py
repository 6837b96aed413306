"""The grammar of the header key `check`, whose condition shows whether an entry is still true.

This module only reads the text. `curate/conditions/` evaluates it.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from datetime import date
from typing import Literal, get_args

import msgspec

from agentplane.memory import version_spec
from agentplane.memory.version_spec import SpecProblem, VersionSpec
from agentplane.text import visible


LONGEST = 1000
"""Maximum number of characters of a check that isn't a command."""
LONGEST_COMMAND = 4000

Ecosystem = Literal["python", "npm", "cargo", "go", "maven"]
ECOSYSTEMS: tuple[Ecosystem, ...] = get_args(Ecosystem)


class FileIs(msgspec.Struct, frozen=True, tag="file"):
    """A file or a folder exists, or is missing."""

    path: str
    missing: bool


class TextIn(msgspec.Struct, frozen=True, tag="text"):
    """A file contains a text. With a glob, one of the matching files contains it."""

    text: str
    path: str


class RegexIn(msgspec.Struct, frozen=True, tag="regex"):
    """A file contains a match for a regular expression in Python's syntax. `^` and `$` match at each line."""

    pattern: str
    path: str


class SymbolIn(msgspec.Struct, frozen=True, tag="symbol"):
    """A file defines a name."""

    path: str
    name: str


class VersionIs(msgspec.Struct, frozen=True, tag="version"):
    """The version of a package is in a range."""

    ecosystem: Ecosystem | None
    """None if the check doesn't name it."""
    name: str
    spec: VersionSpec


class Before(msgspec.Struct, frozen=True, tag="before"):
    """Today is before a day."""

    day: date


class Run(msgspec.Struct, frozen=True, tag="run"):
    """A command succeeds."""

    command: str


Condition = FileIs | TextIn | RegexIn | SymbolIn | VersionIs | Before | Run


class Problem(msgspec.Struct, frozen=True):
    """The first place at which a text isn't a valid check."""

    offset: int
    """Index in the text."""
    what: str
    """A phrase for what is expected there, such as "expected `exists` or `missing`"."""


_KEYWORD = re.compile(r"\s*([a-z]+):\s*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_PATH = r'(?:"(?:[^"\\]|\\.)*"|\S+)'
_STATE = re.compile(r"(.+?)\s+(exists|missing)\s*\Z", re.DOTALL)
_NAME = re.compile(r"[@\w][\w.@/:+~-]*")
_ESCAPE = re.compile(r'\\(["\\nt])')
_ESCAPES = {"n": "\n", "t": "\t"}


def parse(text: str) -> Condition | Problem:
    """Return the condition of a check, or its first problem."""
    # A person reads a command before they allow it, so nothing in it may be unseen or reorder it.
    unseen = [one.offset for one in visible.hidden(text)] + [one.start() for one in _CONTROL.finditer(text)]
    if unseen:
        return Problem(min(unseen), "expected plain text, but found a hidden character")
    found = _KEYWORD.match(text)
    reader = _READERS.get(found[1]) if found else None
    if found is None or reader is None:
        at = len(text) - len(text.lstrip())
        return Problem(at, f"expected one of {_KEYWORDS}")
    longest = LONGEST_COMMAND if reader is _run else LONGEST
    if len(text) > longest:
        return Problem(longest, f"expected at most {longest:,} characters")
    value = text[found.end() :].rstrip()
    if reader is not _run and "\n" in value:
        return Problem(found.end() + value.index("\n"), "expected one line")
    result = reader(value)
    return Problem(found.end() + result.offset, result.what) if isinstance(result, Problem) else result


def keyword_of(text: str) -> str | None:
    """Return the keyword at the start of a check, or None if it has no known keyword."""
    found = _KEYWORD.match(text)
    return found[1] if found and found[1] in _READERS else None


def is_glob(path: str) -> bool:
    """True if a path stands for several files. Brackets are ordinary characters, because some frameworks use them
    in names of files.
    """
    return "*" in path or "?" in path


def _file(value: str) -> FileIs | Problem:
    found = _STATE.match(value)
    if found is None:
        return Problem(len(value), "expected `exists` or `missing` after the path")
    path = _path(found[1], 0, globs=False)
    return path if isinstance(path, Problem) else FileIs(path, missing=found[2] == "missing")


def _text(value: str) -> TextIn | Problem:
    quoted = _QUOTED.match(value)
    if quoted is None:
        return Problem(0, "expected the text in double quotes")
    text = _unescaped(quoted[1])
    if not text.strip():
        return Problem(0, "expected text that isn't empty")
    found = re.compile(rf"\s+in\s+({_PATH})\s*\Z").match(value, quoted.end())
    if found is None:
        return Problem(quoted.end(), "expected `in` and one path after the text")
    path = _path(found[1], found.start(1), globs=True)
    return path if isinstance(path, Problem) else TextIn(text, path)


def _regex(value: str) -> RegexIn | Problem:
    # The last ` in ` counts, because the pattern may contain this word too.
    places = [found.start() for found in re.finditer(r"\s+in\s+", value)]
    found = next((match for at in reversed(places) if (match := _IN_PATH.match(value, at))), None)
    if found is None or not value[: found.start()].strip():
        return Problem(len(value), "expected a regular expression, `in` and one path")
    pattern = value[: found.start()].strip()
    if problem := _pattern_problem(pattern):
        return problem
    path = _path(found[1], found.start(1), globs=True)
    return path if isinstance(path, Problem) else RegexIn(pattern, path)


_IN_PATH = re.compile(rf"\s+in\s+({_PATH})\s*\Z")


def _pattern_problem(pattern: str) -> Problem | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # some valid patterns warn that a later Python reads them otherwise
            re.compile(pattern, re.MULTILINE)
    except re.error as error:
        # The rest of the message repeats a name of the pattern, which could be a secret.
        reason = error.msg.partition(" '")[0]
        return Problem(error.pos or 0, f"expected a regular expression in Python's syntax: {reason}")
    except (OverflowError, RecursionError, MemoryError):
        return Problem(0, "expected a simpler regular expression")
    return None


def _symbol(value: str) -> SymbolIn | Problem:
    path_text, mark, name = value.rpartition("#")
    if not mark or not name.strip() or any(char.isspace() for char in name):
        return Problem(len(value), "expected a path, `#` and a name, such as `app/money.py#Money`")
    path = _path(path_text, 0, globs=False)
    return path if isinstance(path, Problem) else SymbolIn(path, name)


def _version(value: str) -> VersionIs | Problem:
    name, _, rest = value.partition(" ")
    ecosystem: Ecosystem | None = None
    for one in ECOSYSTEMS:
        if name.startswith(f"{one}:"):
            ecosystem, name = one, name.removeprefix(f"{one}:")
    if not _NAME.fullmatch(name):
        return Problem(0, "expected the name of a package and a version range")
    spec = version_spec.parse(rest)
    if isinstance(spec, SpecProblem):
        return Problem(len(value) - len(rest) + spec.offset, spec.what)
    return VersionIs(ecosystem, name, spec)


def _before(value: str) -> Before | Problem:
    try:
        return Before(date.fromisoformat(value))
    except ValueError:
        return Problem(0, "expected a date, such as 2026-12-31")


def _run(value: str) -> Run | Problem:
    return Run(value) if value else Problem(0, "expected a command")


_READERS: Mapping[str, Callable[[str], Condition | Problem]] = {
    "file": _file,
    "text": _text,
    "regex": _regex,
    "symbol": _symbol,
    "version": _version,
    "before": _before,
    "run": _run,
}
_KEYWORDS = ", ".join(f"`{name}:`" for name in list(_READERS)[:-1]) + " and `run:`"


def _path(text: str, offset: int, *, globs: bool) -> str | Problem:
    """Return a path inside the project. It has no `.` and no empty parts."""
    quoted = _QUOTED.fullmatch(text)
    bare = _unescaped(quoted[1]) if quoted else text
    if not bare.strip() or bare != bare.strip():
        return Problem(offset, "expected a path")
    parts = [part for part in bare.split("/") if part not in ("", ".")]
    outside = bare.startswith(("/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", bare) or ".." in parts
    if outside or not parts or parts[0] == ".git":
        return Problem(offset, "expected a path relative to the top of the project, without `..`")
    if is_glob(bare) and not globs:
        return Problem(offset, "expected the path of one file, without `*` and `?`")
    return "/".join(parts)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text)
