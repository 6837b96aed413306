"""agentplane's own index and objects, which let it compare the work tree with a commit without touching the repository's."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from agentplane.plane.git import process
from agentplane.plane.git.git import ObjectId, inside, object_id
from agentplane.plane.git.process import WITHOUT_WRITING


class OwnIndex(msgspec.Struct, frozen=True):
    """A private index and private objects, separate from the repository's."""

    index: Path
    objects: Path


def add_changed(folder: Path, own: OwnIndex, but: str, seconds: float) -> bool:
    """Add the tracked files of a folder to agentplane's index, with their current content."""
    words = ("add", "--update")
    found = process.output(
        folder, *WITHOUT_WRITING, *words, but=but, variables=_own_variables(folder, own), seconds=seconds
    )
    return found is not None


def write_tree(folder: Path, own: OwnIndex, seconds: float) -> ObjectId | None:
    """Write agentplane's index as a tree. Return the tree."""
    found = process.output(
        folder, *WITHOUT_WRITING, "write-tree", variables=_own_variables(folder, own), seconds=seconds
    )
    return object_id((found or b"").decode(errors="replace").strip())


def compared(
    folder: Path, own: OwnIndex, before: ObjectId, after: ObjectId, but: str, seconds: float
) -> bytes:
    """Return the files in which two trees differ, each with its kind of change."""
    words = ("diff-tree", "-r", "-z", "--no-renames", "--relative", "--name-status")
    hexes, variables = (before, after), _own_variables(folder, own)
    return process.output(folder, *words, hexes=hexes, but=but, variables=variables, seconds=seconds) or b""


def patch(folder: Path, own: OwnIndex, before: ObjectId, after: ObjectId, but: str) -> Iterator[bytes]:
    """Yield the difference of two trees as blocks of a patch that `git apply` accepts."""
    words = (
        "-r",
        "-p",
        "--binary",
        "--full-index",
        "--no-renames",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
    )
    return process.stream(
        folder, "diff-tree", *words, hexes=(before, after), but=but, variables=_own_variables(folder, own)
    )


def _own_variables(folder: Path, own: OwnIndex) -> Mapping[str, str]:
    """Return the variables that point Git to agentplane's own index and objects.

    Empty if there are none, because the work tree was clean.
    """
    objects = inside(folder, "objects")
    if objects is None or not own.objects.is_dir():
        return {}
    quoted = str(objects).replace("\\", "\\\\").replace('"', '\\"')
    return {
        "GIT_INDEX_FILE": str(own.index),
        "GIT_OBJECT_DIRECTORY": str(own.objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"',
    }
