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
        project, "status", "--porcelain", "-z", "--untracked-files=all", "--", *_pathspec(plane)
    )
    if status is None:
        return Git()
    lines = [line.decode(errors="replace") for line in status.split(b"\0") if line]
    return Git(
        head=git.run(project, "rev-parse", "--verify", "--quiet", "HEAD") or None,
        branch=git.branch(project),
        dirty=lines[:_FEW],
        dirty_more=max(0, len(lines) - _FEW),
        tree=_tree(project, work, plane),
    )


def changed(project: Path, work: Path, before: str, after: str) -> list[Changed]:
    """What differs between two trees of one run."""
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
        )
        or b""
    )
    fields = [field.decode(errors="surrogateescape") for field in found.split(b"\0") if field]
    return [Changed(path, status == "D") for status, path in zip(fields[::2], fields[1::2], strict=False)]


def patch(project: Path, work: Path, before: str, after: str) -> bytes:
    """The difference of two trees, as git applies it."""
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
            before,
            after,
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
    index = git.run(project, "rev-parse", "--git-path", "index")
    if index is None:
        return None
    (work / "git" / "objects").mkdir(parents=True, exist_ok=True)
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
    """A git command that writes its objects into `work` only."""
    objects = git.run(project, "rev-parse", "--git-path", "objects")
    if objects is None:
        return None
    more = {
        "GIT_INDEX_FILE": str(work / "git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(work / "git" / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(project, objects),
    }
    return git.output(
        project,
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.quotePath=false",
        *words,
        more=more,
        seconds=_SECONDS,
    )
