"""What a run starts from and what it leaves: git, the files it tracks, the memory, the environment."""

import os
import shutil
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from agentplane.plane import git
from agentplane.review.masks import masked_text


_FEW = 200
_SECONDS = 60
_PATH_AFTER = {"1": 8, "2": 9, "u": 10}
"""How many fields stand before the path in a line of `git status --porcelain=v2`."""


class Git(msgspec.Struct, frozen=True, omit_defaults=True):
    """The repository at one moment."""

    head: str | None = None
    branch: str | None = None
    dirty: list[str] = []
    """What `git status` says, a line each; a few hundred at most."""
    dirty_more: int = 0
    tree: str | None = None
    """All tracked files as they stand in the work tree, as a tree of git's."""


class Changed(msgspec.Struct, frozen=True):
    """A tracked file that differs between two trees."""

    path: str
    gone: bool


def look(project: Path, work: Path, plane: str) -> Git:
    """The repository now; all None where there is none. Objects that this makes stay in `work`."""
    status = git.output(
        project,
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=all",
        "--",
        *_pathspec(plane),
    )
    if status is None:
        return Git()
    head, branch, lines = _read_status(status)
    # What git calls clean is the tree of the commit: nothing needs to be made of the work tree then.
    clean = head is not None and all(line.startswith("??") for line in lines)
    return Git(
        head=head,
        branch=branch,
        dirty=lines[:_FEW],
        dirty_more=max(0, len(lines) - _FEW),
        tree=tree_of(project, head) if clean else _tree(project, work, plane),
    )


def _read_status(status: bytes) -> tuple[str | None, str | None, list[str]]:
    """Head, branch, and a line for each path as `git status --short` has it."""
    head = branch = None
    lines = []
    fields = iter(status.decode(errors="replace").split("\0"))
    for field in fields:
        kind, _, rest = field.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            head = value if name == "branch.oid" and value != "(initial)" else head
            branch = value if name == "branch.head" and value != "(detached)" else branch
        elif kind == "?":
            lines.append(f"?? {rest}")
        elif kind in _PATH_AFTER:
            lines.append(f"{rest[:2].replace('.', ' ')} {field.split(' ', _PATH_AFTER[kind])[-1]}")
            if kind == "2":
                next(fields, None)  # the name that it had before
    return head, branch, lines


def changed(project: Path, work: Path, before: str, after: str, plane: str) -> list[Changed]:
    """What differs between two trees of one run, but for the plane itself."""
    if before == after:
        return []
    found = (
        _git(
            project,
            work,
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--relative",
            "--name-status",
            before,
            after,
            "--",
            *_pathspec(plane),
        )
        or b""
    )
    fields = [field.decode(errors="surrogateescape") for field in found.split(b"\0") if field]
    return [Changed(path, status == "D") for status, path in zip(fields[::2], fields[1::2], strict=False)]


def patch(project: Path, work: Path, before: str, after: str, plane: str) -> bytes:
    """The same as git applies it."""
    return (
        _git(
            project,
            work,
            "diff",
            "--binary",
            "--relative",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            before,
            after,
            "--",
            *_pathspec(plane),
        )
        or b""
    )


def tree_of(project: Path, commit: str | None) -> str | None:
    """The tree of a commit; that of no files where there is no commit."""
    return git.run(project, "rev-parse", f"{commit}^{{tree}}") if commit else git.run(project, "mktree")


def forget(work: Path) -> None:
    """Removes the objects that looks made."""
    shutil.rmtree(work / "git", ignore_errors=True)


def environment(variables: Mapping[str, str], allowed: Iterable[str]) -> dict[str, str]:
    """The variables that the settings allow; a secret in one of them is masked."""
    wanted = tuple(allowed)
    return {
        name: masked_text(value)
        for name, value in sorted(variables.items())
        if any(fnmatchcase(name, pattern) for pattern in wanted)
    }


def _pathspec(plane: str) -> tuple[str, ...]:
    return (".", f":(exclude){plane}")


def _tree(project: Path, work: Path, plane: str) -> str | None:
    """The tracked files of the work tree as a tree, made in an index of our own: that of the person stays as it is."""
    places = git.run(project, "rev-parse", "--git-path", "index", "--git-path", "objects")
    if places is None or places.count("\n") != 1:
        return None
    index, objects = places.split("\n")
    (work / "git" / "objects" / "info").mkdir(parents=True, exist_ok=True)
    alternates = work / "git" / "objects" / "info" / "alternates"
    alternates.write_bytes(os.fsencode(project / objects) + b"\n")
    own = work / "git" / "index"
    try:
        shutil.copyfile(project / index, own)
    except FileNotFoundError:
        own.unlink(missing_ok=True)
    except OSError:
        return None
    if _git(project, work, "add", "--update", "--", *_pathspec(plane)) is None:
        return None
    found = _git(project, work, "write-tree")
    return found.decode().strip() if found else None


def _git(project: Path, work: Path, *words: str) -> bytes | None:
    """A git command that finds the objects of a look, and writes its own beside them."""
    made = work / "git"
    more = {"GIT_INDEX_FILE": str(made / "index"), "GIT_OBJECT_DIRECTORY": str(made / "objects")}
    return git.output(
        project,
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.quotePath=false",
        *words,
        more=more if (made / "objects").is_dir() else None,
        seconds=_SECONDS,
    )
