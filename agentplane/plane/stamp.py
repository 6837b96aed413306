"""What `badge` needs, with nothing imported but os and the user's key: it runs in every shell prompt."""

import os

from agentplane.plane import cache_file


# `layout` says what these are; this module is kept from importing it.
FOLDER = ".agentplane"
KEPT = "badge"
_VERSION = "1"
_LARGEST = 1 << 20


def folder_of(start: str) -> str | None:
    """The `.agentplane` of `start`: the nearest one upwards, never beyond the repository it is in."""
    here = start
    while True:
        candidate = os.path.join(here, FOLDER)
        if os.path.lexists(candidate):
            return candidate
        parent = os.path.dirname(here)
        if parent == here or os.path.lexists(os.path.join(here, ".git")):
            return None
        here = parent


def of(folder: str) -> str:
    """A line for each file that the counts depend on; another line means that they must be counted anew."""
    memory = os.path.join(folder, "memory")
    names = sorted(name for name in os.listdir(memory) if name.endswith((".md", ".jsonl")))
    paths = [*(os.path.join(memory, name) for name in names), os.path.join(folder, "config.toml")]
    return "\n".join([_VERSION, *map(_line, paths)])


def _line(path: str) -> str:
    try:
        found = os.lstat(path)
    except OSError:
        return path
    return f"{path} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"


def kept_counts(folder: str) -> list[int] | None:
    """What was counted last, if nothing has changed since."""
    try:
        found = cache_file.read(folder, KEPT, _LARGEST)
        counts, _, stamp = (found or b"").decode("utf-8", "surrogateescape").partition("\n")
        if found is not None and stamp == of(folder):
            return [int(count) for count in counts.split()]
    except (OSError, ValueError):
        pass
    return None


def shown(counts: list[int], encoding: str) -> str:
    """`● 12 ! 2 ~ 1`: candidates, conflicts among them, hand edits. Empty where nothing waits."""
    dot = "●" if encoding.lower().replace("-", "") in ("utf8", "utf_8") else "*"
    marks = zip((dot, "!", "~"), counts, strict=False)
    return " ".join(f"{mark} {count}" for mark, count in marks if count)
