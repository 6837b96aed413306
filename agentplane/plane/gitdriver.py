"""What git is told so that it merges a plane: a driver in its settings, hooks that settle, files in conflict."""

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from agentplane.plane import git, programs
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
    if git.run(layout.project, "rev-parse", "--git-dir") is None:
        return None
    return bool(git.run(layout.project, "config", "--get", f"{_KEY}.driver"))


def set_up(layout: Layout) -> list[str]:
    """Sets the driver and, where a person has none of their own, the hooks. Says what was done."""
    if git.run(layout.project, "rev-parse", "--git-dir") is None:
        return []
    done = []
    wanted = {f"{_KEY}.name": NAME, f"{_KEY}.driver": f"{command()} {_WORDS}"}
    for key, value in wanted.items():
        if not _stands(layout, key, value) and git.run(layout.project, "config", key, value) is not None:
            done.append(f"git config {key}")
    return done + [f"git hook {name}" for name in _set_hooks(layout)]


def _stands(layout: Layout, key: str, value: str) -> bool:
    found = git.run(layout.project, "config", "--get", key)
    if found is None:
        return False
    return found == value or (key.endswith(".driver") and _is_another_installation(found))


def _is_another_installation(driver: str) -> bool:
    """True if the driver belongs to another working copy of this program, which is still there and starts isolated."""
    try:
        words = shlex.split(driver)
    except ValueError:
        return False
    return driver.endswith(_WORDS) and programs.is_isolated(words) and os.path.isfile(words[0])


def _set_hooks(layout: Layout) -> Iterator[str]:
    """Never beside what a person has set up: hooks of their own, or another folder for them."""
    if git.run(layout.project, "config", "--get", "core.hooksPath"):
        return
    folder = git.run(layout.project, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
    if folder is None or not os.path.isdir(os.path.dirname(folder)):
        return
    for name in HOOKS:
        path = Path(folder) / name
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
    return next((name for mark, name in marks.items() if _has(layout, mark)), None)


def merging(layout: Layout) -> bool:
    """Whether a merge waits to be committed."""
    return _has(layout, "MERGE_HEAD")


def _has(layout: Layout, mark: str) -> bool:
    found = git.run(layout.root, "rev-parse", "--path-format=absolute", "--git-path", mark)
    return found is not None and os.path.lexists(found)


def in_conflict(layout: Layout) -> list[Stages]:
    """The files of the plane that git left in conflict."""
    listed = git.output(layout.root, "ls-files", "-u", "-z", "--full-name", "--", ".")
    found: dict[str, dict[str, str]] = {}
    for row in (listed or b"").split(b"\0"):
        head, _, path = row.partition(b"\t")
        if path:
            _, blob, stage = head.decode().split()
            found.setdefault(os.fsdecode(path), {})[stage] = blob
    return [
        Stages(path, *(_blob(layout, stages.get(stage)) for stage in ("1", "2", "3")))
        for path, stages in sorted(found.items())
    ]


def _blob(layout: Layout, name: str | None) -> bytes | None:
    return None if name is None else git.output(layout.root, "cat-file", "blob", name)


def add(layout: Layout, paths: list[str]) -> bool:
    """Tells git that these files, seen from the plane's folder, are as they should be."""
    return (
        not paths
        or git.output(layout.root, "add", "--", *(f":(literal){path}" for path in paths)) is not None
    )


def unstaged(layout: Layout) -> set[str]:
    """The files, seen from the plane's folder, that are not as git's index has them."""
    listed = git.output(layout.root, "diff", "--name-only", "-z", "--relative", "--", ".") or b""
    return {os.fsdecode(name) for name in listed.split(b"\0") if name}
