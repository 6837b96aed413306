"""What git is told so that it merges a plane: a driver in its settings, hooks that settle, files in conflict."""

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.plane import git, gitattributes, githooks, programs
from agentplane.plane.git import ObjectId
from agentplane.plane.layout import Layout
from agentplane.text import files


_DRIVERS: dict[Literal["memory", "tools"], tuple[str, str, str]] = {
    "memory": ("merge.agentplane", "agentplane: entry by entry", "merge-file %O %A %B %L %P"),
    "tools": (
        "merge.agentplane-tools",
        "agentplane: the managed block entry by entry, the rest as git does",
        "merge-tool-file -- %O %A %B %L %P %S %X %Y",
    ),
}
"""The drivers that git is told: the section of its settings, the name, and the words of the command."""


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
    """Whether git knows the drivers; None: there is no repository here."""
    if not git.is_here(layout.project):
        return None
    return all(git.driver(layout.project, "driver", of) for of in _DRIVERS)


def set_up(layout: Layout, paths: Sequence[str] = ()) -> list[str]:
    """Sets the drivers, which files outside of the plane they are for, and the hooks that are free. Says what was done."""
    if not git.is_here(layout.project):
        return []
    done = [f"git config {key}" for key in _set_drivers(layout)]
    if paths and gitattributes.put(layout, paths):
        done.append("merge drivers in .git/info/attributes")
    return done + [f"git hook {name}" for name in githooks.set_up(layout, command())]


def remove(layout: Layout) -> list[str]:
    """Takes out of the repository's settings what `set_up` put there. Says what was done."""
    if not git.is_here(layout.project):
        return []
    done = ["merge drivers in .git/config"] if git.forget_drivers(layout.project) else []
    if gitattributes.drop(layout):
        done.append("merge drivers in .git/info/attributes")
    return done + [f"git hook {name}" for name in githooks.remove(layout)]


def _set_drivers(layout: Layout) -> Iterator[str]:
    for of, (key, name, words) in _DRIVERS.items():
        wanted: dict[Literal["name", "driver"], str] = {"name": name, "driver": f"{command()} {words}"}
        for field, value in wanted.items():
            found = git.driver(layout.project, field, of)
            stands = found == value or (field == "driver" and _is_another_installation(found or "", words))
            if not stands and git.set_driver(layout.project, field, value, of):
                yield f"{key}.{field}"


def _is_another_installation(driver: str, expected: str) -> bool:
    """True if the driver belongs to another working copy of this program, which is still there and starts isolated."""
    try:
        words = shlex.split(driver)
    except ValueError:
        return False
    return driver.endswith(expected) and programs.is_isolated(words) and os.path.isfile(words[0])


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


def is_done(folder: Path, hook: str, given: Sequence[str]) -> bool:
    """Whether git has done all that a person asked of it, when it calls a hook.

    Files that a hook writes between two commits of a rebase or a cherry-pick would stop the next one, and so would they stop
    git from bringing back an autostash.
    """
    if hook == "post-rewrite":
        return list(given[:1]) == ["rebase"] and not git.will_unstash(folder)
    if hook == "post-merge":
        return not git.will_unstash(folder)
    if hook == "post-checkout" and list(given[2:3]) == ["0"]:
        return False  # single files were checked out
    return not git.going_on(folder) & {"rebase-merge", "rebase-apply"} and not _has_more_to_pick(folder)


def _has_more_to_pick(folder: Path) -> bool:
    path = git.sequencer(folder)
    lines = (files.read_if(path) or b"").splitlines() if path else []
    return len([line for line in lines if line.strip() and not line.startswith(b"#")]) > 1


def merging(layout: Layout) -> bool:
    """Whether a merge waits to be committed."""
    return "MERGE_HEAD" in git.going_on(layout.root)


def in_conflict(layout: Layout, folder: Path | None = None) -> list[Stages]:
    """The files of the plane, or of another folder, that git left in conflict."""
    found: dict[str, dict[str, ObjectId]] = {}
    for one in git.stages(folder or layout.root):
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
