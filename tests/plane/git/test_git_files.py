"""Git's own files, read without Git."""

import os
import subprocess
from pathlib import Path

from agentplane.plane.git import git, git_files


def run(*words: str, cwd: Path) -> str:
    return subprocess.run(("git", *words), cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def linked(repository: Path, folder: Path) -> Path:
    """A second worktree of a repository, with the branch `other`."""
    run("worktree", "add", "-q", "-b", "other", str(folder), cwd=repository)
    return folder.resolve()


def test_the_branch_is_what_git_says(git_project: Path, tmp_path: Path) -> None:
    below = git_project / "a" / "b"
    below.mkdir(parents=True)
    run("checkout", "-q", "-b", "topic/x", cwd=git_project)
    for folder in (git_project, below, linked(git_project, tmp_path / "tree")):
        assert git_files.branch_of(str(folder)) == git.branch(folder)
    run("checkout", "-q", "--detach", cwd=git_project)
    assert git_files.branch_of(str(below)) is None
    for odd in (b"\xff" * 10, b"ref: refs/heads/\xff", b"ref: refs/heads/.invalid"):
        (git_project / ".git" / "HEAD").write_bytes(odd)
        assert git_files.branch_of(str(below)) is None
    assert git_files.branch_of("/") is None


def test_the_worktrees_of_a_repository(git_project: Path, tmp_path: Path) -> None:
    tree = linked(git_project, tmp_path / "other tree")
    wanted = {str(git_project.resolve()), str(tree)}
    assert {*git_files.worktrees_of(str(git_project.resolve()))} == wanted
    assert {*git_files.worktrees_of(str(tree))} == wanted


def test_worktrees_with_relative_paths(git_project: Path, tmp_path: Path) -> None:
    """As `git worktree add --relative-paths` writes them."""
    tree = linked(git_project, tmp_path / "tree")
    (own,) = (git_project / ".git" / "worktrees").iterdir()
    (own / "gitdir").write_text(f"{os.path.relpath(tree / '.git', own)}\n")
    (tree / ".git").write_text(f"gitdir: {os.path.relpath(own, tree)}\n")
    assert run("rev-parse", "--abbrev-ref", "HEAD", cwd=tree) == "other"

    for top in (git_project, tree):
        found = {os.path.realpath(place) for place in git_files.worktrees_of(str(top))}
        assert found == {str(git_project.resolve()), str(tree)}
    assert git_files.branch_of(str(tree)) == "other"


def test_the_tip_changes_with_each_commit_and_each_checkout(git_project: Path) -> None:
    found = [git_files.tip_of(str(git_project))]
    for words in (
        ("commit", "-q", "--allow-empty", "-m", "one"),
        ("checkout", "-q", "-b", "x"),
        ("checkout", "-q", "--detach"),
        ("checkout", "-q", "x"),
        ("pack-refs", "--all"),
    ):
        run(*words, cwd=git_project)
        found.append(git_files.tip_of(str(git_project)))
    assert len({*found}) == len(found) - 1
    assert found[2] == found[4]


def test_outside_of_a_repository(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert git_files.top_of(folder) is None
    assert (git_files.head_of(folder), git_files.tip_of(folder)) == ("", "")


def test_pipes_and_folders_in_place_of_files_block_nothing(tmp_path: Path) -> None:
    dot = tmp_path / ".git"
    os.mkfifo(dot)
    assert git_files.head_of(str(tmp_path)) == ""
    dot.unlink()
    dot.mkdir()
    os.mkfifo(dot / "HEAD")
    (dot / "commondir").mkdir()
    (dot / "worktrees" / "x").mkdir(parents=True)
    os.mkfifo(dot / "worktrees" / "x" / "gitdir")
    assert git_files.head_of(str(tmp_path)) == ""
    assert git_files.branch_of(str(tmp_path)) is None
    assert git_files.worktrees_of(str(tmp_path)) == [str(tmp_path)]
