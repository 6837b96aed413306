"""The file `runs/.gitignore`, generated from the settings, which decides which capsule files Git tracks."""

from fnmatch import fnmatchcase
from pathlib import Path

from agentplane.plane.layout import Layout
from agentplane.plane.settings import Runs
from agentplane.runs.capsule.capsule import RAW_INPUTS, RAW_OUTPUTS, WORK
from agentplane.text import files


_HEAD = "# Generated from `share` under [runs] in config.toml. Selects the files of run records that Git carries.\n/*/*\n"
_RAW = (RAW_INPUTS, RAW_OUTPUTS)
"""Folders with copies of files that weren't meant for Git. A pattern such as `*` doesn't share them unless it names
them.
"""
_FOOT = f"/*/{WORK}/\n"


def ignore_file(layout: Layout) -> Path:
    return layout.file("runs/.gitignore")


def wanted(settings: Runs) -> bytes:
    plain, naming = _plain(settings), _naming(settings)
    rows = [row for pattern in plain for row in _rows(pattern)]
    for folder in _RAW:
        named = [pattern for pattern in naming if _is_in(pattern, folder)]
        if any(_matches(pattern, folder) for pattern in plain):
            rows += [] if named else [f"/*/{folder}/\n"]
        elif named:
            rows += _rows(folder)
        if named and folder not in named:
            rows += [f"/*/{folder}/*\n", *(f"!/*/{pattern}\n" for pattern in named)]
    return "".join([_HEAD, *dict.fromkeys(rows), _FOOT]).encode()


def _plain(settings: Runs) -> list[str]:
    """Return the patterns that do not name copies of whole files."""
    return [row for row in _patterns(settings) if not any(_is_in(row, folder) for folder in _RAW)]


def _naming(settings: Runs) -> list[str]:
    return [row for row in _patterns(settings) if any(_is_in(row, folder) for folder in _RAW)]


def _patterns(settings: Runs) -> list[str]:
    return [found for row in settings.share if (found := row.strip().lstrip("!").strip("/"))]


def _rows(pattern: str) -> list[str]:
    """Return the lines that share a pattern. They also include its folder, because Git skips ignored
    folders.
    """
    folder, _, name = pattern.partition("/")
    return [f"!/*/{folder}/\n", f"/*/{folder}/*\n", f"!/*/{pattern}\n"] if name else [f"!/*/{pattern}\n"]


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _matches(pattern: str, path: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(path.partition("/")[0], pattern)


def keep(layout: Layout, settings: Runs) -> bool:
    """Update the file from the settings. Return True if it changed."""
    if files.read_if(ignore_file(layout)) == wanted(settings):
        return False
    files.write_atomic(ignore_file(layout), wanted(settings))
    return True


def is_shared(settings: Runs, path: str) -> bool:
    """True if Git tracks this file of a capsule."""
    is_raw = any(_is_in(path, folder) for folder in _RAW)
    if is_raw:
        return any(fnmatchcase(path, row) or _is_in(path, row) for row in _naming(settings))
    return any(_matches(row, path) for row in _plain(settings))
