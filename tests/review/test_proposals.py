"""Offers: a relation that whoever proposes claims, and what it is told."""

from pathlib import Path

import pytest

from agentplane.api import Listeners, Plane
from agentplane.errors import BadInput, Refused
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.relation import Relation
from tests.conftest import decision, offer, plane_in


@pytest.fixture
def shelf(plane: Plane) -> Plane:
    plane.inbox.approve([plane.propose(decision("Use PostgreSQL for the ledger."))])
    return plane


def test_links_survive_approval_and_every_later_edit(shelf: Plane) -> None:
    offered = offer(shelf, decision("Ledger rows are never deleted."), Relation("refines", "DEC-001"))
    (id_,) = shelf.inbox.approve([offered.reviewed.entry.id]).renamed.values()
    assert shelf.memory.read().get(id_).head.refines == ("DEC-001",)
    shelf.memory.deprecate([id_])
    assert shelf.memory.read().get(id_).head.refines == ("DEC-001",)


def test_the_same_relation_twice_changes_nothing(shelf: Plane) -> None:
    for _ in range(2):
        offered = offer(shelf, decision("Ledger rows are never deleted."), Relation("unrelated", "DEC-001"))
    assert offered.again
    assert [op.verb for op in shelf.history.ops(2)] == ["propose", "approve"]


def test_relations_add_up(shelf: Plane) -> None:
    shelf.inbox.approve([shelf.propose(decision("Buttons have round corners."))])
    for name in ("DEC-001", "DEC-002"):
        offered = offer(shelf, decision("Ledger rows are never deleted."), Relation("unrelated", name))
    assert offered.reviewed.entry.head.unrelated == ("DEC-001", "DEC-002")
    assert "unrelated to DEC-001, DEC-002" in offered.reviewed.because


def test_a_candidate_that_was_edited_by_hand_is_not_related(shelf: Plane) -> None:
    """Its text is not what was proposed: adding to it would approve the edit as a proposal."""
    offer(shelf, decision("Ledger rows are never deleted."))
    inbox = shelf.layout.memory / "candidates.md"
    inbox.write_text(inbox.read_text().replace("updated:", "confidence: 1.0\nupdated:"))
    with pytest.raises(Refused, match="manual edit"):
        offer(shelf, decision("Ledger rows are never deleted."), Relation("refines", "DEC-001"))


def test_other_words_or_another_kind_are_another_candidate(shelf: Plane) -> None:
    first = offer(shelf, decision("Ledger rows are never deleted."))
    same = offer(shelf, decision("Ledger  rows are never deleted. "))
    other = offer(shelf, Proposal(type="invariant", statement="Ledger rows are never deleted."))
    assert first.reviewed.entry.id == same.reviewed.entry.id != other.reviewed.entry.id


def test_what_stops_a_step_leaves_nothing(shelf: Plane) -> None:
    class Stopped(Exception):
        pass

    def step(doing: str) -> None:
        if doing == "writing":
            raise Stopped

    before = shelf.layout.log.read_bytes()
    shelf = shelf.with_listeners(Listeners(step=step))
    with pytest.raises(Stopped):
        offer(shelf, decision("Ledger rows are never deleted."))
    assert shelf.layout.log.read_bytes() == before
    assert plane_in(shelf.layout.project).memory.read().inbox == []


def test_a_superseded_entry_cannot_be_superseded_again(shelf: Plane) -> None:
    shelf.memory.deprecate(["DEC-001"])
    with pytest.raises(BadInput, match="already deprecated"):
        offer(shelf, decision("Use MySQL for the ledger."), Relation("supersedes", "DEC-001"))


@pytest.mark.parametrize("written", ["Decision: Use uv.", "decision:  Use uv.", "  Decision:\nUse uv."])
def test_a_label_that_its_author_wrote_too_stands_there_once(shelf: Plane, written: str) -> None:
    id_ = shelf.propose(decision(written, rationale="Rationale: it is faster"))
    assert shelf.memory.read().get(id_).body.strip() == "Decision: Use uv.\nRationale: it is faster"
    assert (
        offer(shelf, decision("Use uv.")).reviewed.entry.id
        == offer(shelf, decision(written)).reviewed.entry.id
    )
    shelf.inbox.reject(shelf.memory.read().inbox_ids)
    with pytest.raises(Refused, match="rejected before"):
        shelf.propose(decision(written))


@pytest.mark.parametrize("written", ["Fact: it rains.", "Use uv: it is fast.", "Decision:"])
def test_other_words_before_a_colon_stay(shelf: Plane, written: str) -> None:
    id_ = shelf.propose(decision(written))
    entry = shelf.memory.read().get(id_)
    assert entry.body.strip() == f"Decision: {written}"


@pytest.mark.parametrize("label", ["Team rule", "rule", "Règle"])
def test_a_kind_of_its_own_is_known_again_whatever_its_label(project: Path, label: str) -> None:
    plane = plane_in(project)
    row = f'[kinds.rule]\nprefix = "RULE"\nfile = "rules.md"\nlabel = "{label}"\n'
    plane.layout.config.write_text(row, encoding="utf-8")
    said = Proposal(type="rule", statement="Cache sessions in Redis.")
    id_ = offer(plane, said).reviewed.entry.id
    assert offer(plane, said).reviewed.entry.id == id_
    plane.inbox.reject([id_])
    with pytest.raises(Refused, match="rejected before"):
        plane.propose(said)
    plane.inbox.approve([plane.propose(Proposal(type="rule", statement="Dates are ISO 8601."))])
    with pytest.raises(Refused, match="repeats RULE-001 word for word"):
        plane.propose(Proposal(type="rule", statement="Dates are ISO 8601."))
