"""Undo and redo: back and forth to the byte, never over somebody else's change."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentplane.api import Plane
from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.review.conflicts.resolve import Choice
from tests.conftest import decision, files_of, plane_in


def test_undo_and_redo_walk_the_whole_way(plane: Plane) -> None:
    states = [files_of(plane)]
    first = plane.propose(decision("One.", rationale="Because.\n\n- a\n- b"))
    states.append(files_of(plane))
    second = plane.propose(decision("Two."))
    states.append(files_of(plane))
    plane.inbox.approve([first])
    states.append(files_of(plane))
    plane.inbox.reject([second], "no")
    states.append(files_of(plane))
    plane.memory.deprecate(["DEC-001"])
    states.append(files_of(plane))
    for state in reversed(states[:-1]):
        plane.history.undo()
        assert files_of(plane) == state
    with pytest.raises(BadInput, match="Nothing to undo"):
        plane.history.undo()
    for state in states[1:]:
        plane.history.redo()
        assert files_of(plane) == state
    with pytest.raises(BadInput, match="Nothing to redo"):
        plane.history.redo()


def test_a_new_change_ends_the_way_forward(plane: Plane) -> None:
    plane.propose(decision("One."))
    plane.history.undo()
    plane.propose(decision("Two."))
    with pytest.raises(BadInput, match="Nothing to redo"):
        plane.history.redo()


def test_undo_takes_back_only_my_own_ops(project: Path) -> None:
    ada, codex = plane_in(project), plane_in(project, "codex", "mcp")
    mine = ada.propose(decision("Mine."))
    theirs = codex.propose(decision("Theirs."))
    ada.history.undo()
    left = [entry.id for entry in ada.memory.read().inbox]
    assert left == [theirs]
    assert mine not in left


def test_what_somebody_did_since_stands_in_the_way(project: Path) -> None:
    ada, ben = plane_in(project), plane_in(project, "Ben")
    ada.inbox.approve([ada.propose(decision("One."))])
    memory = ben.memory.read()
    entry = memory.get("DEC-001")
    core = memory.snapshot.core(entry.file, entry.id)
    assert core is not None
    ben.memory.edit("DEC-001", core.replace(b"One.", b"One, by Ben."), entry.digest)
    before = files_of(ada)
    with pytest.raises(Refused, match="edit by Ben") as caught:
        ada.history.undo()
    assert "agentplane undo" in str(caught.value)
    assert files_of(ada) == before
    ben.history.undo()
    ada.history.undo()
    assert [entry.head.status for entry in ada.memory.read().inbox] == ["proposed"]


def test_a_hand_edit_stands_in_the_way(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("One."))])
    path = plane.layout.memory / "decisions.md"
    path.write_bytes(path.read_bytes().replace(b"One.", b"One by hand."))
    with pytest.raises(Refused, match="later edited manually"):
        plane.history.undo()
    assert b"One by hand." in path.read_bytes()


def test_an_op_can_be_named(project: Path) -> None:
    ada, ben = plane_in(project), plane_in(project, "Ben")
    ada.propose(decision("One."))
    op = ada.history.ops(1)[0].op
    ada.propose(decision("Two."))
    ben.history.undo(op)
    assert [entry.statement for entry in ada.memory.read().inbox] == ["Two."]
    with pytest.raises(BadInput, match="already undone"):
        ben.history.undo(op)
    with pytest.raises(BadInput, match="Change not found"):
        ben.history.undo("nonsense")


def test_ids_are_not_used_again_after_an_undo(plane: Plane) -> None:
    first = plane.propose(decision("One."))
    plane.inbox.approve([first])
    plane.history.undo()
    done = plane.inbox.approve([first])
    assert done.ids == [first, "DEC-002"]


def test_bulk_approval_is_one_step(plane: Plane) -> None:
    ids = [plane.propose(decision(f"Number {number}.")) for number in range(30)]
    before = files_of(plane)
    plane.inbox.approve(ids, Choice(keep_both=True, why="they are told apart by their numbers"))
    assert len(plane.memory.read().shelf) == 30
    plane.history.undo()
    assert files_of(plane) == before


ACTIONS = (
    "propose",
    "approve",
    "reject",
    "deprecate",
    "pin",
    "unpin",
    "edit",
    "undo",
    "redo",
    "hand",
    "adopt",
    "revert",
    "prose",
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(actions=st.lists(st.sampled_from(ACTIONS), min_size=4, max_size=16), crlf=st.booleans())
def test_any_way_back_leads_to_the_bytes_it_came_from(
    tmp_path_factory: pytest.TempPathFactory, actions: list[str], crlf: bool
) -> None:
    """Whatever was done: undoing an op right after it gives the bytes from before it, and nobody's prose is touched."""
    folder = tmp_path_factory.mktemp("walk")
    plane = plane_in(folder)
    path = plane.layout.memory / "decisions.md"
    if crlf:
        for file in plane.layout.memory.glob("*.md"):
            file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    for number, action in enumerate(actions):
        before = files_of(plane)
        try:
            act(plane, action, number)
        except AgentplaneError:
            assert files_of(plane) == before
            continue
        if action in ("hand", "prose", "undo", "redo"):
            continue
        plane.history.undo()
        assert files_of(plane) == before
        plane.history.redo()
    assert path.read_bytes().count(b"Prose.") == actions.count("prose")
    from agentplane.health import collect

    assert [finding for finding in collect(plane.store) if finding.severity == "error"] == []


def act(plane: Plane, action: str, number: int) -> None:
    memory = plane.memory.read()
    path = plane.layout.memory / "decisions.md"
    match action:
        case "propose":
            plane.propose(decision(f"Number {number}.", tags=["x"]))
        case "approve":
            plane.inbox.approve(memory.inbox_ids[:2], Choice(keep_both=True, why="numbers"))
        case "reject":
            plane.inbox.reject(memory.inbox_ids[-1:])
        case "deprecate":
            plane.memory.deprecate([entry.id for entry in memory.shelf][:1])
        case "pin":
            plane.memory.pin([entry.id for entry in memory.shelf][-1:])
        case "unpin":
            plane.memory.unpin([entry.id for entry in memory.shelf if entry.head.pinned])
        case "edit":
            entry = memory.shelf[0] if memory.shelf else memory.get("DEC-404")
            core = memory.snapshot.core(entry.file, entry.id)
            assert core is not None
            plane.memory.edit(entry.id, core + f"\n\nEdited {number}.".encode(), entry.digest)
        case "undo":
            plane.history.undo()
        case "redo":
            plane.history.redo()
        case "hand":
            path.write_bytes(path.read_bytes().replace(b"Number", b"By hand, number", 1))
        case "prose":
            path.write_bytes(b"Prose.\n" + path.read_bytes())
        case "adopt":
            plane.memory.adopt()
        case "revert":
            plane.memory.revert()


def test_redo_brings_an_op_back_into_force(project: Path) -> None:
    plane = plane_in(project)
    plane.propose(decision("One."))
    op = plane.history.ops(1)[0].op
    plane.history.undo()
    assert {view.op: view.undone for view in plane.history.ops()}[op]
    plane.history.redo()
    assert not {view.op: view.undone for view in plane.history.ops()}[op]
    plane.history.undo(op)
    assert plane.memory.read().inbox == []
    with pytest.raises(BadInput, match="already undone"):
        plane.history.undo(op)
    plane.history.redo()
    assert len(plane.memory.read().inbox) == 1


def test_undo_behind_a_prune_names_the_op_before(plane: Plane) -> None:
    plane.propose(decision("Keep me."))
    earlier = plane.history.ops(1)[0].op
    plane.inbox.reject([plane.propose(decision("hunter2-hunter2"))])
    plane.history.prune("hunter2-hunter2")
    with pytest.raises(Refused, match="permanently removed") as caught:
        plane.history.undo()
    assert "agentplane undo " in (caught.value.todo or "")
    plane.history.undo(earlier)
    assert plane.memory.read().inbox == []
