"""What of a capsule git carries: `runs/.gitignore`, made from the settings."""

from fnmatch import fnmatchcase
from pathlib import Path

from agentplane.plane.layout import Layout
from agentplane.plane.settings import Runs
from agentplane.text import files


_HEAD = "# Made from `share` under [runs] in config.toml: what of a capsule is shared.\n/*/*\n"


def ignore_file(layout: Layout) -> Path:
    return layout.file("runs/.gitignore")


def wanted(settings: Runs) -> bytes:
    rows = (f"!/*/{pattern.strip().lstrip('!/')}\n" for pattern in settings.share)
    return "".join([_HEAD, *rows]).encode()


def keep(layout: Layout, settings: Runs) -> bool:
    """Makes the file as the settings want it. Says whether it was not."""
    if files.read_if(ignore_file(layout)) == wanted(settings):
        return False
    files.write_atomic(ignore_file(layout), wanted(settings))
    return True


def is_shared(settings: Runs, path: str) -> bool:
    """Whether git carries a file of a capsule."""
    first = path.partition("/")[0]
    return any(
        fnmatchcase(path, pattern) or fnmatchcase(first, pattern)
        for pattern in (row.strip().strip("/") for row in settings.share)
    )
