"""`doctor` in a clone, a work tree, a shallow clone and a sparse checkout: what git did not bring is no fault."""

import subprocess
from pathlib import Path

import pytest

from agentplane.system import programs


SPARSE = {
    "only the memory": (".agentplane/memory", ".agentplane/ops"),
    "without the plane": ("app",),
    "the plane": (".agentplane",),
}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def git(folder: Path, *words: str) -> None:
    done = run(folder, "git", *words)
    assert done.returncode == 0, done.stderr


def doctor(folder: Path) -> subprocess.CompletedProcess[str]:
    return run(folder, *programs.python("agentplane"), "doctor")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    done = run(folder, *programs.python("agentplane"), "demo", "--into", str(folder))
    assert done.returncode == 0, done.stderr
    return folder / "payments-api"


@pytest.fixture
def without_capsules(tmp_path: Path) -> Path:
    """A repository with a plane of which git has no capsule, so that a clone has no folder for them."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    assert run(folder, *programs.python("agentplane"), "init", "--yes", "--tools", "codex").returncode == 0
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a plane")
    return folder


def clones(source: Path, to: Path) -> dict[str, Path]:
    made = {name: to / name for name in ("clone", "shallow", "tree", *SPARSE)}
    git(to, "clone", "-q", str(source), str(made["clone"]))
    git(to, "clone", "-q", "--depth=1", f"file://{source}", str(made["shallow"]))
    git(source, "worktree", "add", "-q", "--detach", str(made["tree"]))
    for name, folders in SPARSE.items():
        git(to, "clone", "-q", str(source), str(made[name]))
        git(made[name], "sparse-checkout", "set", *folders)
    return made


def test_the_example(example: Path, tmp_path: Path) -> None:
    assert doctor(example).returncode == 0
    for name, folder in clones(example, tmp_path).items():
        done = doctor(folder)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        assert "does not exist" not in done.stdout
        if name == "without the plane":
            assert "Run `git sparse-checkout add .agentplane` to check out the project memory." in done.stdout


def test_a_plane_without_committed_capsules(without_capsules: Path, tmp_path: Path) -> None:
    for name, folder in clones(without_capsules, tmp_path).items():
        done = doctor(folder)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        assert "Check the path" not in done.stdout


def test_a_capsule_that_was_deleted_is_still_named(example: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(example), "clone")
    folder = tmp_path / "clone"
    path = next((folder / ".agentplane/runs").glob("*/summary.md"))
    path.unlink()
    done = doctor(folder)
    assert done.returncode == 1
    assert f"{path.relative_to(folder)}: this file is missing" in done.stdout
