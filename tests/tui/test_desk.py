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
from agentplane.memory.verbs import Proposal
from agentplane.tools import found
from agentplane.tui import glimpse
from agentplane.tui.bulk import clean_ones
from agentplane.tui.desk import Desk, as_error
from agentplane.tui.ops import Outcome, told
from agentplane.tui.rows import Place, rows
from tests.conftest import UNLIKE, decision, files_of
from tests.plane.branches import Repository, with_driver


def desk_of(plane: Plane) -> Desk:
    return Desk(plane, lambda *_: None)


def test_what_is_shown_is_what_is_on_disk(three: Plane) -> None:
    desk = desk_of(three)
    shown = desk.load()
    assert shown.inbox[0].statement == "Use Postgres for the ledger."
    assert shown.shelf == ()
    assert shown.project == "project"
    assert shown.refusal is None
    assert not shown.damaged


def test_what_is_in_sight_is_looked_at_first_then_the_unseen(three: Plane) -> None:
    desk = desk_of(three)
    ids = [entry.id for entry in desk.load().inbox]
    assert desk.to_look_at([ids[2]]) == [ids[2], ids[0], ids[1]]
    desk.look([ids[0]])
    assert desk.to_look_at() == ids[1:]
    assert desk.shown is not None
    assert desk.shown.reviewed.keys() == {ids[0]}


def test_what_was_found_stays_until_it_is_looked_at_again_unless_the_text_changed(three: Plane) -> None:
    desk = desk_of(three)
    ids = [entry.id for entry in desk.load().inbox]
    desk.look(ids)
    path = three.layout.memory / "candidates.md"
    path.write_text(path.read_text().replace("Postgres", "SQLite"))
    shown = desk.load()
    assert shown.reviewed.keys() == set(ids[1:])
    assert desk.to_look_at() == ids[:1]


def test_each_verb_is_carried_out(three: Plane) -> None:
    desk = desk_of(three)
    first, second, third = (entry.id for entry in desk.load().inbox)
    assert told(desk.do(Approve((first,)))) == "Approved DEC-001 · u undoes"
    assert told(desk.do(Undo())) == f"Undid the approve of {first} · U does it again"
    assert told(desk.do(Redo())) == f"Redid the approve of {first} · u undoes"
    assert told(desk.do(Reject((second,), why="no"))) == f"Rejected {second} · u undoes"
    assert told(desk.do(Deprecate(("DEC-001",), why="old"))) == "Deprecated DEC-001 · u undoes"
    proposal = Proposal(type="decision", statement="Use SQLite for tests.", rationale="Quick.")
    assert told(desk.do(Propose(proposal))).startswith("Proposed CAND-")
    shown = desk.load()
    entry = shown.memory.get(third)
    text = (shown.memory.snapshot.core(entry.file, third) or b"").replace(b"Tuesdays", b"Mondays")
    assert told(desk.do(Edit(third, text, entry.digest))) == f"Edited {third} · u undoes"
    same = desk.do(Edit(third, text, desk.load().memory.get(third).digest))
    assert told(same) == "Nothing was changed"
    assert told(desk.do(ApproveClean())).startswith("Approved ")
    path = three.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Postgres", "MariaDB"))
    seen = (("DEC-001", desk.load().memory.get("DEC-001").digest),)
    assert told(desk.do(Adopt(("DEC-001",), seen))) == "Adopted DEC-001 · u undoes"
    path.write_text(path.read_text().replace("MariaDB", "Oracle"))
    assert told(desk.do(Revert(("DEC-001",)))) == "Reverted DEC-001 · u undoes"
    assert b"MariaDB" in files_of(three)["memory/decisions.md"]


def test_what_is_adopted_is_what_was_seen(three: Plane) -> None:
    three.inbox.approve([three.memory.read().inbox_ids[0]])
    path = three.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Postgres", "MariaDB"))
    desk = desk_of(three)
    seen = (("DEC-001", desk.load().memory.get("DEC-001").digest),)
    path.write_text(path.read_text().replace("MariaDB", "a spreadsheet"))
    with pytest.raises(Refused, match="changed by hand once more since it was shown"):
        desk.do(Adopt(("DEC-001",), seen))
    path.write_text("# Decisions\n")
    with pytest.raises(Refused, match="once more"):
        desk.do(Adopt(("DEC-001",), seen))
    desk.do(Adopt(("DEC-001",), (("DEC-001", None),)))
    assert not three.memory.read().shelf


def test_a_decision_is_a_persons(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_SANDBOX", "1")
    desk = Desk(three)
    before = files_of(three)
    shown = desk.load()
    assert shown.refusal == "deciding is a person's decision, and this is a shell of codex"
    with pytest.raises(Refused, match="approving is a person's decision"):
        desk.do(Approve((shown.inbox[0].id,)))
    assert files_of(three) == before


def test_a_reason_is_remembered_once_and_the_last_one_comes_first(three: Plane) -> None:
    desk = desk_of(three)
    first, second, _ = (entry.id for entry in desk.load().inbox)
    desk.do(Reject((first,), why="one"))
    desk.do(Reject((second,), why="two"))
    desk.learn_reasons()
    assert desk.reasons == ("two", "one")
    desk.remember_reason("one")
    assert desk.reasons == ("one", "two")


def test_a_plane_that_is_gone_is_said_so(three: Plane) -> None:
    desk = desk_of(three)
    desk.load()
    three.layout.root.rename(three.layout.root.with_name("elsewhere"))
    with pytest.raises(Damaged, match="the plane is gone"):
        desk.load()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BadInput("no", todo="so"), "no\nso"),
        (OSError(28, "No space left on device", "/x"), "/x: no space left on device"),
        (ValueError("odd"), "this should not happen: ValueError: odd"),
    ],
)
def test_whatever_a_thread_meets_is_told(error: Exception, said: str) -> None:
    assert str(as_error(error)).startswith(said)
    assert isinstance(as_error(error), PlaneError | BadInput)


def test_many_are_told_by_their_number() -> None:
    pairs = (("CAND-A", "DEC-001"), ("CAND-B", "DEC-002"))
    bulk = Outcome("approve", "approve", ("CAND-A", "DEC-001", "CAND-B", "DEC-002"), "op", "r", pairs=pairs)
    assert told(bulk) == "Approved 2 entries · u undoes"
    ids = ("CAND-A", "DEC-002", "DEC-001")
    taking_over = Outcome("supersede", "supersede", ids, "op", "r", pairs=(("CAND-A", "DEC-002"),))
    assert told(taking_over) == "Approved DEC-002 · u undoes"


def test_hand_edits_are_rows_of_their_own_after_the_candidates(three: Plane) -> None:
    three.inbox.approve(three.memory.read().inbox_ids[:1])
    path = three.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Postgres", "MariaDB"))
    desk = desk_of(three)
    made = rows(desk.load(), Place("run", three.store.clock()))
    assert [(row.id, row.badge, row.group) for row in made][-1] == ("edit:DEC-001", "~", "edited by hand")
    assert len(made) == 3


def test_what_was_kept_is_shown_at_the_next_start_unless_something_changed(three: Plane) -> None:
    root = str(three.layout.root)
    assert glimpse.kept(root) is None
    desk = desk_of(three)
    desk.load()
    desk.look(desk.to_look_at())
    desk.keep_glimpse()
    found = glimpse.kept(root)
    assert found is not None
    assert [row[3] for row in found["rows"]][1] == "Log in JSON lines."
    assert found["counts"] == [3, 0, 0]
    assert found["rows"][0][1] == "●"
    three.propose(decision("Another one."))
    assert glimpse.kept(root) is None


@pytest.mark.parametrize("data", ["", "[]", "{}", '{"stamp": 1, "rows": 3}', "null", "\udcff"])
def test_a_kept_glimpse_that_is_broken_is_none(three: Plane, data: str) -> None:
    path = three.layout.cache / "glimpse"
    path.parent.mkdir(exist_ok=True)
    path.write_text(data, errors="surrogateescape")
    assert glimpse.kept(str(three.layout.root)) is None


@pytest.mark.parametrize("by_hand", [False, True])
def test_the_first_rows_are_read_at_once_or_by_a_child_that_leaves_nothing_behind(
    three: Plane, by_hand: bool
) -> None:
    if by_hand:
        path = three.layout.file("memory/candidates.md")
        path.write_bytes(path.read_bytes().replace(b"\nstatus: ", b"\nstatus:  "))
    begun = glimpse.begin(str(three.layout.root))
    assert isinstance(begun, glimpse.Glimpse if by_hand else glimpse.AtHand)
    assert begun is not None
    found = begun.get(20)
    begun.close()
    assert [row[3] for row in found["rows"]] == [entry.statement for entry in three.memory.read().inbox]
    assert found["waiting"] == 3
    assert found["project"] == "project"


def test_a_plane_that_cannot_be_read_gives_no_glimpse(three: Plane) -> None:
    three.layout.config.write_text("not toml")
    begun = glimpse.begin(str(three.layout.root))
    assert begun is not None
    assert dict(begun.get(20)) == {}
    begun.close()


def test_of_a_long_inbox_only_the_beginning_is_glimpsed(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        plane.propose(decision(f"Statement number {number}."))
    monkeypatch.setattr(glimpse, "_BEGINNING", plane.layout.file("memory/candidates.md").stat().st_size // 2)
    found = glimpse.read(str(plane.layout.root)) or {}
    told = [row[3] for row in found["rows"]]
    assert told
    assert told == [f"Statement number {number}." for number in range(len(told))]
    assert len(told) < 6
    assert "waiting" not in found, "how many there are is not known from the beginning"


def test_after_an_op_those_that_met_what_was_changed_are_looked_at_first(three: Plane) -> None:
    three.inbox.approve([three.memory.read().inbox_ids[0]])
    rival = three.propose(decision("Use MySQL for the ledger."))
    desk = desk_of(three)
    desk.load()
    desk.look(desk.to_look_at())
    assert desk.shown is not None
    assert [met.id for met in desk.shown.reviewed[rival].conflicts] == ["DEC-001"]
    assert desk.shown.inbox[-1].id == rival
    three.memory.deprecate(["DEC-001"])
    desk.load()
    assert desk.to_look_at() == [rival]
    assert not desk.shown.reviewed[rival].checked
    new = three.propose(decision("Print labels on recycled paper."))
    desk.load()
    assert desk.to_look_at() == [rival, new]
    assert desk.to_look_at([new]) == [new, rival]
    bulk = clean_ones(desk.shown, [entry.id for entry in desk.shown.inbox])
    assert len(bulk.ids) == 2
    assert bulk.left_out == ((2, "not checked yet"),)
    desk.look([rival])
    assert not desk.shown.reviewed[rival].conflicts
    assert desk.shown.reviewed[rival].checked
    assert desk.to_look_at() == [new]


def test_what_met_something_that_is_gone_is_looked_at_anew(plane: Plane) -> None:
    first = plane.propose(decision("Use Postgres for the ledger."))
    second = plane.propose(decision("Use MySQL for the ledger."))
    desk = desk_of(plane)
    desk.load()
    desk.look([first, second])
    plane.inbox.approve([first])
    shown = desk.load()
    assert second not in shown.reviewed
    assert desk.is_urgent(second)
    desk.look([second])
    assert [met.id for met in shown.reviewed[second].conflicts] == ["DEC-001"]


def test_where_tools_have_the_new_memory_is_said(three: Plane) -> None:
    desk = desk_of(three)
    first, second, _ = (entry.id for entry in desk.load().inbox)
    three.tools.sync(found.named(["codex", "claude", "copilot"]), three.tools.pack(Ask(passing=False)))
    assert told(desk.do(Approve((first,)))) == "Approved DEC-001, in 3 files · u undoes"
    rules = three.layout.project / "AGENTS.md"
    rules.write_text(rules.read_text().replace("## Decisions", "## Decisions\n\n- Mine."))
    done = desk.do(Approve((second,)))
    assert told(done) == "Approved DEC-002 · old memory in AGENTS.md: sync · u undoes"


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
    desk = desk_of(repository.plane)
    done = desk.do(Propose(decision(UNLIKE[3])))
    assert told(done).startswith("Settled merged branches · Proposed CAND-")
    assert told(desk.do(Approve((done.ids[0],)))).startswith("Approved DEC-004")


def test_an_approval_says_what_it_is_against(plane: Plane) -> None:
    for seconds in (30, 10):
        plane.propose(
            Proposal(type="fact", statement=f"HTTP timeout is {seconds} seconds.", evidence=["a.py"])
        )
    first, second = (entry.id for entry in plane.memory.read().inbox)
    desk = Desk(plane, lambda *_: None)
    assert told(desk.do(Approve((first,)))) == "Approved FACT-001 · u undoes"
    assert told(desk.do(Approve((second,)))) == "Approved FACT-002, against FACT-001 · u undoes"
