"""A project on disk, and conditions that are compared with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from agentplane.curate.conditions.evaluate import Look, evaluate
from agentplane.curate.conditions.project_files import ProjectFiles
from agentplane.curate.conditions.regex_search import Searcher
from agentplane.curate.conditions.result import CantTell, Fails, Holds, Result
from agentplane.curate.conditions.versions import Packages
from agentplane.memory import condition
from agentplane.memory.condition import Problem


TODAY = date(2026, 11, 20)


@contextmanager
def looking(project: Path) -> Iterator[Look]:
    with Searcher(seconds=1) as searcher:
        files = ProjectFiles(project)
        yield Look(files, Packages(files), TODAY, searcher)


def result(project: Path, text: str) -> Result:
    parsed = condition.parse(text)
    assert not isinstance(parsed, Problem), parsed
    with looking(project) as look:
        return evaluate(parsed, look)


def holds(project: Path, text: str) -> bool:
    """True if a condition holds. It must have a clear result."""
    found = result(project, text)
    assert not isinstance(found, CantTell), found
    return isinstance(found, Holds)


def failure(project: Path, text: str) -> str:
    found = result(project, text)
    assert isinstance(found, Fails), found
    return found.what


def doubt(project: Path, text: str) -> str:
    found = result(project, text)
    assert isinstance(found, CantTell), found
    return found.why


def write(project: Path, path: str, text: str | bytes) -> Path:
    file = project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file
