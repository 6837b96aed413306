"""The files of the work tree that have a name, or that contain a word in code."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from agentplane.plane.derived.badge_stamp import FOLDER
from agentplane.plane.git import code_history, git


_TEXTS = (".md", ".mdx", ".mdc", ".rst", ".txt", ".adoc", ".markdown", ".log", ".jsonl", ".csv")
"""Endings of files that talk about code. The memory itself is in such files."""


class Places:
    """Where names are now."""

    def __init__(self, project: Path, words: Mapping[str, set[str]] | None) -> None:
        self._project = project
        self._words = words

    def file(self, path: str) -> str | None:
        """Return the file with a path or a name, or None if there is none. Folders count."""
        if os.path.lexists(self._project / path):
            return path
        ending = path if path.endswith("/") else f"/{path}"
        return next(
            (one for one in self._files if f"/{one}".endswith(ending) or f"/{path}/" in f"/{one}"), None
        )

    def code_with(self, word: str) -> str | None:
        """Return a code file that contains a word. If Git can't tell, return the folder, because it could."""
        if self._words is None:
            return "."
        return min(filter(is_code, self._words.get(word, ())), default=None)

    @cached_property
    def _files(self) -> Sequence[str]:
        return git.project_files(self._project) or ()


def of(project: Path, words: Sequence[str]) -> Places:
    """Search the work tree for words."""
    return Places(project, code_history.naming(project, words))


def is_code(path: str) -> bool:
    """True if a file isn't prose, and isn't a part of a project memory."""
    return not path.lower().endswith(_TEXTS) and FOLDER not in path.split("/")
