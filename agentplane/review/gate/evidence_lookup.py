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
from agentplane.plane.git import git
from agentplane.text import files
from agentplane.text.visible import is_encodable


Trouble = Literal["gone", "outside"]

MOST = 24
"""Maximum number of pieces of evidence per proposal that are looked up."""
_LARGEST = 4 << 20
_LONGEST = 1024
_MOST_COMMITS = 4

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://|(?:mailto|doi|urn|tel):", re.IGNORECASE)
_COMMIT = re.compile(r"(?:commit[: ]|git:)?([0-9a-f]{7,40})", re.IGNORECASE)
_LINES = re.compile(r"(?P<path>.+?):L?(?P<line>[0-9]{1,9})(?:[:-]L?[0-9]{1,9})?")
_LINE_ANCHOR = re.compile(r"L(?P<line>[0-9]{1,9})(?:C[0-9]+)?(?:-L?[0-9]{1,9}(?:C[0-9]+)?)?")
_ABSOLUTE = re.compile(r"[/~\\]|[A-Za-z]:[\\/]|file:", re.IGNORECASE)
_ISSUE = re.compile(r"[\w.-]+/[\w.-]+#[0-9]+")
_ENDING = re.compile(
    r".+\.(?:py|pyi|md|rst|txt|toml|ya?ml|jsonl?|tsx?|jsx?|mjs|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|sh|sql|"
    r"html?|css|scss|cfg|ini|lock|xml|proto|tf|env|ipynb|log|csv|svg|png)"
)
_SLUG_DROPPED = re.compile(r"[^\w\- ]")


_QUOTES = "`'\"<>"


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
    found = []
    commits: dict[int, str] = {}
    for place, raw in enumerate(evidence[:MOST]):
        if not (text := plain(raw)):
            continue
        if commit := commit_in(text, project):
            commits[place] = commit
        elif lack := _of_path(text, root):
            found.append(Lack(place, *lack))
    unknown = _unknown_commits(commits, project)
    found += [Lack(place, "gone", "isn't a commit that Git knows") for place in unknown]
    return sorted(found, key=lambda lack: lack.place)


def plain(text: str) -> str:
    """Return a piece of evidence without its quotes, or an empty text if it can't be looked up."""
    text = text.strip().strip(_QUOTES).strip()
    return "" if "\0" in text or len(text) > _LONGEST or not is_encodable(text) else text


def is_url(text: str) -> bool:
    """True if a piece of evidence is a URL with text after its scheme."""
    return bool(_URL.match(text)) and not (_ABSOLUTE.match(text) or _URL.fullmatch(text))


def commit_in(text: str, project: Path) -> str | None:
    """Return the commit that a piece of evidence names, or None. A file with that name has priority."""
    found = _COMMIT.fullmatch(text)
    if found is None or found[1].isdigit() or os.path.lexists(os.path.join(project, text)):
        return None
    return found[1]


def path_in(text: str, project: Path) -> str | None:
    """Return the path that a piece of evidence names, relative to the top of the project, or None if it is outside."""
    root = os.path.realpath(project)
    if not text or _ABSOLUTE.match(text) or _URL.match(text):
        return None
    name = _parts(text, root)[0]
    steps = re.split(r"[/\\]", name)
    there = os.path.lexists(os.path.join(root, name))
    return name if ".." not in steps and (there or _is_path(name, text, root)) else None


def _of_path(text: str, root: str) -> _Wrong | None:
    if _ABSOLUTE.match(text):
        return "outside", "is outside the project"
    if _URL.match(text):
        return None
    name, line, symbol = _parts(text, root)
    steps = re.split(r"[/\\]", name)
    if ".." in steps:
        return "outside", "contains `..`, but a path must start at the top of the project"
    path = os.path.realpath(os.path.join(root, name))
    if path != root and not path.startswith(root.rstrip("/") + "/"):
        return "outside", "is a link to a file outside the project"
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return ("gone", "doesn't exist") if _is_path(name, text, root) else None
    if stat.S_ISLNK(status.st_mode):
        return "gone", "is a broken link"
    if not stat.S_ISREG(status.st_mode):
        lost = line or symbol
        return ("gone", "isn't a file, so it has no lines or symbols") if lost else None
    if (line is None and not symbol) or status.st_size > _LARGEST:
        return None
    return _inside(path, line, symbol)


def _parts(text: str, root: str) -> tuple[str, int | None, str]:
    if os.path.lexists(os.path.join(root, text)):
        return text, None, ""
    name, _, symbol = text.partition("#")
    anchor = _LINE_ANCHOR.fullmatch(symbol)
    if anchor:
        return name, int(anchor["line"]), ""
    numbered = _LINES.fullmatch(name)
    if numbered:
        return numbered["path"], int(numbered["line"]), symbol
    if "::" in name:  # the notation of pytest
        name, _, symbol = name.partition("::")
    return name, None, symbol


def _is_path(name: str, text: str, root: str) -> bool:
    """True if a missing name was meant as a path in the project."""
    if not name or any(char.isspace() for char in name) or _ISSUE.fullmatch(text):
        return False
    if _ENDING.fullmatch(name.lower()):
        return True
    first, slash, _ = name.partition("/")
    return bool(slash) and os.path.lexists(os.path.join(root, first))


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
