"""Scopes that match no file of the project, and the many that do or whose files can be missing."""

import subprocess
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.curate.checks.scope import Files
from tests.conftest import plane_in
from tests.curate.shelves import add, ago, found, line_at, lines


def git(project: Path, *words: str) -> None:
    subprocess.run(("git", *words), cwd=project, check=True, capture_output=True)


@pytest.fixture
def files(git_project: Path) -> Files:
    for name in (
        "src/api/users.py",
        "src/web/app.tsx",
        "docs/index.md",
        "src.txt",
        "made/out.js",
        "[x]/a.py",
    ):
        path = git_project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (git_project / ".gitignore").write_text("made/\n*.log\nbuild/\n")
    git(git_project, "add", ".")
    git(git_project, "commit", "-q", "-m", "files")
    (git_project / "src/new").mkdir()
    (git_project / "src/new/untracked.py").write_text("x\n")
    found = Files.of(git_project)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "glob",
    [
        "src/**",
        "src/",
        "src",
        "./src/api/*.py",
        "src/api/users.py",
        "**/*.py",
        "*.md",
        "src/new/**",
        "src/{api,web}/**",
        "made/**",
        "build/**",
        "made/out.js",
        "../other/**",
        "/src/api/**",
        "~/x",
        "!src/**",
        "x" * 300,
        "",
    ],
)
def test_a_match_or_a_doubt(files: Files, glob: str) -> None:
    assert files.without_match([glob]) == frozenset()


@pytest.mark.parametrize(
    "glob",
    ["lib/**", "src/apis/**", "src/api/*.ts", "src/api/users.pyi", "**/*.rs", "*.toml", "src.t/**", "SRC/**"],
)
def test_no_match(files: Files, glob: str) -> None:
    assert files.without_match([glob]) == {glob}


def test_a_submodule_hides_its_files(git_project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "x")
    git(git_project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "vendor/lib")
    found = Files.of(git_project)
    assert found is not None
    assert found.without_match(["vendor/lib/src/**", "vendor/other/**"]) == {"vendor/other/**"}


def test_a_project_without_git(project: Path) -> None:
    (project / "src").mkdir()
    (project / "src/a.py").write_text("x\n")
    found = Files.of(project)
    assert found is not None
    assert found.without_match(["src/*.py", "lib/**"]) == {"lib/**"}


def test_the_finding_names_the_line(git_project: Path) -> None:
    plane: Plane = plane_in(git_project)
    add(ago(plane, 9), "Handlers are small.", scope=("src/**", "lib/**"))
    add(ago(plane, 9), "Reports are CSV files.", scope=("README.md", "lib/**"))
    add(ago(plane, 9), "Webhooks carry a signature.")
    (one,) = found(plane, "scope-empty")
    assert one.id == "DEC-001"
    assert line_at(plane, one.where).startswith("scope:")
    assert lines(one).startswith("scope: src/**, lib/**\nNone of ")


def test_a_new_file_ends_the_finding(git_project: Path) -> None:
    plane = plane_in(git_project)
    add(ago(plane, 9), "Handlers are small.", scope=("src/**",))
    assert len(found(plane, "scope-empty")) == 1
    (git_project / "src").mkdir()
    (git_project / "src/a.py").write_text("x\n")
    assert found(plane, "scope-empty") == []
