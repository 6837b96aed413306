"""Git's setup to merge a plane: the driver in its settings, the hooks that settle, and files in conflict."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.plane.git import git, git_attributes, git_hooks
from agentplane.plane.git.git import ObjectId
from agentplane.plane.layout import Layout
from agentplane.system import programs
from agentplane.text import files


_DRIVERS: dict[Literal["memory", "tools"], tuple[str, str, str]] = {
    "memory": ("merge.agentplane", "agentplane: entry by entry", "merge-file %O %A %B %L %P"),
    "tools": (
        "merge.agentplane-tools",
        "agentplane: the managed block entry by entry, the rest as git does",
        "merge-tool-file -- %O %A %B %L %P %S %X %Y",
    ),
}
"""The merge drivers, each with a section of Git's settings, a name, and the words of the command."""
_CONFIG, _ATTRIBUTES = ".git/config", ".git/info/attributes"
LEFT_IN_CONFLICT = 10
"""Exit code of a driver that worked and left a conflict. Python exits with 1 if it can't start a module."""
_OR_GIT = (
    f"; code=$?; [ $code = 0 ] && exit 0; [ $code = {LEFT_IN_CONFLICT} ] && exit 1; "
    'echo "agentplane did not run, so Git merged" %P. >&2; '
    'echo "  Reinstall agentplane, then run: agentplane init; agentplane reconcile" >&2; '
    "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B || exit 1"
)
"""The shell code after the command. Git treats any other exit code as a conflict and leaves the file without
markers. Then the next `git add` would drop the text of the other side.
"""


class GitSetup(msgspec.Struct, frozen=True):
    """The parts of a repository's Git setup that were added or removed."""

    drivers: tuple[str, ...] = ()
    """The files with merge drivers."""
    hooks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.drivers or self.hooks)

    def __str__(self) -> str:
        parts = [("merge drivers in", self.drivers), ("hooks", self.hooks)]
        return ", ".join(f"{noun} {_listed(names)}" for noun, names in parts if names)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


class Stages(msgspec.Struct, frozen=True):
    """The versions of a file that Git could not merge. None means that a side doesn't have the file."""

    path: str
    """The path, relative to the top of the repository."""
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


def command() -> str:
    """Return Git's command for this program, which works with any PATH and any files in the work tree."""
    return shlex.join(programs.python("agentplane"))


def is_current(layout: Layout) -> bool:
    """True if Git knows the drivers of this version, from this installation or another one."""
    return all(
        (git.driver(layout.project, "driver", of) or "").endswith(f" {words}{_OR_GIT}")
        for of, (_, _, words) in _DRIVERS.items()
    )


def is_lost(layout: Layout) -> str | None:
    """Return the program of a merge driver if it is missing, because it was uninstalled or its folder moved."""
    for of in _DRIVERS:
        words = _words(git.driver(layout.project, "driver", of) or "")
        if words and os.path.isabs(words[0]) and not os.path.isfile(words[0]):
            return words[0]
    return None


def is_set(layout: Layout) -> bool | None:
    """True if Git knows the drivers, or None if there is no repository."""
    if not git.is_here(layout.project):
        return None
    return all(git.driver(layout.project, "driver", of) for of in _DRIVERS)


def set_up(layout: Layout, paths: Sequence[str] = ()) -> GitSetup:
    """Set up the drivers, the attributes of files outside of the plane, and the free hooks.

    Return what was missing.
    """
    if not git.is_here(layout.project):
        return GitSetup()
    drivers = [_CONFIG] if _set_drivers(layout) else []
    drivers += [_ATTRIBUTES] if paths and git_attributes.put(layout, paths) else []
    return GitSetup(tuple(drivers), tuple(git_hooks.set_up(layout, command())))


def remove(layout: Layout) -> GitSetup:
    """Remove everything that `set_up` put into the repository's settings. Return what was removed."""
    if not git.is_here(layout.project):
        return GitSetup()
    drivers = [_CONFIG] if git.forget_drivers(layout.project) else []
    drivers += [_ATTRIBUTES] if git_attributes.drop(layout) else []
    return GitSetup(tuple(drivers), tuple(git_hooks.remove(layout)))


def _set_drivers(layout: Layout) -> bool:
    """Set the missing settings of the drivers. Return True if one was missing."""
    changed = False
    for of, (_, name, words) in _DRIVERS.items():
        python, *more = (shlex.quote(word.replace("%", "%%")) for word in programs.python("agentplane"))
        whole = f"test -x {python} && {python} {' '.join(more)} {words}{_OR_GIT}"
        wanted: dict[Literal["name", "driver"], str] = {"name": name, "driver": whole}
        for field, value in wanted.items():
            found = git.driver(layout.project, field, of)
            expected = f" {words}{_OR_GIT}"
            stands = found == value or (field == "driver" and _is_another_installation(found or "", expected))
            if not stands:
                changed |= git.set_driver(layout.project, field, value, of)
    return changed


def _is_another_installation(driver: str, expected: str) -> bool:
    """True if the driver belongs to another working copy of this program, which exists and starts isolated."""
    words = _words(driver)
    return driver.endswith(expected) and programs.is_isolated(words) and os.path.isfile(words[0])


def _words(driver: str) -> list[str]:
    """Return the command line of a driver. Git reads two percent signs as one."""
    try:
        words = [word.replace("%%", "%") for word in shlex.split(driver)]
    except ValueError:
        return []
    return words[4:] if words[:1] == ["test"] else words


def top(layout: Layout) -> Path | None:
    return git.top(layout.root)


def picking(layout: Layout) -> str | None:
    """Return Git's current operation if it goes commit by commit and isn't finished, or None."""
    marks = {
        "rebase-merge": "rebase",
        "rebase-apply": "rebase",
        "CHERRY_PICK_HEAD": "cherry-pick",
        "REVERT_HEAD": "revert",
    }
    found = git.unfinished_operations(layout.root)
    return next((name for mark, name in marks.items() if mark in found), None)


def is_done(folder: Path, hook: str, given: Sequence[str]) -> bool:
    """True if Git has finished the person's command when it calls a hook.

    Files written between two commits of a rebase or a cherry-pick would stop the next commit, or the restore of an
    autostash.
    """
    if hook == "post-rewrite":
        return list(given[:1]) == ["rebase"] and not git.will_unstash(folder)
    if hook == "post-merge":
        return not git.will_unstash(folder)
    if hook == "post-checkout" and list(given[2:3]) == ["0"]:
        return False  # Git checked out single files
    return not git.unfinished_operations(folder) & {"rebase-merge", "rebase-apply"} and not _has_more_to_pick(
        folder
    )


def _has_more_to_pick(folder: Path) -> bool:
    path = git.sequencer(folder)
    lines = (files.read_if(path) or b"").splitlines() if path else []
    return len([line for line in lines if line.strip() and not line.startswith(b"#")]) > 1


def merging(layout: Layout) -> bool:
    """True if a merge waits for its commit."""
    return "MERGE_HEAD" in git.unfinished_operations(layout.root)


def in_conflict(layout: Layout, folder: Path | None = None) -> list[Stages]:
    """Return the files of the plane, or of another folder, that Git left in conflict."""
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
    """Add files to Git's index, which also marks their conflicts as resolved.

    Paths are relative to the plane.
    """
    return not paths or git.add(layout.root, paths)


def unstaged(layout: Layout) -> set[str]:
    """Return the files that differ from Git's index, relative to the plane's folder."""
    return set(git.unstaged(layout.root))
