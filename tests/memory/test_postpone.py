"""Candidates that are sent back, snoozed, and replaced."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.commands import Propose
from agentplane.errors import BadInput, Refused
from agentplane.memory import postpone
from agentplane.plane.origin import Origin
from agentplane.review.conflicts.relation import Relation
from tests.conftest import UNLIKE, decision, files_of
from tests.plane.branches import Repository, meet, two


SOON = datetime.now(UTC).date() + timedelta(days=60)


def by(plane: Plane, actor: str) -> Plane:
    return Plane(plane.store, Origin(actor, "mcp", actor))


@pytest.fixture
def waiting(plane: Plane) -> str:
    return by(plane, "codex").propose(decision(UNLIKE[0], evidence=["README.md"]))


def replacing(plane: Plane, old: str, statement: str, actor: str = "codex") -> str:
    command = Propose(decision(statement), relation=Relation("replaces", old), joins=True)
    return by(plane, actor).inbox.offer(command).reviewed.entry.id


def test_the_comment_and_the_day_are_two_lines_that_undo_removes(plane: Plane, waiting: str) -> None:
    before = files_of(plane)
    done = plane.inbox.send_back([waiting], "Name the\n file.")
    added = set(files_of(plane)["memory/candidates.md"].splitlines()) - set(
        before["memory/candidates.md"].splitlines()
    )
    until = done.snapshot and plane.memory.read().get(waiting).head.snoozed_until
    assert added == {b"sent_back: Name the file.", f"snoozed_until: {until}".encode()}
    (op,) = plane.history.ops(1)
    assert (op.verb, op.ids, op.why) == ("send-back", [waiting], "Name the file.")
    plane.history.undo()
    assert files_of(plane) == before
    plane.history.redo()
    assert plane.memory.read().get(waiting).head.sent_back == "Name the file."


def test_a_candidate_waits_for_its_replacement_and_then_asks_again(plane: Plane, waiting: str) -> None:
    plane.inbox.send_back([waiting], "Name the file.")
    head = plane.memory.read().get(waiting).head
    last = plane.today() + timedelta(days=postpone.SENT_BACK_DAYS - 1)
    assert postpone.of(head, last) == postpone.Postponed("sent back", last + timedelta(days=1))
    assert postpone.of(head, last + timedelta(days=1)) is None
    assert head.sent_back is not None


def test_a_snoozed_candidate_asks_again_on_its_day(plane: Plane, waiting: str) -> None:
    before = files_of(plane)
    plane.inbox.snooze([waiting], SOON)
    head = plane.memory.read().get(waiting).head
    assert postpone.of(head, SOON - timedelta(days=1)) == postpone.Postponed("snoozed", SOON)
    assert postpone.of(head, SOON) is None
    with pytest.raises(BadInput, match="Nothing to change"):
        plane.inbox.snooze([waiting], SOON)
    plane.inbox.snooze([waiting], None)
    assert files_of(plane) == before
    with pytest.raises(BadInput, match="isn't snoozed"):
        plane.inbox.snooze([waiting], None)


@pytest.mark.parametrize("until", [date(2026, 1, 1), datetime.now(UTC).date()])
def test_a_date_that_is_not_in_the_future_is_refused(plane: Plane, waiting: str, until: date) -> None:
    with pytest.raises(BadInput, match="isn't in the future"):
        plane.inbox.snooze([waiting], until)


def test_only_a_candidate_with_a_proposer_goes_back(plane: Plane, waiting: str) -> None:
    entry = plane.inbox.approve([waiting]).ids[-1]
    with pytest.raises(BadInput, match="is an approved entry, not a candidate"):
        plane.inbox.send_back([entry], "Name the file.")
    nobody = plane.propose(decision(UNLIKE[1]))
    path = plane.layout.memory / "candidates.md"
    path.write_text(path.read_text().replace("proposed_by: Ada\n", ""))
    plane.memory.adopt([nobody])
    with pytest.raises(BadInput, match="has no proposer"):
        plane.inbox.send_back([nobody], "Name the file.")
    with pytest.raises(BadInput, match="comment is empty"):
        plane.inbox.send_back([nobody], " \n")


def test_approving_drops_both_fields_and_undo_restores_them(plane: Plane, waiting: str) -> None:
    plane.inbox.send_back([waiting], "Name the file.")
    sent_back = files_of(plane)
    entry = plane.inbox.approve([waiting]).ids[-1]
    head = plane.memory.read().get(entry).head
    assert (head.sent_back, head.snoozed_until) == (None, None)
    plane.history.undo()
    assert files_of(plane) == sent_back


def test_a_replacement_takes_the_place_of_the_candidate_and_keeps_its_history(
    plane: Plane, waiting: str
) -> None:
    plane.inbox.send_back([waiting], "Name the file.")
    sent_back = files_of(plane)
    new = replacing(plane, waiting, UNLIKE[1])
    assert plane.memory.read().inbox_ids == [new]
    for id_ in (new, waiting):
        _, steps = plane.history.of(id_)
        assert [(step.verb, step.id) for step in steps] == [
            ("propose", waiting),
            ("send-back", waiting),
            ("replace", new),
        ]
        assert UNLIKE[0] in (steps[0].after or "")
        assert steps[1].why == "Name the file."
        assert UNLIKE[1] in (steps[2].after or "")
    plane.history.undo(plane.history.ops(1)[0].op)
    assert files_of(plane) == sent_back


def test_the_same_statement_with_better_evidence_is_a_replacement(plane: Plane, waiting: str) -> None:
    plane.inbox.send_back([waiting], "Cite the file.")
    new = replacing(plane, waiting, UNLIKE[0])
    assert new != waiting
    assert plane.memory.read().inbox_ids == [new]


def test_nothing_replaces_a_candidate_of_another_or_one_that_still_waits(plane: Plane, waiting: str) -> None:
    before = files_of(plane)
    with pytest.raises(BadInput, match="wasn't sent back"):
        replacing(plane, waiting, UNLIKE[1])
    assert files_of(plane) == before
    plane.inbox.send_back([waiting], "Name the file.")
    before = files_of(plane)
    with pytest.raises(BadInput, match="proposed by someone else"):
        replacing(plane, waiting, UNLIKE[1], actor="gemini-cli")
    assert files_of(plane) == before


def test_a_candidate_that_was_edited_by_hand_is_read_first(plane: Plane, waiting: str) -> None:
    path = plane.layout.memory / "candidates.md"
    path.write_text(path.read_text().replace("CSV", "XML"))
    for does in (
        lambda: plane.inbox.send_back([waiting], "Name the file."),
        lambda: plane.inbox.snooze([waiting], SOON),
    ):
        with pytest.raises(Refused, match="has a manual edit that nobody has accepted yet"):
            does()


# Branches


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Repository, Repository, str]:
    """Two clones with one candidate."""
    ada, bob = two(tmp_path)
    id_ = ada.plane.propose(decision("Buttons have round corners."))
    ada.commit()
    bob.git("fetch", "-q", str(ada.folder), "ada:shared")
    bob.merge("shared")
    return ada, bob, id_


def merged(ada: Repository, bob: Repository) -> None:
    meet(ada, bob)
    for one in (ada, bob):
        one.looks_well()
    assert ada.file("memory/candidates.md") == bob.file("memory/candidates.md")


def test_two_people_who_snooze_one_candidate_leave_one(pair: tuple[Repository, Repository, str]) -> None:
    ada, bob, id_ = pair
    ada.plane.inbox.snooze([id_], SOON)
    ada.commit()
    bob.plane.inbox.send_back([id_], "Name the screen.")
    bob.commit()
    merged(ada, bob)
    assert list(ada.waiting()) == [id_]
    assert ada.plane.memory.read().get(id_).head.sent_back == "Name the screen."


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_decision_counts_more_than_postponing(pair: tuple[Repository, Repository, str], verb: str) -> None:
    ada, bob, id_ = pair
    getattr(ada.plane.inbox, verb)([id_])
    ada.commit()
    bob.plane.inbox.snooze([id_], SOON)
    bob.commit()
    merged(ada, bob)
    assert ada.waiting() == {}
    assert ("Buttons have round corners." in ada.statements().values()) == (verb == "approve")


def test_a_text_that_was_changed_as_well_is_not_lost(pair: tuple[Repository, Repository, str]) -> None:
    ada, bob, id_ = pair
    ada.plane.inbox.reject([id_], "no")
    ada.commit()
    bob.plane.inbox.snooze([id_], SOON)
    bob.edit(id_, "round", "square")
    merged(ada, bob)
    assert list(ada.waiting().values()) == ["Buttons have square corners."]


def test_a_candidate_that_was_approved_here_and_replaced_there(
    pair: tuple[Repository, Repository, str],
) -> None:
    ada, bob, id_ = pair
    bob.plane.inbox.send_back([id_], "Name the screen.")
    command = Propose(
        decision("Buttons have round corners on all screens."), relation=Relation("replaces", id_)
    )
    Plane(bob.plane.store, Origin("Ada", "terminal", "bash")).inbox.offer(command)
    bob.commit()
    ada.plane.inbox.approve([id_])
    ada.commit()
    merged(ada, bob)
    assert "Buttons have round corners." in ada.statements().values()
    assert list(ada.waiting().values()) == ["Buttons have round corners on all screens."]
