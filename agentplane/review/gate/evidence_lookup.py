"""Lookup of evidence where that is cheap and safe, in project files and commits. Nothing is fetched.

Files outside the project are never opened, whatever path or link leads to them.
"""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.memory import evidence as forms
from agentplane.memory.evidence import Commit, File, Heading, Lines, Outside, Place, Symbol
from agentplane.plane.git import git
from agentplane.text import files


Trouble = Literal["gone", "outside"]

MOST = 24
"""Maximum number of pieces of evidence per proposal that are looked up."""
_LARGEST = 4 << 20
_MOST_COMMITS = 4

_SLUG_DROPPED = re.compile(r"[^\w\- ]")


class Lack(msgspec.Struct, frozen=True):
    place: int
    """Index of the piece of evidence."""
    trouble: Trouble
    what: str
    """The problem, as a predicate of the evidence."""


_Wrong = tuple[Trouble, str]
"""The fields of a `Lack` after its place."""


def lacks(evidence: Sequence[str], project: Path) -> list[Lack]:
    """Return the problems of these pieces of evidence. Evidence that names no file or commit is ignored."""
    root = os.path.realpath(project)
    exists = forms.exists_in(root)
    found = []
    commits: dict[int, str] = {}
    for place, raw in enumerate(evidence[:MOST]):
        match forms.parse(raw, exists):
            case Commit(name=name):
                commits[place] = name
            case Outside(is_relative=True):
                what = "contains `..`, but a path must start at the top of the project"
                found.append(Lack(place, "outside", what))
            case Outside():
                found.append(Lack(place, "outside", "is outside the project"))
            case File() | Lines() | Symbol() | Heading() as named:
                if lack := _of_path(named, root):
                    found.append(Lack(place, *lack))
            case _:
                pass
    unknown = _unknown_commits(commits, project)
    found += [Lack(place, "gone", "isn't a commit that Git knows") for place in unknown]
    return sorted(found, key=lambda lack: lack.place)


def _of_path(named: Place, root: str) -> _Wrong | None:
    path = os.path.realpath(os.path.join(root, named.path))
    if path != root and not path.startswith(root.rstrip("/") + "/"):
        return "outside", "is a link to a file outside the project"
    line, symbol = _parts(named)
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return "gone", "doesn't exist"
    if stat.S_ISLNK(status.st_mode):
        return "gone", "is a broken link"
    if not stat.S_ISREG(status.st_mode):
        lost = line or symbol
        return ("gone", "isn't a file, so it has no lines or symbols") if lost else None
    if (line is None and not symbol) or status.st_size > _LARGEST:
        return None
    return _inside(path, line, symbol)


def _parts(named: Place) -> tuple[int | None, str]:
    match named:
        case File():
            return None, ""
        case Lines(first=first):
            return first, ""
        case Symbol(name=name, line=line) | Heading(name=name, line=line):
            return line, name


def _inside(path: str, line: int | None, symbol: str) -> _Wrong | None:
    try:
        data = files.read(path)
    except AgentplaneError:
        return "gone", "can't be read"
    if line is not None:
        count = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        if line > count or line == 0:
            return "gone", f"has no line {line}, because it has only {count} lines"
    if symbol and not _holds(data.decode(errors="replace"), symbol, path):
        return "gone", "doesn't contain the name after `#`"
    return None


def _holds(text: str, symbol: str, path: str) -> bool:
    if path.endswith((".md", ".rst", ".markdown")) and symbol.lower() in _slugs(text):
        return True
    words = [word for word in re.split(r"::|[.#:/()\[\] ]+", symbol) if word]
    return bool(words) and all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in words[:8])


def _slugs(text: str) -> set[str]:
    heads = (line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#"))
    return {_SLUG_DROPPED.sub("", head.lower()).replace(" ", "-") for head in heads}


def _unknown_commits(commits: dict[int, str], project: Path) -> list[int]:
    """Return the places of the commits that git doesn't know. None if the history is shallow or git is
    missing.
    """
    if not commits or not git.has_history(project):
        return []
    wanted = list(commits.items())[:_MOST_COMMITS]
    return [place for place, commit in wanted if git.knows(project, commit) is None]
