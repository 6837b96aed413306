"""What an entry stands on: found where it is, never outside of the project."""

import os
import subprocess
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.resolve import Choice
from agentplane.tui.backend.entries.entry_facts import Evidence, Subject, facts_of
from tests.conftest import decision, plane_in


def look(plane: Plane, id_: str) -> Subject:
    memory = plane.memory.read()
    edits = {edit.id: edit for edit in memory.hand_edits}
    entry = memory.get(id_) if id_ in memory.ids_in_files else None
    return Subject(entry, memory, None, edits.get(id_))


def test_evidence_is_there_gone_or_only_said(plane: Plane, project: Path) -> None:
    (project / "app").mkdir()
    (project / "app" / "hooks.py").write_text("# retry\n\n\ndef retry(): ...\n")
    pieces = ["app/hooks.py", "app/hooks.py:2", "app/hooks.py#L3", "app/hooks.py#retry", "app/hooks.py::retry",
              "docs/gone.md", "https://x.test/y", "a talk with Ada", "../outside.py", "/etc/passwd"]  # fmt: skip
    id_ = plane.propose(decision("Retry.", evidence=pieces))
    found = facts_of(look(plane, id_)).evidence
    path = str(project / "app" / "hooks.py")
    assert found[:5] == (
        Evidence(pieces[0], "there", "", path, None),
        Evidence(pieces[1], "there", "", path, 2),
        Evidence(pieces[2], "there", "", path, 3),
        Evidence(pieces[3], "there", "", path, 4),
        Evidence(pieces[4], "there", "", path, 4),
    )
    assert [piece.state for piece in found[5:]] == ["gone", "unknown", "unknown", "gone", "gone"]
    assert all(piece.path is None for piece in found[5:])


def test_a_link_out_of_the_project_is_never_opened(plane: Plane, project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("x\n")
    os.symlink(tmp_path / "secret.py", project / "inside.py")
    id_ = plane.propose(decision("Retry.", evidence=["inside.py"]))
    (piece,) = facts_of(look(plane, id_)).evidence
    assert (piece.state, piece.path) == ("gone", None)


def test_a_commit_is_evidence(git_project: Path) -> None:
    plane = plane_in(git_project)
    sha = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=git_project, capture_output=True, text=True
    ).stdout.strip()
    id_ = plane.propose(decision("Retry.", evidence=[sha[:12], f"commit:{sha[:10]}", "deadbeefdead"]))
    assert [piece.state for piece in facts_of(look(plane, id_)).evidence] == ["there", "there", "gone"]


def test_commits_that_touched_it(git_project: Path) -> None:
    plane = plane_in(git_project)
    done = plane.inbox.approve([plane.propose(decision("Retry."))])
    for words in (("add", "-A"), ("commit", "-q", "-m", "memory: one entry")):
        subprocess.run(("git", *words), cwd=git_project, check=True)
    (commit,) = facts_of(look(plane, done.ids[-1])).commits
    assert (commit.subject, commit.author) == ("memory: one entry", "Test Person")


def test_without_git_there_are_no_commits(plane: Plane) -> None:
    assert facts_of(look(plane, plane.propose(decision("Retry.")))).commits == ()


def test_the_run_that_it_came_from_and_those_that_used_it(plane: Plane) -> None:
    run = plane.write_log({"tool": "codex", "task": "retry policy", "summary": "Backoff now."})
    id_ = plane.inbox.approve([plane.propose(decision("Retry.", source=run))]).ids[-1]
    plane.write_log({"tool": "claude-code", "inputs": [{"memory": id_}], "summary": "Read it."})
    plane.write_log({"tool": "other", "summary": f"Speaks of {id_}."})
    found = facts_of(look(plane, id_))
    assert found.run is not None
    assert (found.run.tool, found.run.task, found.run.summary) == ("codex", "retry policy", "Backoff now.")
    assert [used.tool for used in found.used_by] == ["claude-code"]


def test_links_both_ways(plane: Plane) -> None:
    first = plane.inbox.approve([plane.propose(decision("Use PostgreSQL 15 for the ledger."))]).ids[-1]
    second = plane.inbox.approve(
        [plane.propose(decision("Use PostgreSQL 16 for the ledger."))], Choice(supersede=(first,))
    ).ids[-2]
    third = plane.inbox.approve(
        [plane.propose(Proposal(type="fact", statement=f"As {second} says, it is quick.", evidence=["x"]))]
    )
    named = third.ids[-1]
    assert {(link.relation, link.id) for link in facts_of(look(plane, first)).links} == {
        ("superseded by", second)
    }
    assert {(link.relation, link.id) for link in facts_of(look(plane, second)).links} == {
        ("supersedes", first),
        ("named in", named),
    }
    assert {(link.relation, link.id) for link in facts_of(look(plane, named)).links} == {("names", second)}


def test_a_link_to_nowhere_is_told_as_such(plane: Plane) -> None:
    id_ = plane.propose(decision("Retry.", supersedes=["DEC-099"]))
    (link,) = facts_of(look(plane, id_)).links
    assert (link.id, link.statement) == ("DEC-099", None)


def test_an_id_inside_a_longer_one_is_no_link(plane: Plane) -> None:
    id_ = plane.inbox.approve([plane.propose(decision("Retry."))]).ids[-1]
    plane.propose(decision(f"Not {id_}9, nor X{id_}, nor {id_}-a."))
    assert facts_of(look(plane, id_)).links == ()


def test_history_goes_back_to_the_candidate(plane: Plane) -> None:
    id_ = plane.inbox.approve([plane.propose(decision("Retry."))]).ids[-1]
    plane.memory.deprecate([id_], "no more")
    steps = facts_of(look(plane, id_)).steps
    assert [step.verb for step in steps] == ["propose", "approve", "deprecate"]
    assert steps[-1].why == "no more"


def test_a_hand_edit_comes_with_both_texts(plane: Plane) -> None:
    id_ = plane.inbox.approve([plane.propose(decision("Retry."))]).ids[-1]
    path = plane.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Retry.", "Give up."))
    found = facts_of(look(plane, id_))
    assert "Retry." in (found.approved or "")
    assert "Give up." in (found.now or "")
    path.write_text("# Decisions\n")
    found = facts_of(look(plane, id_))
    assert "Retry." in (found.approved or "")
    assert found.now is None


@pytest.mark.parametrize("name", ["--output=x", "$(id)", "a b"])
def test_what_an_id_holds_runs_nothing(git_project: Path, name: str) -> None:
    plane = plane_in(git_project)
    path = plane.layout.memory / "decisions.md"
    path.write_text(f"---\nid: '{name}'\ntype: decision\nstatus: accepted\n---\nDecision: x\n")
    before = set(os.listdir(git_project))
    memory = plane.memory.read()
    entry = next(iter(memory.entries.values()))
    assert entry.id == name
    facts_of(Subject(entry, memory))
    assert set(os.listdir(git_project)) == before
