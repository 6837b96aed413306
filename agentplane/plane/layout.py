"""The paths of a plane's files, and the search for a plane."""

import os
from functools import lru_cache
from pathlib import Path

import msgspec

from agentplane.errors import BadInput, Damaged
from agentplane.plane.derived import badge_stamp
from agentplane.plane.derived.badge_stamp import FOLDER, FOREIGN_MARKS
from agentplane.text import files


CONFIG = "config.toml"
INBOX = "memory/candidates.md"
LOG = "memory/log.jsonl"
STATE = "memory/state.json"
ARTIFACTS = "memory/artifacts.json"
_OPTIONAL = frozenset({"runs", "context", "cache"})
"""Folders that a clone lacks if Git tracks none of their files."""
SHELF_FOLDER = "memory"


@lru_cache(maxsize=256)
def _path_and_folder(root: Path, relative: str) -> tuple[Path, Path]:
    path = root / relative
    return path, path.parent


class Layout(msgspec.Struct, frozen=True):
    """The paths of one plane. `root` is absolute and not a symbolic link."""

    root: Path

    @property
    def project(self) -> Path:
        """The folder that the plane belongs to, which is usually the top of a repository."""
        return self.root.parent

    @property
    def config(self) -> Path:
        return self.root / CONFIG

    @property
    def memory(self) -> Path:
        return self.root / SHELF_FOLDER

    @property
    def log(self) -> Path:
        return self.root / LOG

    @property
    def state(self) -> Path:
        return self.root / STATE

    @property
    def artifacts(self) -> Path:
        return self.root / ARTIFACTS

    @property
    def ops(self) -> Path:
        return self.root / "ops"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def lock(self) -> Path:
        """Path of the lock, outside of cache/, which may be deleted at any time."""
        return self.root / ".lock"

    def file(self, relative: str) -> Path:
        """Return the path of a plane file, after a check that it is inside the plane."""
        path, folder = _path_and_folder(self.root, relative)
        if folder.name not in _OPTIONAL or os.path.lexists(folder):
            files.plain_folder(folder, self.root)
        return path

    def memory_files(self) -> list[str]:
        """Return the Markdown files in memory/, with the inbox last, as paths relative to the plane."""
        files.plain_folder(self.memory, self.root)
        try:
            names = sorted(name for name in os.listdir(self.memory) if name.endswith(".md"))
        except OSError:
            return []
        found = [f"{SHELF_FOLDER}/{name}" for name in names if not files.is_temp(name)]
        return sorted(found, key=lambda name: (name == INBOX, name))

    def shown(self, relative: str) -> str:
        """Return the path of a plane file relative to the project, for display."""
        return f"{self.root.name}/{relative}"

    def in_project(self, path: str) -> str:
        """Return a path relative to the project if it is `./x` or an absolute path in the project.

        Keep any other path.
        """
        parts = path.split("/")
        if "\0" in path or ".." in parts or not ({"", "."} & set(parts)) or "://" in path:
            return path
        project = os.path.join(str(self.project), "")
        plain = os.path.normpath(path) if path else path
        return plain.removeprefix(project) if plain.startswith(project) or not plain.startswith("/") else path


def is_plane(folder: Path) -> bool:
    """True if the folder is a plane, even without its log, and doesn't belong to another program."""
    if (folder / LOG).is_file():
        return True
    return (folder / SHELF_FOLDER).is_dir() and (folder / CONFIG).is_file() and not foreign_marks(folder)


def foreign_marks(folder: Path) -> list[str]:
    """Return the names of files which show that `folder` belongs to another program."""
    return [mark for mark in FOREIGN_MARKS if os.path.lexists(folder / mark)]


def at(folder: Path) -> Layout:
    """Return the plane whose folder is `folder` itself."""
    if folder.is_symlink():
        raise Damaged(
            "this is a symbolic link, but agentplane requires a real folder",
            where=str(folder),
            todo="Replace the link with a real folder, or pass the path of the real folder with --plane.",
        )
    if not folder.is_dir():
        raise BadInput(
            f"Directory not found: {folder}", todo="Run `agentplane init` in your project to create one."
        )
    if not is_plane(folder):
        marks = foreign_marks(folder)
        if marks:
            raise BadInput(
                f"this folder belongs to another program, because it contains {', '.join(marks)}. Nothing was changed.",
                where=str(folder),
                todo="To use a different directory, run `agentplane --plane .agentmemory init`.",
            )
        raise BadInput(
            f"Not an .agentplane directory: {folder}",
            todo="Run `agentplane init` in your project to create one.",
        )
    return Layout(root=folder.resolve())


def find(start: Path) -> Layout:
    """Return the nearest plane from `start` upward, but never one outside of the repository of `start`."""
    try:
        here = Path(os.path.abspath(start))
    except FileNotFoundError:
        raise BadInput(
            "The current directory no longer exists.", todo="Change to a different directory."
        ) from None
    if here.name == FOLDER and is_plane(here):
        return at(here)
    found = badge_stamp.folder_of(str(here))
    if found is None:
        raise BadInput(
            f"No .agentplane directory found in {here} or its parents.",
            todo="Run `agentplane init` to create one.",
        )
    return at(Path(found))
