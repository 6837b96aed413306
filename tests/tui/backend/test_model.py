"""The plane as the screens see it, without a screen."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.commands import (
    Adopt,
    Approve,
    ApproveClean,
    Deprecate,
    Edit,
    Propose,
    Redo,
    Reject,
    Revert,
    Undo,
)
from agentplane.context.choose import Ask
from agentplane.errors import BadInput, Damaged, PlaneError, Refused
from agentplane.memory.proposing import Proposal
from agentplane.tools import presence
from agentplane.tui.actions import Keymap
from agentplane.tui.backend import outcome_text
from agentplane.tui.backend.entries import first_rows
from agentplane.tui.backend.entries.bulk_plan import clean_ones
from agentplane.tui.backend.entries.inbox_rows import Place, rows
from agentplane.tui.backend.model import PlaneModel, as_error
from agentplane.tui.backend.outcome_text import Outcome
from tests.conftest import UNLIKE, decision, files_of
from tests.plane.branches import Repository, with_driver


def message_of(outcome: Outcome) -> str:
    return outcome_text.message_of(outcome, Keymap())


def model_of(plane: Plane) -> PlaneModel:
    return PlaneModel(plane, lambda *_: None)


def test_what_is_shown_is_what_is_on_disk(three: Plane) -> None:
    model = model_of(three)
    shown = model.load()
    assert shown.inbox[0].statement == "Use Postgres for the ledger."
    assert shown.shelf == ()
    assert shown.project == "project"
    assert shown.refusal is None
    assert not shown.damaged


def test_what_is_in_sight_is_looked_at_first_then_the_unseen(three: Plane) -> None:
    model = model_of(three)
    ids = [entry.id for entry in model.load().inbox]
    assert model.to_look_at([ids[2]]) == [ids[2], ids[0], ids[1]]
    model.look([ids[0]])
    assert model.to_look_at() == ids[1:]
    assert model.shown is not None
    assert model.shown.reviewed.keys() == {ids[0]}


def test_what_was_found_stays_until_it_is_looked_at_again_unless_the_text_changed(three: Plane) -> None:
    model = model_of(three)
    ids = [entry.id for entry in model.load().inbox]
    model.look(ids)
    path = three.layout.memory / "candidates.md"
    path.write_text(path.read_text().replace("Postgres", "SQLite"))
    shown = model.load()
    assert shown.reviewed.keys() == set(ids[1:])
    assert model.to_look_at() == ids[:1]


def test_each_verb_is_carried_out(three: Plane) -> None:
    model = model_of(three)
    first, second, third = (entry.id for entry in model.load().inbox)
    assert message_of(model.do(Approve((first,)))) == "Approved DEC-001 · u to undo"
    assert message_of(model.do(Undo())) == f"Undid approval of {first} · U to redo"
    assert message_of(model.do(Redo())) == f"Redid approval of {first} · u to undo"
    assert message_of(model.do(Reject((second,), why="no"))) == f"Rejected {second} · u to undo"
    assert message_of(model.do(Deprecate(("DEC-001",), why="old"))) == "Deprecated DEC-001 · u to undo"
    proposal = Proposal(type="decision", statement="Use SQLite for tests.", rationale="Quick.")
    assert message_of(model.do(Propose(proposal))).startswith("Proposed CAND-")
    shown = model.load()
    entry = shown.memory.get(third)
    text = (shown.memory.snapshot.core(entry.file, third) or b"").replace(b"Tuesdays", b"Mondays")
    assert message_of(model.do(Edit(third, text, entry.digest))) == f"Edited {third} · u to undo"
    same = model.do(Edit(third, text, model.load().memory.get(third).digest))
    assert message_of(same) == "Nothing was changed"
    assert message_of(model.do(ApproveClean())).startswith("Approved ")
    path = three.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Postgres", "MariaDB"))
    seen = (("DEC-001", model.load().memory.get("DEC-001").digest),)
    assert message_of(model.do(Adopt(("DEC-001",), seen))) == "Accepted DEC-001 · u to undo"
    path.write_text(path.read_text().replace("MariaDB", "Oracle"))
    assert message_of(model.do(Revert(("DEC-001",)))) == "Discarded DEC-001 · u to undo"
    assert b"MariaDB" in files_of(three)["memory/decisions.md"]


def test_what_is_adopted_is_what_was_seen(three: Plane) -> None:
    three.inbox.approve([three.memory.read().inbox_ids[0]])
    path = three.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Postgres", "MariaDB"))
    model = model_of(three)
    seen = (("DEC-001", model.load().memory.get("DEC-001").digest),)
    path.write_text(path.read_text().replace("MariaDB", "a spreadsheet"))
    with pytest.raises(Refused, match="edited again after you reviewed it"):
        model.do(Adopt(("DEC-001",), seen))
    path.write_text("# Decisions\n")
    with pytest.raises(Refused, match=r"decisions\.md: DEC-001 was edited again after you reviewed it"):
        model.do(Adopt(("DEC-001",), seen))
    model.do(Adopt(("DEC-001",), (("DEC-001", None),)))
    assert not three.memory.read().shelf


def test_a_decision_is_a_persons(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_SANDBOX", "1")
    model = PlaneModel(three)
    before = files_of(three)
    shown = model.load()
    assert shown.refusal == "Deciding requires a person, but this shell was started by Codex CLI."
    with pytest.raises(Refused, match="Approving requires a person"):
        model.do(Approve((shown.inbox[0].id,)))
    assert files_of(three) == before


def test_a_reason_is_remembered_once_and_the_last_one_comes_first(three: Plane) -> None:
    model = model_of(three)
    first, second, _ = (entry.id for entry in model.load().inbox)
    model.do(Reject((first,), why="one"))
    model.do(Reject((second,), why="two"))
    model.learn_reasons()
    assert model.reasons == ("two", "one")
    model.remember_reason("one")
    assert model.reasons == ("one", "two")


def test_a_plane_that_is_gone_is_said_so(three: Plane) -> None:
    model = model_of(three)
    model.load()
    three.layout.root.rename(three.layout.root.with_name("elsewhere"))
    with pytest.raises(Damaged, match="no longer exists"):
        model.load()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BadInput("no", todo="so"), "no\nso"),
        (OSError(28, "No space left on device", "/x"), "/x: no space left on device"),
        (ValueError("odd"), "Internal error: ValueError: odd"),
    ],
)
def test_whatever_a_thread_meets_is_told(error: Exception, said: str) -> None:
    assert str(as_error(error)).startswith(said)
    assert isinstance(as_error(error), PlaneError | BadInput)


def test_many_are_told_by_their_number() -> None:
    pairs = (("CAND-A", "DEC-001"), ("CAND-B", "DEC-002"))
    bulk = Outcome("approve", "approve", ("CAND-A", "DEC-001", "CAND-B", "DEC-002"), "op", "r", pairs=pairs)
    assert message_of(bulk) == "Approved 2 entries · u to undo"
    ids = ("CAND-A", "DEC-002", "DEC-001")
    taking_over = Outcome("supersede", "supersede", ids, "op", "r", pairs=(("CAND-A", "DEC-002"),))
    assert message_of(taking_over) == "Approved DEC-002 · u to undo"


def test_hand_edits_are_rows_of_their_own_after_the_candidates(three: Plane) -> None:
    three.inbox.approve(three.memory.read().inbox_ids[:1])
    path = three.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Postgres", "MariaDB"))
    model = model_of(three)
    made = rows(model.load(), Place("run", three.store.clock()))
    assert [(row.id, row.badge, row.group) for row in made][-1] == ("edit:DEC-001", "~", "manual edits")
    assert len(made) == 3


def test_what_was_kept_is_shown_at_the_next_start_unless_something_changed(three: Plane) -> None:
    root = str(three.layout.root)
    assert first_rows.load(root) == {}
    model = model_of(three)
    model.load()
    model.look(model.to_look_at())
    model.keep_glimpse()
    found = first_rows.load(root)
    assert [row[3] for row in found["rows"]][1] == "Log in JSON lines."
    assert found["counts"] == [3, 0, 0]
    assert found["rows"][0][1] == "●"
    three.propose(decision("Another one."))
    assert first_rows.load(root) == {"theme": "auto", "ascii": False}, "rows that no longer hold aren't shown"


@pytest.mark.parametrize("data", ["", "[]", "{}", '{"stamp": 1, "rows": 3}', "null", "\udcff"])
def test_a_kept_glimpse_that_is_broken_is_none(three: Plane, data: str) -> None:
    path = three.layout.cache / "glimpse"
    path.parent.mkdir(exist_ok=True)
    path.write_text(data, errors="surrogateescape")
    assert first_rows.load(str(three.layout.root)) == {}


@pytest.mark.parametrize(("most", "goes_on"), [(3, False), (2, True)])
def test_the_heading_says_when_more_follow_than_were_kept(
    three: Plane, monkeypatch: pytest.MonkeyPatch, most: int, goes_on: bool
) -> None:
    monkeypatch.setattr(first_rows, "ROWS", most)
    model = model_of(three)
    model.load()
    model.keep_glimpse()
    found = first_rows.load(str(three.layout.root))
    assert (len(found["rows"]), found["goes_on"]) == (most, goes_on)


def test_after_an_op_those_that_met_what_was_changed_are_looked_at_first(three: Plane) -> None:
    three.inbox.approve([three.memory.read().inbox_ids[0]])
    rival = three.propose(decision("Use MySQL for the ledger."))
    model = model_of(three)
    model.load()
    model.look(model.to_look_at())
    assert model.shown is not None
    assert [met.id for met in model.shown.reviewed[rival].conflicts] == ["DEC-001"]
    assert model.shown.inbox[-1].id == rival
    three.memory.deprecate(["DEC-001"])
    model.load()
    assert model.to_look_at() == [rival]
    assert not model.shown.reviewed[rival].checked
    new = three.propose(decision("Print labels on recycled paper."))
    model.load()
    assert model.to_look_at() == [rival, new]
    assert model.to_look_at([new]) == [new, rival]
    bulk = clean_ones(model.shown, [entry.id for entry in model.shown.inbox])
    assert len(bulk.ids) == 2
    assert bulk.left_out == ((2, "not checked yet"),)
    model.look([rival])
    assert not model.shown.reviewed[rival].conflicts
    assert model.shown.reviewed[rival].checked
    assert model.to_look_at() == [new]


def test_what_met_something_that_is_gone_is_looked_at_anew(plane: Plane) -> None:
    first = plane.propose(decision("Use Postgres for the ledger."))
    second = plane.propose(decision("Use MySQL for the ledger."))
    model = model_of(plane)
    model.load()
    model.look([first, second])
    plane.inbox.approve([first])
    shown = model.load()
    assert second not in shown.reviewed
    assert model.is_urgent(second)
    model.look([second])
    assert [met.id for met in shown.reviewed[second].conflicts] == ["DEC-001"]


def test_where_tools_have_the_new_memory_is_said(three: Plane) -> None:
    model = model_of(three)
    first, second, _ = (entry.id for entry in model.load().inbox)
    three.tools.sync(presence.named(["codex", "claude", "copilot"]), three.tools.pack(Ask(passing=False)))
    assert message_of(model.do(Approve((first,)))) == "Approved DEC-001 and updated 3 tool files · u to undo"
    rules = three.layout.project / "AGENTS.md"
    rules.write_text(rules.read_text().replace("## Decisions", "## Decisions\n\n- Mine."))
    done = model.do(Approve((second,)))
    assert message_of(done) == "Approved DEC-002 · AGENTS.md is outdated, so sync the tools · u to undo"


def test_branches_that_had_to_be_settled_first_are_told_of(git_project: Path) -> None:
    repository = with_driver(Repository(git_project))
    repository.approve(UNLIKE[0])
    repository.branch("other")
    repository.approve(UNLIKE[1])
    repository.checkout("main")
    repository.approve(UNLIKE[2])
    for hook in (git_project / ".git/hooks").glob("p*"):
        hook.unlink()
    repository.git("merge", "-q", "--no-edit", "other")
    model = model_of(repository.plane)
    done = model.do(Propose(decision(UNLIKE[3])))
    assert message_of(done).startswith("Reconciled merged branches · Proposed CAND-")
    assert message_of(model.do(Approve((done.ids[0],)))).startswith("Approved DEC-004")


def test_an_approval_says_what_it_is_against(plane: Plane) -> None:
    for seconds in (30, 10):
        plane.propose(
            Proposal(type="fact", statement=f"HTTP timeout is {seconds} seconds.", evidence=["a.py"])
        )
    first, second = (entry.id for entry in plane.memory.read().inbox)
    model = PlaneModel(plane, lambda *_: None)
    assert message_of(model.do(Approve((first,)))) == "Approved FACT-001 · u to undo"
    assert (
        message_of(model.do(Approve((second,))))
        == "Approved FACT-002, which contradicts FACT-001 · u to undo"
    )
