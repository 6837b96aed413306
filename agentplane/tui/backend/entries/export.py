"""Entries as a Markdown file for people."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from agentplane.errors import BadInput
from agentplane.text import files
from agentplane.text.visible import one_line, visible


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry

DEFAULT_NAME = "memory-export.md"


def as_markdown(entries: "Iterable[Entry]", project: str) -> str:
    """Return a page with one section for each entry. Hidden characters are made visible."""
    return "\n\n".join([f"# Memory of {one_line(project)}", *map(_section, entries)]) + "\n"


def _section(entry: "Entry") -> str:
    head = entry.head
    facts = {
        "type": head.type,
        "status": head.status,
        "tags": ", ".join(head.tags),
        "scope": ", ".join(head.scope),
        "evidence": ", ".join(head.evidence),
        "updated": head.updated or "",
    }
    lines = [f"- {name}: {one_line(value, 400)}" for name, value in facts.items() if value]
    return "\n\n".join([f"## {one_line(entry.id, 80)}", visible(entry.body.strip()), "\n".join(lines)])


def problem_of(project: Path, name: str) -> str:
    """Return why no file with this name can be written, or an empty text."""
    if not name.strip():
        return "Enter a file name."
    try:
        return _problem(project, name)
    except OSError as error:
        return f"This file name can't be used: {(error.strerror or str(error)).lower()}."
    except ValueError:  # a name that the file system has no bytes for
        return "The name contains a character that isn't allowed in file names."


def _problem(project: Path, name: str) -> str:
    path = _path(project, name)
    if not path.is_relative_to(project.resolve()):
        return "The file must be inside the project folder."
    if path.exists():
        return f"{name.strip()} already exists. Choose a different name."
    if not path.parent.is_dir():
        return f"Folder not found: {path.parent}"
    return ""


def write(project: Path, name: str, text: str) -> Path:
    """Write a new file and return its path in the project."""
    problem = problem_of(project, name)
    if problem:
        raise BadInput(problem)
    path = _path(project, name)
    files.write_atomic(path, text.encode(errors="replace"), durable=False)
    return path.relative_to(project.resolve())


def _path(project: Path, name: str) -> Path:
    # Path.resolve raises RuntimeError for a link to itself.
    return Path(os.path.realpath(project / name.strip()))
