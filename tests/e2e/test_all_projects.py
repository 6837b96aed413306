"""What waits in every project and worktree, from anywhere."""

import json
import subprocess
import sys
from datetime import date
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


def git(*words: str, cwd: Path) -> None:
    subprocess.run(("git", *words), cwd=cwd, check=True, capture_output=True)


def committed(repository: Path) -> None:
    git("add", "-A", cwd=repository)
    git("commit", "-qm", "memory", cwd=repository)


def worktree(repository: Path, folder: Path) -> None:
    git("worktree", "add", "-qb", "x", str(folder), cwd=repository)


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
    assert (
        f"2 more candidates. To list all of them, run `agentplane --plane {other}/.agentplane inbox`."
        in done.stdout
    )
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
    committed(repository)
    worktree(repository, tmp_path / "tree")
    proposed(tmp_path / "tree")
    done = started(["inbox"], repository)
    assert "1 more item is waiting for review in other worktrees" in done.stderr
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
    found = json.loads(started(["badge", "--all", "--json"], tmp_path).stdout)
    assert (found["waiting"], found["unreadable"]) == (1, 1)


def test_the_badge_counts_other_worktrees(repository: Path, tmp_path: Path) -> None:
    proposed(repository)
    committed(repository)
    worktree(repository, tmp_path / "tree")
    known_projects.add(str(repository.resolve() / ".agentplane"))
    proposed(tmp_path / "tree", "Another.")
    assert started(["badge", "--all"], tmp_path).stdout == "● 3\n"
    assert json.loads(started(["badge", "--all", "--json"], tmp_path).stdout)["waiting"] == 3


def test_the_named_project_is_one_of_all(repository: Path, other: Path, tmp_path: Path) -> None:
    mine = proposed(repository)
    plane = str(repository / ".agentplane")
    for named in (plane, str(repository)):
        assert mine in started(["--plane", named, "inbox", "--all"], tmp_path).stdout
        env = {"AGENTPLANE_PLANE": named}
        assert mine in started(["inbox", "--all"], tmp_path, env=env).stdout
        assert started(["badge", "--all"], tmp_path, env=env).stdout == "● 1\n"
        assert json.loads(started(["badge", "--all", "--json"], tmp_path, env=env).stdout)["waiting"] == 1
    env = {"AGENTPLANE_PLANE": str(tmp_path / "nowhere")}
    done = started(["badge", "--all"], tmp_path, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (2, "?\n", "")
    assert "Directory not found" in started(["inbox", "--all"], tmp_path, env=env).stderr


def test_folded_candidates_are_not_listed(repository: Path, other: Path) -> None:
    plane = plane_in(other)
    asking, snoozed = (plane.propose(decision(f"Statement {number}.")) for number in range(2))
    plane.inbox.snooze([snoozed], date(2999, 12, 31))
    done = started(["inbox", "--all"], repository)
    assert f"{other}: 1 candidate" in done.stdout
    assert asking in done.stdout
    assert snoozed not in done.stdout
    found = json.loads(started(["inbox", "--all", "--json"], repository).stdout)["projects"]
    (shown,) = [one for one in found if one["project"] == str(other)]
    assert [one["id"] for one in shown["candidates"]] == [asking]
    assert (shown["waiting"], shown["folded"]) == (1, 1)


def test_a_folder_that_is_gone_leaves_the_other_projects(other: Path, tmp_path: Path) -> None:
    plane_in(other).propose(decision("One."))
    command = f'mkdir gone; cd gone; rmdir ../gone; "{sys.executable}" -P -m agentplane badge --all'
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "● 1\n", "")


def test_the_demo_is_not_one_of_the_projects(other: Path, tmp_path: Path) -> None:
    assert started(["demo", "--print", "--into", str(tmp_path / "demo")], tmp_path).returncode == 0
    assert started(["inbox"], tmp_path / "demo" / "payments-api").returncode == 0
    assert known_projects.every() == [str(other.resolve() / ".agentplane")]
    assert started(["badge", "--all"], tmp_path).stdout == ""
