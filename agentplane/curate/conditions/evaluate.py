"""Evaluation of the conditions that need no command."""

from collections.abc import Callable
from datetime import date
from typing import assert_never

import msgspec

from agentplane.curate.anchors import parts
from agentplane.curate.conditions import versions
from agentplane.curate.conditions.project_files import Missing, Present, ProjectFiles, Unclear
from agentplane.curate.conditions.regex_search import Found, Searcher, TooSlow
from agentplane.curate.conditions.result import HOLDS, CantTell, Fails, Result
from agentplane.curate.conditions.shown import line_proof
from agentplane.curate.conditions.versions import Packages
from agentplane.curate.finding import Lines
from agentplane.memory.condition import (
    Before,
    Condition,
    FileIs,
    RegexIn,
    Run,
    SymbolIn,
    TextIn,
    VersionIs,
    is_glob,
)


_MOST_BYTES = 256 << 20
"""Maximum size of all files that one glob matches."""
TOO_SLOW = Unclear("the search with this regular expression takes too long")


class Look(msgspec.Struct, frozen=True):
    """The state of the project that conditions are compared with."""

    files: ProjectFiles
    packages: Packages
    today: date
    searcher: Searcher


def evaluate(condition: Condition, look: Look) -> Result:
    """Return whether a condition holds."""
    match condition:
        case FileIs():
            return _file(condition, look.files)
        case TextIn(text=text, path=path):
            return _contains(path, look.files, f"`{text}`", lambda found: _line_with(found, text))
        case RegexIn(pattern=pattern, path=path):
            return _contains(
                path,
                look.files,
                f"a match of `{pattern}`",
                lambda found: _line_like(found, pattern, look.searcher),
            )
        case SymbolIn():
            return _symbol(condition, look.files)
        case VersionIs():
            return versions.evaluate(condition, look.packages)
        case Before(day=day):
            if look.today < day:
                return HOLDS
            return Fails(f"Today is {look.today}.", "check", Lines("today", str(look.today)))
        case Run():
            return CantTell("the command didn't run")
        case _:
            assert_never(condition)


def _file(condition: FileIs, files: ProjectFiles) -> Result:
    path, state = condition.path, files.state(condition.path)
    if isinstance(state, Unclear):
        return CantTell(state.why, path)
    if isinstance(state, Missing) == condition.missing:
        return HOLDS
    shown = "exists" if isinstance(state, Present) else "doesn't exist"
    return Fails(f"{path} {shown}.", path, Lines(path, f"{path} {shown}."))


_Lookup = Callable[[bytes], int | Unclear]
"""Returns the first line of a file that has something, or 0."""


def _contains(path: str, files: ProjectFiles, what: str, lookup: _Lookup) -> Result:
    """Return whether a file, or one of the files that a glob matches, has something."""
    paths = files.matching(path) if is_glob(path) else (path,)
    if isinstance(paths, Unclear):
        return CantTell(paths.why, path)
    doubt: CantTell | None = None
    left = _MOST_BYTES
    for one in paths:
        data = files.read(one)
        if isinstance(data, Missing):
            continue
        found = data if isinstance(data, Unclear) else lookup(data)
        left -= len(data) if isinstance(data, bytes) else 0
        if found == TOO_SLOW:
            return CantTell(TOO_SLOW.why, one)
        if isinstance(found, Unclear):
            doubt = doubt or CantTell(found.why, one)
        elif found:
            return HOLDS
        if left < 0:
            return CantTell(f"the matching files are larger than {_MOST_BYTES >> 20} MB in total", path)
    return doubt or _lacking(path, len(paths), files, what)


def _lacking(path: str, count: int, files: ProjectFiles, what: str) -> Fails:
    if not is_glob(path) or (count == 1 and files.exists(path)):
        text = f"{path} doesn't contain {what}." if files.exists(path) else f"{path} doesn't exist."
    elif count == 0:
        text = f"No file matches {path}."
    else:
        text = f"None of the {count:,} files that match {path} contains {what}."
    return Fails(text, path, Lines(path, text))


def _line_with(data: bytes, text: str) -> int | Unclear:
    """Return the line of the first occurrence of a text."""
    decoded = _decoded(data)
    if decoded is None:
        at = data.find(text.encode())
        return data.count(b"\n", 0, at) + 1 if at >= 0 else Unclear("it is a binary file")
    at = decoded.find(text)
    return decoded.count("\n", 0, at) + 1 if at >= 0 else 0


def _line_like(data: bytes, pattern: str, searcher: Searcher) -> int | Unclear:
    """Return the line of the first match of a regular expression."""
    decoded = _decoded(data)
    if decoded is None:
        return Unclear("it is a binary file")
    match searcher.search(pattern, decoded):
        case Found(line=line):
            return line
        case TooSlow():
            return TOO_SLOW


def _decoded(data: bytes) -> str | None:
    """Return the text of a file with line feeds as line breaks, or None if it is binary. Invalid bytes stay invalid."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    elif b"\0" in data:
        return None
    else:
        text = data.decode(errors="surrogateescape").removeprefix("\ufeff")
    return text.replace("\r\n", "\n")


def _symbol(condition: SymbolIn, files: ProjectFiles) -> Result:
    path, name = condition.path, condition.name
    data = files.read(path)
    if isinstance(data, Unclear):
        return CantTell(data.why, path)
    if isinstance(data, Missing):
        return Fails(f"{path} doesn't exist.", path, Lines(path, f"{path} doesn't exist."))
    text = parts.Text(path, data)
    if text.is_binary:
        return CantTell("it is a binary file", path)
    if parts.is_defined(text, name):
        return HOLDS
    if (line := text.source.error_line) is not None:
        proof = line_proof(path, line, text.plain.split("\n")[line - 1])
        return CantTell(f"the code can't be parsed at line {line}", f"{path}:{line}", proof)
    what = f"{path} doesn't define `{name}`."
    return Fails(what, path, Lines(path, what))
