"""What waits in every project and worktree, from anywhere."""

import json
import subprocess
from pathlib import Path

import pytest

from agentplane.plane import known_projects
from tests.conftest import decision, plane_in
from tests.e2e.conftest import proposed, started


@pytest.fixture(autouse=True)
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    folder.mkdir()
    known_projects.add(str(plane_in(folder).layout.root))
    return folder


def test_init_lists_the_project(git_project: Path, tmp_path: Path) -> None:
    assert started(["init", "--yes", "--tools", "none"], git_project).returncode == 0
    assert known_projects.every() == [str(git_project.resolve() / ".agentplane")]


def test_the_inbox_of_every_project(repository: Path, other: Path, tmp_path: Path) -> None:
    mine = proposed(repository)
    known_projects.add(str(repository.resolve() / ".agentplane"))
    theirs = [plane_in(other).propose(decision(f"Statement {number}.")) for number in range(7)]
    done = started(["inbox", "--all"], tmp_path)
    assert done.returncode == 0
    assert f"{repository} (main): 1 candidate" in done.stdout
    assert mine in done.stdout
    assert f"{other}: 7 candidates" in done.stdout
    assert sum(id_ in done.stdout for id_ in theirs) == 5
    assert f"2 more: agentplane --plane {other}/.agentplane inbox" in done.stdout
    found = json.loads(started(["inbox", "--all", "--json"], tmp_path).stdout)["projects"]
    counts = {Path(one["project"]).name: (one["waiting"], len(one["candidates"])) for one in found}
    assert counts == {"other": (7, 7), repository.name: (1, 1)}


def test_a_project_that_cannot_be_read_hides_no_other(repository: Path, other: Path) -> None:
    proposed(repository)
    (other / ".agentplane" / "memory" / "log.jsonl").unlink()
    done = started(["inbox", "--all"], repository)
    assert done.returncode == 0
    assert f"{other}: the log is missing" in done.stdout
    assert f"{repository} (main): 1 candidate" in done.stdout


def test_nothing_waits_anywhere(other: Path, tmp_path: Path) -> None:
    done = started(["inbox", "--all"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Nothing to review in 1 project." in done.stderr


def test_a_tool_is_given_nothing_of_other_projects(repository: Path, other: Path) -> None:
    plane_in(other).propose(decision("Only for people."))
    done = started(["inbox", "--all"], repository, env={"CLAUDECODE": "1"})
    assert done.returncode == 3
    assert "Only for people." not in done.stdout + done.stderr
    listed = started(["inbox"], repository, env={"CLAUDECODE": "1"})
    assert listed.returncode == 0
    assert known_projects.every() == [str(other.resolve() / ".agentplane")]


def test_a_proposal_in_another_worktree_is_seen(repository: Path, tmp_path: Path) -> None:
    for words in (
        ("add", "-A"),
        ("commit", "-qm", "memory"),
        ("worktree", "add", "-qb", "x", str(tmp_path / "tree")),
    ):
        subprocess.run(("git", *words), cwd=repository, check=True, capture_output=True)
    proposed(tmp_path / "tree")
    done = started(["inbox"], repository)
    assert "1 more decision waits in other worktrees" in done.stderr
    assert "(x): 1" in done.stderr
    assert "other worktrees" not in started(["inbox"], tmp_path / "tree").stderr


def test_the_badge_of_every_project(repository: Path, other: Path, tmp_path: Path) -> None:
    proposed(repository)
    known_projects.add(str(repository.resolve() / ".agentplane"))
    plane_in(other).propose(decision("One."))
    for _ in range(2):
        assert started(["badge", "--all"], tmp_path).stdout == "● 2\n"
    decisions = other / ".agentplane" / "memory" / "decisions.md"
    decisions.write_text(f"{decisions.read_text()}\nA note.\n")
    assert started(["badge", "--all"], tmp_path).stdout == "● 2\n"
    assert json.loads(started(["badge", "--all", "--json"], tmp_path).stdout)["waiting"] == 2
    (other / ".agentplane" / "memory" / "log.jsonl").unlink()
    assert started(["badge", "--all"], tmp_path).stdout == "● 1 ?\n"
