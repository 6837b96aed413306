"""The part of `badge` that imports only os, time and the user's key, because it runs in every shell prompt."""

import os
import time

from agentplane.plane.derived import cache_file


# Defined here because this module must not import `layout`, which uses them too.
FOLDER = ".agentplane"
FOREIGN_MARKS = ("WORKFLOW.md", "cache.sqlite", "appendix")
"""Files of another program that also uses a folder of this name."""
KEPT = "badge"
VERSION = "3"
"""The version of the stored counts."""
_LARGEST = 1 << 20
_DAY = 86_400
_DAYS_TO_1970 = 719_163
"""The number that `datetime.date` gives the first day of 1970."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from datetime import date


def folder_of(start: str) -> str | None:
    """Return the nearest `.agentplane` from `start` upward, but never one outside its repository."""
    here = start
    while True:
        candidate = os.path.join(here, FOLDER)
        if os.path.lexists(candidate):
            return candidate
        parent = os.path.dirname(here)
        if parent == here or os.path.lexists(os.path.join(here, ".git")):
            return None
        here = parent


def is_out_of_reach(folder: str) -> bool:
    """True if the folder is a plane, or can't be inspected, and its log can't be read."""
    if os.path.islink(folder):
        return False
    try:
        names = os.listdir(folder)
        if any(mark in names for mark in FOREIGN_MARKS) or "config.toml" not in names:
            return False
        if "memory" not in names:
            return "ops" in names
        os.listdir(os.path.join(folder, "memory"))
    except OSError as error:
        return isinstance(error, PermissionError)
    log = os.path.join(folder, "memory", "log.jsonl")
    return not os.path.isfile(log) or not os.access(log, os.R_OK)


def of(folder: str) -> str:
    """Return one line for each file that the counts depend on. If a line changes, the counts are outdated."""
    memory = os.path.join(folder, "memory")
    names = sorted(name for name in os.listdir(memory) if name.endswith((".md", ".jsonl")))
    paths = [*(os.path.join(memory, name) for name in names), os.path.join(folder, "config.toml")]
    return "\n".join(map(_line, paths))


def _line(path: str) -> str:
    try:
        found = os.lstat(path)
    except OSError:
        return path
    return f"{path} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"


def number_of(day: "date") -> int:
    """Return the number of days from the start of 1970 to this day."""
    return day.toordinal() - _DAYS_TO_1970


def kept_counts(folder: str) -> list[int] | None:
    """Return the last counts, or None if a file has changed since, or if they were only valid until today."""
    try:
        found = cache_file.read(folder, KEPT, VERSION, _LARGEST)
        counts, _, stamp = (found or b"").decode("utf-8", "surrogateescape").partition("\n")
        if found is not None and stamp == of(folder):
            numbers = [int(count) for count in counts.split()]
            return None if any(time.time() // _DAY >= day for day in numbers[3:]) else numbers[:3]
    except (OSError, ValueError):
        pass
    return None


def shown(counts: list[int], encoding: str, *, incomplete: bool = False) -> str:
    """Return the badge, such as `● 12 ! 2 ~ 1` for candidates, conflicts and manual edits.

    Empty if all are zero. An incomplete sum ends with `?`.
    """
    dot = "●" if encoding.lower().replace("-", "") in ("utf8", "utf_8") else "*"
    marks = zip((dot, "!", "~"), counts, strict=False)
    parts = [f"{mark} {count}" for mark, count in marks if count]
    return " ".join([*parts, "?"] if incomplete else parts)
