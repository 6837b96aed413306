"""What git is told so that it merges a plane: a driver in its settings, hooks that settle, files in conflict."""

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.plane import git, programs
from agentplane.plane.git import ObjectId
from agentplane.plane.layout import Layout
from agentplane.plane.stamp import FOLDER
from agentplane.text import files


NAME = "agentplane: entry by entry"
_KEY = "merge.agentplane"
_WORDS = "merge-file %O %A %B %L %P"
HOOKS = ("post-merge", "post-rewrite")
_MARK = "# Set up by `agentplane init`; delete this file if you do not want it."


class Stages(msgspec.Struct, frozen=True):
    """A file that git could not merge; None: it is not there on that side."""

    path: str
    """Seen from the top of the repository."""
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


def command() -> str:
    """How git starts this program, whatever its PATH is and whatever the work tree contains."""
    return shlex.join(programs.python("agentplane"))


def is_set(layout: Layout) -> bool | None:
    """Whether git knows the driver; None: there is no repository here."""
    return bool(git.driver(layout.project, "driver")) if git.is_here(layout.project) else None


def set_up(layout: Layout) -> list[str]:
    """Sets the driver and, where a person has none of their own, the hooks. Says what was done."""
    if not git.is_here(layout.project):
        return []
    done = [f"git config {_KEY}.{field}" for field in _set_driver(layout)]
    return done + [f"git hook {name}" for name in _set_hooks(layout)]


def _set_driver(layout: Layout) -> list[Literal["name", "driver"]]:
    wanted: dict[Literal["name", "driver"], str] = {"name": NAME, "driver": f"{command()} {_WORDS}"}
    missing = [field for field, value in wanted.items() if not _stands(layout, field, value)]
    return [field for field in missing if git.set_driver(layout.project, field, wanted[field])]


def _stands(layout: Layout, field: Literal["name", "driver"], value: str) -> bool:
    found = git.driver(layout.project, field)
    if found is None:
        return False
    return found == value or (field == "driver" and _is_another_installation(found))


def _is_another_installation(driver: str) -> bool:
    """True if the driver belongs to another working copy of this program, which is still there and starts isolated."""
    try:
        words = shlex.split(driver)
    except ValueError:
        return False
    return driver.endswith(_WORDS) and programs.is_isolated(words) and os.path.isfile(words[0])


def _set_hooks(layout: Layout) -> Iterator[str]:
    """Never beside what a person has set up: hooks of their own, or another folder for them."""
    folder = git.hooks(layout.project)
    if folder is None or not folder.parent.is_dir():
        return
    for name in HOOKS:
        path = folder / name
        text = _hook(layout)
        if os.path.lexists(path) and not _is_ours(path):
            continue
        if files.read_if(path) == text.encode():
            continue
        path.parent.mkdir(exist_ok=True)
        files.write_atomic(path, text.encode())
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        yield name


def _hook(layout: Layout) -> str:
    """Git runs it at the top of the work tree; a plane further down is named."""
    above = git.top(layout.root) or layout.project
    where = os.path.relpath(layout.root, above)
    named = "" if where == FOLDER else f" --plane {shlex.quote(where)}"
    return f"#!/bin/sh\n{_MARK}\n{command()}{named} settle --quiet || true\n"


def _is_ours(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and _MARK.encode() in path.read_bytes()


def top(layout: Layout) -> Path | None:
    return git.top(layout.root)


def picking(layout: Layout) -> str | None:
    """What git does commit by commit right now, if it does: the rest of it is still to come."""
    marks = {
        "rebase-merge": "rebase",
        "rebase-apply": "rebase",
        "CHERRY_PICK_HEAD": "cherry-pick",
        "REVERT_HEAD": "revert",
    }
    found = git.going_on(layout.root)
    return next((name for mark, name in marks.items() if mark in found), None)


def merging(layout: Layout) -> bool:
    """Whether a merge waits to be committed."""
    return "MERGE_HEAD" in git.going_on(layout.root)


def in_conflict(layout: Layout) -> list[Stages]:
    """The files of the plane that git left in conflict."""
    found: dict[str, dict[str, ObjectId]] = {}
    for one in git.stages(layout.root):
        found.setdefault(one.path, {})[one.number] = one.oid
    return [
        Stages(path, *(_blob(layout, stages.get(stage)) for stage in ("1", "2", "3")))
        for path, stages in sorted(found.items())
    ]


def _blob(layout: Layout, name: ObjectId | None) -> bytes | None:
    return None if name is None else git.blob(layout.root, name)


def add(layout: Layout, paths: list[str]) -> bool:
    """Tells git that these files, seen from the plane's folder, are as they should be."""
    return not paths or git.add(layout.root, paths)


def unstaged(layout: Layout) -> set[str]:
    """The files, seen from the plane's folder, that are not as git's index has them."""
    return set(git.unstaged(layout.root))
