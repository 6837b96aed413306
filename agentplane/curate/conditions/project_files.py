"""The project files that conditions read. Links out of the project aren't followed, and only plain files are opened."""

import fnmatch
import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec

from agentplane.curate.anchors.tree import LARGEST, Absent, Content, Problem, WorkTree
from agentplane.plane.git import git


MOST_MATCHES = 5000
"""Maximum number of files that a glob may match."""
_MOST_WALKED = 200_000
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"

REASONS: dict[Problem, str] = {
    "missing": "it doesn't exist",
    "outside": "it is a link to a location outside the project",
    "folder": "it is a folder",
    "submodule": "it is in a submodule",
    "special": "it isn't a regular file",
    "unreadable": "it can't be read",
    "too-large": f"it is larger than {LARGEST >> 20} MB",
    "binary": "it is a binary file",
}
_NOT_CHECKED_OUT = "Git doesn't check it out in this work tree"
_SUBMODULE_EMPTY = "it is in a submodule that isn't checked out"
_BROKEN_LINK = "it is a broken link"


class Present(msgspec.Struct, frozen=True):
    """Something is at a path, such as a file or a folder."""


class Missing(msgspec.Struct, frozen=True):
    """Nothing is at a path."""


class Unclear(msgspec.Struct, frozen=True):
    """The reason why agentplane doesn't know what is at a path, or what a file contains."""

    why: str


class ProjectFiles:
    """The files on disk, read for one evaluation."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self._tree = WorkTree(project)

    def state(self, path: str) -> Present | Missing | Unclear:
        """Return whether something is at a path."""
        full = os.path.join(self._tree.root, path)
        if not self._is_inside(full):
            return Unclear(REASONS["outside"])
        if os.path.exists(full):
            return Present()
        if os.path.lexists(full):
            return Unclear(_BROKEN_LINK)
        if self._is_in_empty_submodule(path):
            return Unclear(_SUBMODULE_EMPTY)
        return Unclear(_NOT_CHECKED_OUT) if self._is_left_out(path) else Missing()

    def read(self, path: str) -> bytes | Missing | Unclear:
        """Return the bytes of a file."""
        state = self.state(path)
        if not isinstance(state, Present):
            return state
        found = self._tree.look(path)
        if isinstance(found, Absent):
            return (
                Missing()
                if found.problem == "missing"
                else Unclear(REASONS.get(found.problem, found.problem))
            )
        return _bytes_of(found)

    def exists(self, path: str) -> bool:
        return self._tree.exists(path)

    def matching(self, glob: str) -> Sequence[str] | Unclear:
        """Return the files that a glob matches, without those that Git ignores."""
        if self.exists(glob):
            return (glob,)
        parts = _parts(glob)
        found = [path for path in self.all_files if _is_match(parts, path)]
        if len(found) > MOST_MATCHES:
            return Unclear(f"more than {MOST_MATCHES:,} files match `{glob}`")
        return found

    @cached_property
    def all_files(self) -> Sequence[str]:
        """The files of the project that Git tracks or would track, or all files without Git."""
        tracked = git.tracked(self.project, (".",))
        listed = self._walked() if tracked is None else {*tracked, *git.untracked(self.project)}
        return sorted(listed)

    def _is_left_out(self, path: str) -> bool:
        return path in self._left_out or any(one.startswith(f"{path}/") for one in self._left_out)

    @cached_property
    def _left_out(self) -> Collection[str]:
        """The files that Git tracks, and leaves out of the work tree."""
        return git.not_checked_out(self.project)

    def _walked(self) -> Iterator[str]:
        count = 0
        for folder, below, names in os.walk(self._tree.root):
            below[:] = [name for name in below if name != ".git"]
            for name in names:
                count += 1
                if count > _MOST_WALKED:
                    return
                yield os.path.relpath(os.path.join(folder, name), self._tree.root)

    @cached_property
    def _submodules(self) -> Sequence[str]:
        data = self._tree.look(".gitmodules")
        text = (data.data or b"") if isinstance(data, Content) else b""
        return [os.fsdecode(path.strip()) for path in re.findall(rb"(?m)^\s*path\s*=\s*(.+)$", text)]

    def _is_inside(self, full: str) -> bool:
        found = os.path.realpath(full)
        return found == self._tree.root or found.startswith(os.path.join(self._tree.root, ""))

    def _is_in_empty_submodule(self, path: str) -> bool:
        return any(
            path.startswith(f"{top}/") and not os.path.lexists(os.path.join(self._tree.root, top, ".git"))
            for top in self._submodules
        )


def _bytes_of(found: Content) -> bytes | Unclear:
    if found.data is None:
        return Unclear(REASONS["too-large"])
    if found.data.startswith(_POINTER):
        return Unclear("it is stored in Git LFS, and only its pointer is checked out")
    return found.data


_Part = re.Pattern[str] | None
"""The pattern of one name, or None for `**`, which stands for any number of folders."""


@lru_cache(maxsize=256)
def _parts(glob: str) -> tuple[_Part, ...]:
    # `fnmatch` makes patterns that don't try the same names again and again. Brackets are ordinary characters here.
    names = (part.replace("[", "[[]") for part in glob.split("/"))
    return tuple(None if name == "**" else re.compile(fnmatch.translate(name)) for name in names)


def _is_match(parts: Sequence[_Part], path: str) -> bool:
    names = path.split("/")
    places = {0}
    for part in parts:
        if not places:
            return False
        if part is None:
            places = set(range(min(places), len(names) + 1))
        else:
            places = {at + 1 for at in places if at < len(names) and part.fullmatch(names[at])}
    return len(names) in places
