"""Git's merge of two texts, and the form in which it writes their conflicts."""

from pathlib import Path
from typing import Literal

import msgspec

from agentplane.plane.git import process


Style = Literal["merge", "diff3", "zdiff3"]
STYLES: tuple[Style, ...] = ("merge", "diff3", "zdiff3")


class Marks(msgspec.Struct, frozen=True):
    """The form in which Git writes a conflict into a file."""

    size: int = 7
    """The number of characters of a marker."""
    labels: tuple[str, str, str] = ("ours", "base", "theirs")
    style: Style = "merge"


def merge(folder: Path, *, union: bool, marks: Marks | None = None) -> tuple[bytes, int] | None:
    """Merge the files `ours`, `base` and `theirs` of a folder. Return the text and its number of conflicts."""
    names = ("ours", "base", "theirs")
    if marks is not None:
        done = _marked(folder, marks)
    elif union:
        done = process.counted(folder, "merge-file", "-p", "--union", *names)
    else:
        done = process.counted(folder, "merge-file", "-p", *names)
    return done if done and 0 <= done[1] < 128 else None


def _marked(folder: Path, marks: Marks) -> tuple[bytes, int] | None:
    words = ("merge-file", "-p", "ours", "base", "theirs")
    size, labels = marks.size, marks.labels
    if marks.style == "diff3":
        return process.counted(folder, *words, "--diff3", marker_size=size, labels=labels)
    if marks.style == "zdiff3":
        return process.counted(folder, *words, "--zdiff3", marker_size=size, labels=labels)
    return process.counted(folder, "-c", "merge.conflictStyle=merge", *words, marker_size=size, labels=labels)


def conflict_style(folder: Path) -> Style:
    """Return the person's setting for the style of conflicts."""
    found = process.output(folder, "config", "--get", "merge.conflictStyle") or b""
    name = found.decode(errors="replace").strip()
    return next((style for style in STYLES if style == name), "merge")
