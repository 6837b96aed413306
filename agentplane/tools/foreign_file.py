"""Writes of project files that people and other programs also change, without losing concurrent changes."""

import difflib
import os
import shlex
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.git import git
from agentplane.system import processes
from agentplane.text import files


_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LARGEST = 4 << 20


class Change(msgspec.Struct, frozen=True):
    """The current and the new content of a file. None means that the file doesn't exist."""

    path: str
    before: bytes | None
    after: bytes | None

    def diff(self) -> list[str]:
        """Return the change as `diff -u` shows it."""
        old, new = ((data or b"").decode(errors="replace").splitlines() for data in (self.before, self.after))
        names = (
            "/dev/null" if self.before is None else f"a/{self.path}",
            "/dev/null" if self.after is None else f"b/{self.path}",
        )
        return list(difflib.unified_diff(old, new, *names, lineterm=""))


def real(project: Path, path: str) -> Path:
    return Path(os.path.realpath(project / path))


def trouble(project: Path, path: str) -> str:
    """Return the reason agentplane may not write a file, or an empty string if it may."""
    target = real(project, path)
    if not target.is_relative_to(os.path.realpath(project)):
        return "is a link to a file outside the project"
    try:
        found = os.lstat(target)
    except FileNotFoundError:
        return ""
    except OSError:
        return "can't be reached, because part of its path isn't a folder"
    if not stat.S_ISREG(found.st_mode):
        return "isn't a regular file"
    if not found.st_mode & stat.S_IWUSR:
        return "is read-only"
    if found.st_size > _LARGEST:
        return f"is larger than {_LARGEST >> 20} MB, the limit for settings and instruction files"
    try:
        return "is not UTF-8" if files.read(target).startswith(_UTF16) else ""
    except AgentplaneError as error:
        return f"can't be read: {error.what}"


def write(project: Path, change: Change) -> str:
    """Write a change, or remove the file. Return the reason for a failure, or an empty string."""
    target = real(project, change.path)
    try:
        if change.after is None:
            if files.read_if(target) != change.before:
                return "was changed by another program in the meantime"
            files.remove(target)
            drop_folders(project, target.parent)
            return ""
        if change.before is None and _is_not_checked_out(target):
            wanted = shlex.quote(os.path.dirname(change.path) or change.path)
            return f"is in Git, but it isn't checked out here. Run `git sparse-checkout add {wanted}` first"
        make_folders(project, target.parent)
        done = files.replace(target, change.before, change.after)
    except AgentplaneError as error:
        return f"can't be written: {error.what}"
    return "" if done else "was changed by another program in the meantime"


def _is_not_checked_out(target: Path) -> bool:
    """True if a missing file is only excluded from this work tree. A new file would then change it."""
    folder = next(folder for folder in target.parents if folder.is_dir())
    found = git.in_index(folder, os.path.relpath(target, folder))
    return found is not None and not found.is_checked_out


def write_all(project: Path, changes: Iterable[Change]) -> tuple[list[str], dict[str, str]]:
    """Write all changes. Return the written files, and the reason for each failure."""
    done, failed = [], {}
    for change in changes:
        why = write(project, change)
        if why:
            failed[change.path] = why
        else:
            done.append(change.path)
    return done, failed


def left_over(project: Path, paths: Iterable[str]) -> list[Path]:
    """Return the temporary files that killed writes of these files left behind.

    A file counts only if it has the name that such a write gives it, belongs to this user, and its process
    has ended. Git must not track it, because a file that came with a clone belongs to somebody.
    """
    wanted: dict[Path, set[str]] = {}
    for path in paths:
        target = real(project, path)
        if target.is_relative_to(os.path.realpath(project)):
            wanted.setdefault(target.parent, set()).add(target.name)
    return [folder / name for folder, names in wanted.items() for name in _temps(folder, names)]


def clear_left_over(project: Path, paths: Iterable[str]) -> None:
    """Remove leftover files. `doctor` keeps reporting a file that can't be removed."""
    for path in left_over(project, paths):
        with suppress(AgentplaneError):
            files.remove(path)


def _temps(folder: Path, names: set[str]) -> list[str]:
    try:
        listed = sorted(os.listdir(folder))
    except OSError:
        return []
    found = []
    for name in listed:
        made = files.temp_of(name)
        if made is None or made[0] not in names:
            continue
        about = os.lstat(folder / name)
        if stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid() and not processes.started_at(made[1]):
            found.append(name)
    known = git.tracked(folder, found) or set() if found else set()
    return [name for name in found if name not in known]


def make_folders(project: Path, folder: Path) -> None:
    top = Path(os.path.realpath(project))
    for part in reversed([folder, *folder.parents]):
        if part.is_relative_to(top) and part != top:
            files.make_folder(part)


def drop_folders(project: Path, folder: Path) -> None:
    """Remove empty folders, from the innermost up to the project."""
    top = Path(os.path.realpath(project))
    with suppress(OSError):
        while folder != top and folder.is_relative_to(top):
            os.rmdir(folder)
            folder = folder.parent
