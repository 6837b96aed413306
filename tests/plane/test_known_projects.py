"""The list of project memories that a user works with."""

import os
import subprocess
from pathlib import Path

import pytest

from agentplane.plane import known_projects
from agentplane.plane.trust import user_key
from tests.conftest import plane_in


@pytest.fixture(autouse=True)
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def git(*words: str, cwd: Path) -> None:
    subprocess.run(("git", *words), cwd=cwd, check=True, capture_output=True)


def made(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return str(plane_in(folder).layout.root)


def test_a_project_is_listed_once_and_forgotten_when_it_is_gone(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one"), made(tmp_path / "ö ther")
    for root in (other, one, one):
        known_projects.add(root)
    assert known_projects.every() == [one, other]
    os.rename(tmp_path / "one", tmp_path / "moved")
    assert known_projects.every() == [other]
    os.rename(tmp_path / "moved", tmp_path / "one")
    assert known_projects.every() == [other]


def test_a_project_whose_memory_is_missing_for_now_is_kept(tmp_path: Path) -> None:
    """It may be missing on the checked-out branch, or its disk may not be mounted."""
    one, other = made(tmp_path / "one"), made(tmp_path / "disk" / "other")
    known_projects.add(one)
    known_projects.add(other)
    os.rename(f"{one}/memory", tmp_path / "memory")
    os.rename(tmp_path / "disk", tmp_path / "mounted")
    assert known_projects.every() == []
    (tmp_path / "disk").mkdir()
    assert known_projects.every() == []
    (tmp_path / "disk").rmdir()
    os.rename(tmp_path / "memory", f"{one}/memory")
    os.rename(tmp_path / "mounted", tmp_path / "disk")
    assert known_projects.every() == [other, one]


def test_a_project_that_is_left_out_is_never_listed(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one"), made(tmp_path / "other")
    known_projects.add(one)
    for root in (one, other):
        known_projects.leave_out(root)
        known_projects.add(root)
    assert known_projects.every() == []
    assert known_projects.everywhere(one) == [one]
    for name in ("one", "other"):
        os.rename(tmp_path / name, tmp_path / f"{name} moved")
    assert known_projects.every() == []
    assert os.listdir(Path(user_key.folder()) / "projects") == []


def test_everywhere_includes_the_other_worktrees_and_the_current_project(
    git_project: Path, tmp_path: Path
) -> None:
    root, listed = made(git_project), made(tmp_path / "listed")
    git("add", "-A", cwd=git_project)
    git("commit", "-qm", "memory", cwd=git_project)
    git("worktree", "add", "-q", "-b", "x", str(tmp_path / "tree"), cwd=git_project)
    known_projects.add(listed)
    assert known_projects.everywhere() == [listed]
    there = str((tmp_path / "tree").resolve() / ".agentplane")
    for here in (root, there, f"{root}/memory/.."):
        assert known_projects.everywhere(here) == sorted([listed, root, there])


def test_files_of_others_in_the_list_are_ignored(tmp_path: Path) -> None:
    known_projects.add(made(tmp_path / "one"))
    folder = Path(user_key.folder()) / "projects"
    (folder / "relative").write_bytes(b"one/.agentplane")
    (folder / "empty").write_bytes(b"")
    (folder / "nul").write_bytes(b"/tmp/\0")
    (folder / "link").symlink_to(tmp_path / "one")
    os.mkfifo(folder / "fifo")
    (folder / "directory").mkdir()
    (folder / "half.1-2.tmp").write_bytes(b"/tmp")
    assert known_projects.every() == [str(tmp_path / "one" / ".agentplane")]


def test_a_list_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    known_projects.add(made(tmp_path / "one"))
    assert known_projects.every() == []


def test_the_other_worktrees_of_a_repository(git_project: Path, tmp_path: Path) -> None:
    root = made(git_project)
    git("add", "-A", cwd=git_project)
    git("commit", "-qm", "memory", cwd=git_project)
    git("worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "other tree"), cwd=git_project)
    there = str((tmp_path / "other tree").resolve() / ".agentplane")
    assert known_projects.in_other_worktrees(root) == [there]
    assert known_projects.in_other_worktrees(there) == [root]


def test_without_git_there_are_no_other_worktrees(tmp_path: Path) -> None:
    assert known_projects.in_other_worktrees(made(tmp_path / "plain")) == []
