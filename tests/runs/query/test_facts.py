"""What a run found out becomes a candidate, or a fact where the policy says so, with the run as its source."""

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.runs.events import CapsuleFile, RunEvent
from agentplane.runs.query import facts
from tests.runs.made import TOKEN, bad, shell


ID = "20260101T000000Z-abcdef"


def test_the_run_is_the_source_and_its_receipts_the_evidence() -> None:
    run = RunEvent(ID, receipts=["abc1234", {"url": "https://x.test"}, {"path": "a.py:3"}, 7, {"other": 1}])
    assert facts.of(run, "It rains.", ".agentplane") == {
        "statement": "It rains.",
        "source": ID,
        "evidence": ["abc1234", "https://x.test", "a.py:3"],
    }


def test_without_receipts_the_capsule_is_the_evidence() -> None:
    assert facts.of(RunEvent(ID), "x", ".agentplane")["evidence"] == []
    run = RunEvent(ID, capsule=[CapsuleFile("summary.md", "0" * 64, 1)])
    assert facts.of(run, {"statement": "x"}, ".mem")["evidence"] == [f".mem/runs/{ID}/summary.md"]


def test_what_a_fact_says_itself_stays() -> None:
    fact = {"statement": "x", "source": "me", "evidence": ["a"], "confidence": 0.5}
    assert facts.of(RunEvent(ID, receipts=["b"]), fact, ".agentplane") == fact
    with pytest.raises(BadInput, match="A fact must be text"):
        facts.of(RunEvent(ID), 7, ".agentplane")


def test_facts_of_a_run_wait_in_the_inbox(plane: Plane) -> None:
    logged = plane.runs.log(
        {
            "tool": "codex",
            "derived_facts": ["It rains.", {"statement": "It snows."}, 7, {}],
            "receipts": ["abc1234"],
        }
    )
    assert len(logged.promoted) == 2
    assert len(logged.refused) == 2
    waiting = {entry.statement: entry for entry in plane.memory.read().inbox}
    assert set(waiting) == {"It rains.", "It snows."}
    for entry in waiting.values():
        assert (entry.head.source, entry.head.evidence) == (logged.run_id, ("abc1234",))
        assert entry.head.proposed_by == "codex"
    assert bad(plane) == []


def test_under_the_policy_they_are_approved(plane: Plane) -> None:
    plane.layout.config.write_text("[policy]\nauto_approve_confidence = 0.9\n")
    sure = {"statement": "It rains.", "confidence": 0.95}
    unsure = {"statement": "Gulls eat chips.", "confidence": 0.5}
    logged = plane.runs.log({"derived_facts": [sure, unsure], "receipts": ["https://x.test/1"]})
    assert [one.approved for one in logged.promoted] == [True, False]
    assert [entry.statement for entry in plane.memory.read().shelf] == ["It rains."]


def test_what_a_left_run_found_out_is_not_lost(plane: Plane) -> None:
    from agentplane.runs.open import open_run
    from tests.runs.capsule.test_seal import opened

    run = opened(plane)
    open_run.note(plane.layout, run.run_id, {"derived_facts": ["It rains.", f"The token is {TOKEN}."]})
    with pytest.raises(BadInput, match="derived_facts"):
        open_run.note(plane.layout, run.run_id, {"derived_facts": "x"})
    with pytest.raises(BadInput, match="Open run not found"):
        open_run.note(plane.layout, ID, {"summary": "x"})
    plane.runs.seal_left()
    assert "It rains." in [entry.statement for entry in plane.memory.read().inbox]
    assert TOKEN.encode() not in b"".join(
        path.read_bytes() for path in plane.layout.root.rglob("*") if path.is_file()
    )
    with pytest.raises(BadInput, match="Open run not found"):
        open_run.note(plane.layout, run.run_id, {"summary": "x"})


def test_facts_of_a_command(plane: Plane) -> None:
    run = shell(plane, "true")
    assert run.derived_facts == []
    assert plane.memory.read().inbox == plane.memory.read().inbox[:0]
