"""What of a capsule git carries: `runs/.gitignore`, made from the settings."""

from fnmatch import fnmatchcase
from pathlib import Path

from agentplane.plane.layout import Layout
from agentplane.plane.settings import Runs
from agentplane.runs.capsule import WORK
from agentplane.text import files


_HEAD = "# Made from `share` under [runs] in config.toml: what of a capsule is shared.\n/*/*\n"
_FOOT = f"/*/{WORK}/\n"


def ignore_file(layout: Layout) -> Path:
    return layout.file("runs/.gitignore")


def wanted(settings: Runs) -> bytes:
    rows = dict.fromkeys(row for pattern in _patterns(settings) for row in _rows(pattern))
    return "".join([_HEAD, *rows, _FOOT]).encode()


def _patterns(settings: Runs) -> list[str]:
    return [found for row in settings.share if (found := row.strip().lstrip("!").strip("/"))]


def _rows(pattern: str) -> list[str]:
    """Git looks into a folder only where the folder itself is not left out."""
    folder, _, name = pattern.partition("/")
    return [f"!/*/{folder}/\n", f"/*/{folder}/*\n", f"!/*/{pattern}\n"] if name else [f"!/*/{pattern}\n"]


def keep(layout: Layout, settings: Runs) -> bool:
    """Makes the file as the settings want it. Says whether it was not."""
    if files.read_if(ignore_file(layout)) == wanted(settings):
        return False
    files.write_atomic(ignore_file(layout), wanted(settings))
    return True


def is_shared(settings: Runs, path: str) -> bool:
    """Whether git carries a file of a capsule."""
    first = path.partition("/")[0]
    return any(fnmatchcase(path, row) or fnmatchcase(first, row) for row in _patterns(settings))
