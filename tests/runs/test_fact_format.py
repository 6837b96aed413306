"""`promote_fact` in the form of other programs: inserts, and proposes changes of what has the id already."""

import json
from typing import Any

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput, Refused
from tests.runs.made import FACT, RUN, bad


@pytest.fixture
def logged(plane: Plane) -> Plane:
    (plane.layout.project / "docs/automation").mkdir(parents=True)
    (plane.layout.project / "docs/automation/memory-layer.md").write_text("v0\n")
    plane.write_log({"run_id": RUN, "derived_facts": [FACT["id"]]})
    return plane


def under_policy(plane: Plane) -> None:
    plane.layout.config.write_text("[policy]\nauto_approve_confidence = 0.8\n")


def head(plane: Plane, id_: str = "FACT-001") -> dict[str, Any]:
    entry = plane.memory.read().get(id_)
    told = entry.head
    return {
        "id": told.external_id,
        "layer": told.layer,
        "confidence": told.confidence,
        "statement": entry.statement,
        "source_run": told.source,
        "evidence": list(told.evidence),
        "expires_at": told.expires_at,
    }


def test_a_fact_with_its_id_is_inserted(logged: Plane) -> None:
    promoted = logged.promote_fact(FACT)
    assert not promoted.approved
    logged.inbox.approve([promoted.id])
    assert head(logged) == FACT
    assert logged.memory.read().get("memory-schema-defined").id == "FACT-001"
    assert bad(logged) == []


def test_the_run_that_named_it_is_its_source(logged: Plane) -> None:
    id_ = logged.promote_fact({**FACT, "source_run": None}).id
    assert logged.memory.read().get(id_).head.source == RUN


def test_the_same_again_changes_nothing(logged: Plane) -> None:
    first = logged.promote_fact(FACT)
    before = logged.layout.log.read_bytes()
    assert logged.promote_fact(FACT) == first
    logged.inbox.approve([first.id])
    assert logged.promote_fact({**FACT, "source_run": "20250927T000000Z-abcdef"}).id == "FACT-001"
    assert logged.layout.log.read_bytes().count(b'"kind":"op"') == before.count(b'"kind":"op"') + 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"confidence": 0.95}, "confidence 0.9 → 0.95"),
        ({"expires_at": "2099-01-01"}, "expires_at none → 2099-01-01"),
        (
            {"statement": "Memory schema v1 is in docs/automation/memory-layer.md"},
            "text Fact: Memory schema v0",
        ),
    ],
)
def test_a_change_waits_and_changes_the_entry(logged: Plane, change: dict[str, Any], said: str) -> None:
    logged.inbox.approve([logged.promote_fact(FACT).id])
    promoted = logged.promote_fact({"id": FACT["id"], **change})
    assert not promoted.approved
    assert head(logged) == FACT
    (reviewed,) = logged.inbox.review()
    assert reviewed.conflicts == ()
    assert [flag for flag in reviewed.flags if flag.startswith("changes FACT-001: ")] == list(reviewed.flags)
    assert said in reviewed.flags[0]
    done = logged.inbox.approve([promoted.id])
    assert (done.verb, done.renamed) == ("merge", {promoted.id: "FACT-001"})
    assert head(logged) == {**FACT, **change}
    assert [entry.id for entry in logged.memory.read().entries.values()] == ["FACT-001"]
    logged.history.undo()
    assert head(logged) == FACT
    assert bad(logged) == []


def test_an_expiry_goes_again(logged: Plane) -> None:
    logged.inbox.approve([logged.promote_fact({**FACT, "expires_at": "2099-01-01"}).id])
    logged.inbox.approve([logged.promote_fact({**FACT, "statement": "Another one."}).id])
    assert head(logged) == {**FACT, "statement": "Another one."}


def test_the_policy_changes_only_what_it_would_approve(logged: Plane) -> None:
    under_policy(logged)
    assert logged.promote_fact(FACT).id == "FACT-001"
    assert logged.promote_fact({**FACT, "confidence": 0.7}).approved is False
    assert head(logged) == FACT
    changed = {
        **FACT,
        "confidence": 0.95,
        "statement": "Memory schema v1 is in docs/automation/memory-layer.md",
    }
    assert logged.promote_fact(changed).approved
    assert head(logged) == changed
    assert (
        logged.promote_fact({**FACT, "confidence": 0.99, "source_run": "20250927T000000Z-abcdef"}).approved
        is False
    )
    assert head(logged) == changed


def test_bytes_that_nobody_changed_stay(logged: Plane) -> None:
    logged.inbox.approve([logged.promote_fact(FACT).id])
    path = logged.layout.memory / "facts.md"
    text = (
        path.read_bytes()
        .replace(b"type: fact\n", b"type: fact  # a comment\nown_key: 7\n")
        .replace(b"\n", b"\r\n")
    )
    path.write_bytes(text)
    logged.memory.adopt()
    logged.inbox.approve(
        [logged.promote_fact({"id": FACT["id"], "confidence": 0.5, "statement": "Other."}).id]
    )
    now = path.read_bytes()
    assert b"type: fact  # a comment\r\nown_key: 7\r\n" in now
    assert b"confidence: 0.5\r\n" in now
    assert b"Fact: Other." in now
    assert b"\n" not in now.replace(b"\r\n", b"")


def test_a_row_of_state_json_can_be_handed_back(logged: Plane) -> None:
    told = {**FACT, "id": "FACT-001", "kind": "fact", "status": "accepted", "agentplane": {"id": "FACT-001"}}
    with pytest.raises(BadInput, match="FACT-001"):
        logged.promote_fact(told)
    logged.inbox.approve([logged.promote_fact("The port is 8080.").id])
    logged.inbox.approve([logged.promote_fact({**told, "statement": "The port is 9090."}).id])
    assert head(logged) == {**FACT, "id": None, "statement": "The port is 9090."}


def test_a_change_is_approved_alone_and_not_over_a_hand_edit(logged: Plane) -> None:
    logged.inbox.approve([logged.promote_fact(FACT).id])
    one = logged.promote_fact({**FACT, "confidence": 0.5}).id
    other = logged.promote_fact("The port is 8080.").id
    with pytest.raises(Refused, match="approved together"):
        logged.inbox.approve([one, other])
    assert {entry.id for entry in logged.memory.read().inbox} == {one, other}
    path = logged.layout.memory / "facts.md"
    path.write_text(path.read_text().replace("v0", "v9"))
    with pytest.raises(Refused, match="manual edit"):
        logged.inbox.approve([one])


def test_an_id_is_of_one_entry_whatever_its_kind(logged: Plane) -> None:
    logged.inbox.approve([logged.promote_fact(FACT).id])
    with pytest.raises(BadInput, match="is the ID of the fact FACT-001, not of a decision"):
        logged.promote_fact({**FACT, "kind": "decision", "statement": "Use pnpm for packages."})
    other = logged.promote_fact(
        {**FACT, "id": "packages", "kind": "decision", "statement": "Use pnpm for packages."}
    )
    with pytest.raises(BadInput, match="is the ID of the decision CAND-"):
        logged.promote_fact({**FACT, "id": "packages", "kind": "fact"})
    logged.inbox.approve([other.id])
    # What names no kind means the entry that has the id.
    for name, confidence in (("packages", 0.5), ("DEC-001", 0.4), (FACT["id"], 0.3)):
        logged.inbox.approve([logged.promote_fact({"id": name, "confidence": confidence}).id])
    told = {entry.id: entry.head.confidence for entry in logged.memory.read().shelf}
    assert told == {"DEC-001": 0.4, "FACT-001": 0.3}
    rows = json.loads((logged.layout.memory / "state.json").read_bytes())["facts"]
    assert [(row["id"], row["kind"]) for row in rows] == [("packages", "decision"), (FACT["id"], "fact")]


def test_a_change_finds_its_entry_where_branches_brought_one_of_each_kind(logged: Plane) -> None:
    logged.inbox.approve([logged.promote_fact(FACT).id])
    path = logged.layout.memory / "decisions.md"
    path.write_text(
        f"{path.read_text()}\n---\nid: DEC-001\ntype: decision\nstatus: accepted\nexternal_id: {FACT['id']}\n---\n"
        "Decision: Use pnpm for packages.\n"
    )
    logged.memory.adopt()
    logged.inbox.approve([logged.promote_fact({**FACT, "kind": "fact", "confidence": 0.5}).id])
    assert [entry.id for entry in logged.memory.read().shelf] == ["DEC-001", "FACT-001"]
    assert head(logged)["confidence"] == 0.5


def test_a_time_of_expiry_counts_as_its_day(logged: Plane) -> None:
    logged.inbox.approve([logged.promote_fact({**FACT, "expires_at": "2098-12-31T23:00:00-05:00"}).id])
    assert head(logged)["expires_at"] == "2099-01-01"
    with pytest.raises(BadInput, match="Invalid date"):
        logged.promote_fact({**FACT, "expires_at": "2098-12-31T23:00:00"})


@pytest.mark.parametrize(
    "given", [None, 7, [FACT], {**FACT, "id": []}, {**FACT, "id": 7}, {**FACT, "kind": []}, {1: 2}]
)
def test_what_is_no_fact_is_refused(logged: Plane, given: Any) -> None:
    with pytest.raises(BadInput):
        logged.promote_fact(given)


@pytest.mark.parametrize("id_", ["two words", "", "-x", "é", "a\nb", "x" * 200])
def test_an_id_that_is_none_is_refused(logged: Plane, id_: str) -> None:
    with pytest.raises(BadInput, match="Invalid ID"):
        logged.promote_fact({**FACT, "id": id_})


def test_two_entries_of_one_id_are_named(logged: Plane) -> None:
    ids = [logged.promote_fact(FACT).id, logged.promote_fact({**FACT, "statement": "Another one."}).id]
    for id_ in ids:
        core = logged.memory.read().get(id_)
        assert core.head.external_id == FACT["id"]
    path = logged.layout.memory / "facts.md"
    logged.inbox.approve(ids[:1])
    logged.inbox.reject(ids[1:])
    text = path.read_text()
    path.write_text(text + text[text.index("---") :].replace("FACT-001", "FACT-002"))
    logged.memory.adopt()
    assert [finding.where for finding in bad(logged) if "same external id" in finding.what]
