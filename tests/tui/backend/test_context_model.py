"""What the context screen asks Git about, without a screen."""

import subprocess
from pathlib import Path

from agentplane.plane.git import git
from agentplane.tui.backend import context_model


def run(folder: Path, *words: str) -> None:
    subprocess.run(("git", *words), cwd=folder, check=True)


def commit(folder: Path, name: str) -> None:
    (folder / name).write_text("x\n")
    run(folder, "add", name)
    run(folder, "commit", "-q", "-m", name)


def test_a_branch_is_compared_with_the_remote_and_not_with_an_old_copy_of_it(git_project: Path) -> None:
    run(git_project, "checkout", "-q", "-b", "work")
    commit(git_project, "merged.txt")
    run(git_project, "update-ref", "refs/remotes/origin/main", "HEAD")
    commit(git_project, "mine.txt")
    assert context_model.changed_here(git_project) == ("mine.txt",)
    assert [name for name, _ in git.usual_bases(git_project)] == ["origin/main", "main"]


def test_without_git_nothing_is_changed(project: Path) -> None:
    assert context_model.changed_here(project) == ()
    assert list(git.usual_bases(project)) == []
