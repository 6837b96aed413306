"""Approvals of commands: of that very text, for that project, by that user, on that machine."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.curate.conditions.commands import approvals, kept, results
from agentplane.curate.conditions.commands.results import LastResults, NotRun, Unapproved
from agentplane.curate.conditions.result import CantTell, Fails, Holds
from agentplane.errors import BadInput
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.trust import user_key
from tests.conftest import plane_in
from tests.curate.shelves import add
from tests.runs.made import git


NOW = datetime(2031, 5, 10, 12, tzinfo=UTC)


def test_only_that_text_is_approved(plane: Plane) -> None:
    approvals.approve(plane.layout, ["make test"])
    assert approvals.is_approved(plane.layout, "make test")
    for other in ("make test ", "make  test", "make test; rm -r x", "Make test", ""):
        assert not approvals.is_approved(plane.layout, other)
    approvals.withdraw(plane.layout, ["make test"])
    assert not approvals.is_approved(plane.layout, "make test")


def test_an_approval_is_for_one_project(plane: Plane, tmp_path: Path) -> None:
    approvals.approve(plane.layout, ["make test"])
    other = tmp_path / "clone"
    shutil.copytree(plane.layout.project, other)
    assert not approvals.is_approved(Layout(root=other / ".agentplane"), "make test")
    # Another project at the same place has another log.
    shutil.rmtree(plane.layout.project)
    plane.layout.project.mkdir()
    assert not approvals.is_approved(plane.layout, "make test")
    (plane.layout.memory).mkdir(parents=True)
    plane.layout.log.write_text('{"kind":"op","op":"other"}\n')
    assert not approvals.is_approved(plane.layout, "make test")


def test_an_approval_is_for_one_machine(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    approvals.approve(plane.layout, ["make test"])
    monkeypatch.setattr(cache, "machine", lambda: "another machine")
    assert not approvals.is_approved(plane.layout, "make test")


def _file() -> Path:
    (found,) = (Path(user_key.folder()) / "approved-commands").iterdir()
    return found


def test_an_approval_is_for_one_user(plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ada"))
    approvals.approve(plane.layout, ["make test"])
    own = _file()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "eve"))
    assert not approvals.is_approved(plane.layout, "make test")
    # Even with a copy of the file, because Eve has another key.
    copy = Path(user_key.folder()) / "approved-commands" / own.name
    copy.parent.mkdir(parents=True)
    shutil.copy(own, copy)
    assert not approvals.is_approved(plane.layout, "make test")


def test_a_forged_approval_counts_for_nothing(
    plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ada"))
    approvals.approve(plane.layout, ["make test"])
    file = _file()
    for data in (b"", b"0" * 32 + b"\n", file.read_bytes()[1:]):
        file.write_bytes(data)
        assert not approvals.is_approved(plane.layout, "make test")
    file.unlink()
    os.mkfifo(file)
    assert not approvals.is_approved(plane.layout, "make test")


def test_no_place_for_approvals(plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(BadInput, match="can't be stored"):
        approvals.approve(plane.layout, ["make test"])
    assert not approvals.is_approved(plane.layout, "make test")


def test_nothing_runs_without_an_approval(plane: Plane) -> None:
    touched = plane.layout.project / "touched"
    add(plane, "Reports are CSV files.", "assumption", check="run: touch touched")
    add(plane, "Buttons are round.", "assumption", check="file: a missing")
    shelf = plane.memory.read().shelf
    assert results.unapproved(plane.layout, shelf) == {"touch touched": ("ASM-001",)}
    assert results.run_approved(plane.layout, shelf, lambda: NOW, 30) == []
    assert not touched.exists()
    approvals.approve(plane.layout, results.unapproved(plane.layout, shelf))
    assert results.unapproved(plane.layout, shelf) == {}
    (ran,) = results.run_approved(plane.layout, shelf, lambda: NOW, 30)
    assert (ran.exit_code, touched.exists()) == (0, True)


@pytest.mark.parametrize("with_git", [True, False])
def test_a_result_counts_until_the_project_changes(project: Path, with_git: bool) -> None:
    if with_git:
        git(project, "init", "-q")
    plane = plane_in(project)
    (project / "flag").write_text("no")
    (project / "other").write_text("x")
    command = "grep -q yes flag"
    add(plane, "Reports are CSV files.", "assumption", check=f"run: {command}")
    shelf = plane.memory.read().shelf
    assert LastResults(plane.layout).of(command) == Unapproved()
    approvals.approve(plane.layout, [command])
    assert LastResults(plane.layout).of(command) == NotRun()
    results.run_approved(plane.layout, shelf, lambda: NOW, 30)
    assert isinstance(LastResults(plane.layout).of(command), Fails)
    (project / "flag").write_text("yes")
    old = LastResults(plane.layout).of(command)
    assert isinstance(old, CantTell)
    assert "failed on 2031-05-10" in old.why
    results.run_approved(plane.layout, shelf, lambda: NOW, 30)
    assert isinstance(LastResults(plane.layout).of(command), Holds)
    (project / "other").write_text("y")
    assert LastResults(plane.layout).of(command) == NotRun()


def test_the_state_of_a_project(git_project: Path) -> None:
    layout = plane_in(git_project).layout

    def state() -> str:
        found = kept.state_of(layout)
        assert found is not None
        return found.digest

    states = [state()]
    (git_project / "new").write_text("a")
    states.append(state())
    (git_project / "new").write_text("bb")
    states.append(state())
    git(git_project, "add", "new")
    git(git_project, "-c", "user.name=A", "-c", "user.email=a@b.test", "commit", "-qm", "a", "new")
    states.append(state())
    assert len(set(states)) == 4
    # The memory itself is no part of it.
    (layout.root / "cache").mkdir(exist_ok=True)
    (layout.memory / "facts.md").write_text("x")
    assert state() == states[-1]


def test_old_results_are_dropped(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST", 2)
    commands = ["true", "true 1", "true 2"]
    for count, command in enumerate(commands):
        ran = results.run(command, plane.layout.project, 30)
        kept.save(plane.layout, kept.state_of(plane.layout), ran, NOW + timedelta(hours=count))
    assert set(kept.load(plane.layout)) == set(commands[1:])


@pytest.mark.parametrize("with_git", [True, False])
@pytest.mark.parametrize(
    ("command", "is_kept"),
    [("echo x > report.xml", True), ("echo y > flag", False), ("echo y > new; rm flag", False)],
)
def test_a_result_is_kept_unless_the_project_changed_meanwhile(
    project: Path, with_git: bool, command: str, is_kept: bool
) -> None:
    if with_git:
        git(project, "init", "-q")
    (project / "flag").write_text("no")
    if with_git:
        git(project, "add", "flag")
        git(project, "-c", "user.name=A", "-c", "user.email=a@b.test", "commit", "-qm", "a")
    plane = plane_in(project)
    add(plane, "Reports are CSV files.", "assumption", check=f"run: {command}")
    approvals.approve(plane.layout, [command])
    results.run_approved(plane.layout, plane.memory.read().shelf, lambda: NOW, 30)
    assert (command in kept.load(plane.layout)) == is_kept
    assert LastResults(plane.layout).of(command) == (Holds() if is_kept else NotRun())
