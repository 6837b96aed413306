"""Entries as a Markdown file for people."""

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
    path = _path(project, name)
    if not name.strip():
        return "Enter a file name."
    if not path.is_relative_to(project.resolve()):
        return "The file must be in the project."
    if path.exists():
        return f"{name.strip()} already exists. Choose another name."
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
    return (project / name.strip()).resolve()
