"""Which run is the last one in a context: by time, of this branch or its history, and the run of a tool."""

import json
import subprocess
from pathlib import Path

import pytest

from agentplane.agents.catalog import BY_NAME
from agentplane.api import Plane
from agentplane.context.choose import Ask
from agentplane.plane.git import git as gits
from agentplane.runs import events
from agentplane.runs.query import last_runs
from agentplane.tools.hooks import start_context
from tests.conftest import decision, plane_in


def git(folder: Path, *words: str) -> None:
    subprocess.run(("git", *words), cwd=folder, check=True, capture_output=True)


def commit(folder: Path, name: str) -> None:
    (folder / name).write_text(name)
    git(folder, "add", name)
    git(folder, "commit", "-q", "-m", name)


@pytest.fixture
def plane(git_project: Path) -> Plane:
    """Its log is not committed, so every branch sees the same one."""
    return plane_in(git_project)


def notes(plane: Plane, task: str | None = None) -> str:
    return plane.tools.pack(Ask(task)).text


def test_a_run_that_was_logged_late_is_not_the_last(plane: Plane) -> None:
    plane.write_log({"summary": "Today."})
    plane.write_log({"ts": "2020-01-01T00:00:00Z", "summary": "Long ago."})
    assert "Today." in notes(plane)
    assert "Long ago." not in notes(plane)


def test_an_import_is_not_the_last_run(plane: Plane) -> None:
    plane.write_log({"summary": "Wrote the parser."})
    (plane.layout.project / "AGENTS.md").write_text("# Rules\n\n- Always use tabs in Makefiles.\n")
    assert any(plane.tools.take_in(plane.tools.harvest(["instructions"])).ids)
    assert "Wrote the parser." in notes(plane)
    assert "Imported" not in notes(plane)


def test_a_run_of_another_branch_is_not_the_last(plane: Plane) -> None:
    folder = plane.layout.project
    plane.write_log({"summary": "On main."})
    git(folder, "checkout", "-q", "-b", "other")
    assert "On main." in notes(plane)
    commit(folder, "b.txt")
    plane.write_log({"summary": "On the other branch.", "task": "T"})
    assert "On the other branch." in notes(plane)
    git(folder, "checkout", "-q", "main")
    assert "On main." in notes(plane)
    assert "Not reviewed" not in notes(plane, "T")
    commit(folder, "c.txt")
    git(folder, "merge", "-q", "--no-edit", "other")
    git(folder, "branch", "-D", "other")
    assert "On the other branch." in notes(plane)
    git(folder, "checkout", "-q", "--detach", "HEAD~1")
    assert "On main." in notes(plane)


def test_a_wrapped_run_that_commits_belongs_to_its_last_commit(plane: Plane) -> None:
    from tests.runs.made import shell

    folder = plane.layout.project
    shell(plane, "true", task="T")
    git(folder, "checkout", "-q", "-b", "other")
    there = shell(plane, "echo b > b.txt; git add b.txt; git commit -q -m b", task="T")
    assert there.branch == "other"
    git(folder, "checkout", "-q", "main")
    last = last_runs.of(plane.layout).run
    assert last is not None
    assert (last.branch, last.commit) == ("main", gits.commit(folder, "main"))


def test_what_git_does_not_know_counts_everywhere(plane: Plane) -> None:
    """Its event came with a merge that left no commit of the branch, or from a version that named none."""
    plane.write_log({"summary": "Squashed.", "branch": "gone", "commit": "a" * 40})
    assert "Squashed." in notes(plane)


def test_without_git_the_last_run_is_the_last(project: Path) -> None:
    plane = plane_in(project)
    plane.write_log({"summary": "Here."})
    assert last_runs.of(plane.layout).by_history is False
    assert "Here." in notes(plane)


def test_git_is_asked_only_where_runs_of_other_branches_are_in_the_way(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = plane.layout.project
    plane.write_log({"summary": "On main."})
    asked: list[int] = []
    ask = gits.not_in_history

    def counted(where: Path, commits: set[gits.ObjectId]) -> object:
        asked.append(len(commits))
        return ask(where, commits)

    monkeypatch.setattr(gits, "not_in_history", counted)
    assert not last_runs.of(plane.layout).by_history
    assert asked == []
    git(folder, "checkout", "-q", "-b", "other")
    commit(folder, "b.txt")
    for number in range(40):
        plane.write_log({"summary": f"{number}"})
    git(folder, "checkout", "-q", "main")
    assert last_runs.of(plane.layout).by_history
    assert asked == [2]


def test_a_kept_context_is_not_given_on_another_branch(plane: Plane) -> None:
    """The files of the memory are the same on both, so only git tells."""
    folder, tool = plane.layout.project, BY_NAME["claude-code"]
    root = str(plane.layout.root)
    plane.inbox.approve([plane.propose(decision("Use tabs."))])
    plane.write_log({"summary": "On main."})
    git(folder, "checkout", "-q", "-b", "other")
    commit(folder, "b.txt")
    plane.write_log({"summary": "On the other branch."})

    def given() -> str:
        found = start_context.cached(root, tool, None)
        if found is None:
            start_context.make(plane.store, plane.origin, tool, None)
            found = start_context.cached(root, tool, None)
            assert found is not None
        return found.text

    assert "On the other branch." in given()
    kept = start_context.cached(root, tool, None)
    assert kept is not None
    git(folder, "checkout", "-q", "main")
    assert start_context.cached(root, tool, None) is None
    assert "On main." in given()
    git(folder, "merge", "-q", "other")
    assert start_context.cached(root, tool, None) is None
    assert "On the other branch." in given()
    assert list(start_context.wrong(plane.store)) == []


def test_a_new_commit_alone_makes_nothing_anew(plane: Plane) -> None:
    root, tool = str(plane.layout.root), BY_NAME["codex"]
    plane.write_log({"summary": "On main."})
    start_context.make(plane.store, plane.origin, tool, None)
    assert start_context.cached(root, tool, None) is not None
    commit(plane.layout.project, "b.txt")
    assert start_context.cached(root, tool, None) is not None


def test_the_event_names_branch_and_commit(plane: Plane) -> None:
    run = events.load(plane.layout, plane.write_log({"summary": "x"}))
    assert (run.branch, run.commit) == ("main", gits.commit(plane.layout.project, "HEAD"))
    assert json.loads(events.line_of(plane.layout, run.run_id) or b"")["written"]
