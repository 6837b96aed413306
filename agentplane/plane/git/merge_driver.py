"""What git is told so that it merges a plane: a driver in its settings, hooks that settle, files in conflict."""

import os
import shlex
from collections.abc import Iterator, Sequence
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
"""The merge drivers: the section of Git's settings, the name, and the words of the command."""
LEFT_IN_CONFLICT = 10
"""The exit code of a driver that did its work and left a conflict. Python ends with 1 where it can't start a module."""
_OR_GIT = (
    f"; code=$?; [ $code = 0 ] && exit 0; [ $code = {LEFT_IN_CONFLICT} ] && exit 1; "
    'echo "agentplane did not run, so Git merged" %P. >&2; '
    'echo "  Reinstall agentplane, then run: agentplane init; agentplane settle" >&2; '
    "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B || exit 1"
)
"""The shell code after the command. Git takes any other exit code for a conflict and leaves the file without markers.
Then the next `git add` would drop the text of the other side.
"""


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


def is_current(layout: Layout) -> bool:
    """Whether git knows the drivers as this version sets them, of this installation or of another one."""
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


def set_up(layout: Layout, paths: Sequence[str] = ()) -> list[str]:
    """Set up the drivers, the attributes of files outside of the plane, and the free hooks. Return what was done."""
    if not git.is_here(layout.project):
        return []
    done = [f"git config {key}" for key in _set_drivers(layout)]
    if paths and git_attributes.put(layout, paths):
        done.append("merge drivers in .git/info/attributes")
    return done + [f"git hook {name}" for name in git_hooks.set_up(layout, command())]


def remove(layout: Layout) -> list[str]:
    """Remove everything that `set_up` put into the repository's settings. Return what was done."""
    if not git.is_here(layout.project):
        return []
    done = ["merge drivers in .git/config"] if git.forget_drivers(layout.project) else []
    if git_attributes.drop(layout):
        done.append("merge drivers in .git/info/attributes")
    return done + [f"git hook {name}" for name in git_hooks.remove(layout)]


def _set_drivers(layout: Layout) -> Iterator[str]:
    for of, (key, name, words) in _DRIVERS.items():
        python, *more = (shlex.quote(word.replace("%", "%%")) for word in programs.python("agentplane"))
        whole = f"test -x {python} && {python} {' '.join(more)} {words}{_OR_GIT}"
        wanted: dict[Literal["name", "driver"], str] = {"name": name, "driver": whole}
        for field, value in wanted.items():
            found = git.driver(layout.project, field, of)
            expected = f" {words}{_OR_GIT}"
            stands = found == value or (field == "driver" and _is_another_installation(found or "", expected))
            if not stands and git.set_driver(layout.project, field, value, of):
                yield f"{key}.{field}"


def _is_another_installation(driver: str, expected: str) -> bool:
    """True if the driver belongs to another working copy of this program, which is still there and starts isolated."""
    words = _words(driver)
    return driver.endswith(expected) and programs.is_isolated(words) and os.path.isfile(words[0])


def _words(driver: str) -> list[str]:
    """The command line of a driver. Git reads two percent signs as one."""
    try:
        words = [word.replace("%%", "%") for word in shlex.split(driver)]
    except ValueError:
        return []
    return words[4:] if words[:1] == ["test"] else words


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
    """True if Git has finished the person's command when it calls a hook.

    Files written between two commits of a rebase or a cherry-pick would stop the next commit, or the restore of an
    autostash.
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
