"""Where a plane is found, and that nothing outside of it is ever written."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentplane import open_plane
from agentplane.api import Plane
from agentplane.errors import AgentplaneError, BadInput, Damaged, Refused
from agentplane.plane import create, layout
from agentplane.review.conflicts.resolve import Choice
from tests.conftest import decision, plane_in


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, links not followed."""
    return {
        str(path.relative_to(folder)): os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_found_from_a_folder_below(plane: Plane, project: Path) -> None:
    below = project / "a" / "b"
    below.mkdir(parents=True)
    assert open_plane(below).layout == plane.layout


def test_not_found_beyond_the_repository(plane: Plane, project: Path) -> None:
    inner = project / "vendor" / "other"
    inner.mkdir(parents=True)
    (inner / ".git").write_text("gitdir: ../../.git/modules/other\n")
    with pytest.raises(BadInput, match="directory found in"):
        open_plane(inner)


def test_a_worktree_has_its_own(git_project: Path, tmp_path: Path) -> None:
    plane = plane_in(git_project)
    plane.propose(decision("One."))
    for words in (
        ("add", "."),
        ("commit", "-q", "-m", "plane"),
        ("worktree", "add", "-q", str(tmp_path / "tree")),
    ):
        subprocess.run(("git", *words), cwd=git_project, check=True)
    other = open_plane(tmp_path / "tree", actor="Ada")
    assert other.layout.root == tmp_path / "tree" / ".agentplane"
    assert other.status().waiting == 1
    other.propose(decision("Two."))
    assert (other.status().waiting, plane.status().waiting) == (2, 1)


def test_a_moved_repository_goes_on(plane: Plane, project: Path) -> None:
    plane.propose(decision("One."))
    moved = project.with_name("moved")
    project.rename(moved)
    again = open_plane(moved, actor="Ada")
    again.inbox.approve(again.memory.read().inbox_ids)
    assert again.status().waiting == 0


def test_a_linked_plane_is_refused(tmp_path: Path, plane: Plane) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".agentplane").symlink_to(plane.layout.root)
    with pytest.raises(Damaged, match="symbolic link"):
        open_plane(elsewhere)


@pytest.mark.parametrize(
    "name",
    ["memory/candidates.md", "memory/log.jsonl", "memory/state.json", "ops", "memory", "cache", ".lock"],
)
def test_a_link_inside_leads_nowhere(plane: Plane, tmp_path: Path, name: str) -> None:
    plane.propose(decision("One."))
    outside = tmp_path / "outside"
    outside.mkdir()
    inside = plane.layout.root / name
    target = outside / inside.name
    if inside.exists():
        shutil.move(inside, target)
    else:
        target.write_bytes(b"")
    inside.symlink_to(target)
    before = tree(outside)
    with contextlib.suppress(AgentplaneError):
        plane.propose(decision("Two."))
    assert tree(outside) == before


def test_hostile_ids_and_evidence_write_nothing_outside(plane: Plane, project: Path) -> None:
    beside = project.parent / "beside.txt"
    beside.write_text("mine")
    for id_ in ("../../beside.txt", "/etc/passwd", "a" * 4000, "DEC-1/../../x", "CON"):
        core = f"---\nid: {id_!r}\ntype: decision\nstatus: proposed\nevidence: [../../beside.txt]\n---\nDecision: X.\n"
        inbox = plane.layout.memory / "candidates.md"
        inbox.write_bytes(inbox.read_bytes() + b"\n" + core.encode())
    plane.memory.adopt()
    ids = plane.memory.read().inbox_ids
    assert len(ids) == 5
    plane.inbox.approve(ids, Choice(keep_both=True, why="all say X"))
    plane.history.undo()
    plane.inbox.reject(ids)
    assert beside.read_text() == "mine"
    assert {path.name for path in project.parent.iterdir()} == {"project", "beside.txt"}


@pytest.mark.parametrize("mark", layout.FOREIGN_MARKS)
def test_a_folder_of_another_program_is_left_alone(project: Path, mark: str) -> None:
    folder = project / ".agentplane"
    folder.mkdir()
    if "." in mark:
        (folder / mark).write_text("theirs")
    else:
        (folder / mark).mkdir()
        (folder / mark / "note").write_text("theirs")
    before = tree(project)
    with pytest.raises(BadInput, match="another program"):
        open_plane(project)
    with pytest.raises(Refused, match="another program"):
        create.check_free(folder)
    assert tree(project) == before


def test_case_of_the_folder_name_does_not_matter_to_what_is_written(plane: Plane) -> None:
    """On a file system that folds case, a memory file may come back with another case in its name."""
    plane.inbox.approve([plane.propose(decision("One."))])
    (plane.layout.memory / "decisions.md").rename(plane.layout.memory / "Decisions.md")
    edits = {(edit.id, edit.change) for edit in plane.memory.read().hand_edits}
    assert edits == {("DEC-001", "added"), ("DEC-001", "removed")}
    plane.memory.revert()
    assert plane.memory.read().get("DEC-001").trusted


def test_without_git_everything_works(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    plane = plane_in(project)
    plane.inbox.approve([plane.propose(decision("One."))])
    assert plane.memory.read().get("DEC-001").head.anchor is None


def test_an_approval_notes_the_commit(git_project: Path) -> None:
    plane = plane_in(git_project)
    plane.inbox.approve([plane.propose(decision("One."))])
    head = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=git_project, capture_output=True, text=True, check=True
    )
    anchor = plane.memory.read().get("DEC-001").head.anchor
    assert anchor
    assert head.stdout.startswith(anchor)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_plane_can_be_read(plane: Plane) -> None:
    plane.propose(decision("One."))
    plane.layout.memory.chmod(0o500)
    try:
        assert plane.status().waiting == 1
        with pytest.raises(Damaged, match="permission"):
            plane.propose(decision("Two."))
    finally:
        plane.layout.memory.chmod(0o700)
