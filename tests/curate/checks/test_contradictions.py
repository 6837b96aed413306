"""Approved entries that contradict each other."""

from itertools import permutations

import pytest

from agentplane.api import Plane
from agentplane.curate.finding import Pair
from agentplane.curate.remedies import Deprecate, EditEntry, Supersede
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.resolve import Choice
from tests.conftest import approve_seen
from tests.curate.pairs.shelves import accept, findings, ids
from tests.curate.shelves import NOW, add, at, change, found, line_at


REDIS, MEMCACHED = "Sessions are stored in Redis.", "Sessions are kept in Memcached."
ONE_PAIR = [("contradiction", ("DEC-002", "DEC-001"))]

CONTRADICTIONS = (
    (REDIS, MEMCACHED),
    ("Retry failed webhooks five times.", "Failed webhooks are retried three times."),
    ("Logs are kept for 30 days.", "Log retention is 90 days."),
    ("Email delivery is synchronous.", "Email delivery is asynchronous."),
    ("Never force-push to main.", "Force pushes to main are allowed."),
    ("Use tabs for indentation.", "Use spaces for indentation."),
    ("Records are kept for ten years.", "We keep records for thirty years."),
)
CAN_BOTH_BE_RIGHT = (
    ("The orders service stores sessions in Redis.", "The billing service stores sessions in Memcached."),
    ("The parcel service stores merchants in Redis.", "The merchant service stores parcels in Cassandra."),
    ("The report-1 service stores bills in Redis.", "The report-2 service stores bills in Cassandra."),
    ("Problem 3: do nothing for now.", "Problem 5: do nothing for now."),
    ("2023-08-11: Proposed, first draft of the ADR.", "2024-01-05: Proposed, first draft of the ADR."),
    ("The fifteen decisions below are the contract.", "The eight decisions below are the contract."),
    ("Adds a dependency between two tasks.", "Removes a dependency between two tasks."),
    ("Sync attribute on async handler.", "Async attribute on sync handler."),
    ("Less complexity to manage, compared to Kubernetes.", "Less complexity to manage, compared to ECS."),
    ("Log Format", "Log Levels"),
    ("## 4. Defining tasks", "## 5. Implementing tasks"),
    ("tail -n 100 logs/server.log", "tail -n 500 logs/server.log"),
    ("calculate(lines, 5.0); // 5% fee rate", "calculate(lines, 0.05); // 0.05% fee rate"),
    (
        "Run unit tests (Postgres): `just test-unit-postgres`.",
        "Run unit tests (SQLite): `just test-unit-sqlite`.",
    ),
    ("Last updated: October 9, 2025 at 18:30.", "Last updated: October 9, 2025 at 17:45."),
    ("Use GOV.UK Notify", "Use GOV.UK Signon"),
    ("Upgrade to Cassandra driver 4", "Upgrade to netty 4"),
)


@pytest.mark.parametrize(("one", "other"), CONTRADICTIONS)
def test_a_contradiction_is_found_in_both_orders(plane: Plane, one: str, other: str) -> None:
    accept(plane, one, other)
    assert ids(plane) == ONE_PAIR
    accept(plane, other, one)
    assert ids(plane) == ONE_PAIR


@pytest.mark.parametrize(("one", "other"), CAN_BOTH_BE_RIGHT)
def test_statements_that_can_both_be_right(plane: Plane, one: str, other: str) -> None:
    accept(plane, one, other)
    assert ids(plane) == []
    accept(plane, other, one)
    assert ids(plane) == []


def test_the_proof_has_both_statements_and_names_both_sides(plane: Plane) -> None:
    accept(plane, REDIS, MEMCACHED)
    (one,) = findings(plane)
    assert isinstance(one.proof, Pair)
    assert (one.proof.one, one.proof.other) == ("DEC-002", "DEC-001")
    assert (one.proof.one_text, one.proof.other_text) == (MEMCACHED, REDIS)
    assert "memcached in DEC-002, but redis in DEC-001" in one.proof.reason
    assert one.what == "DEC-002 contradicts DEC-001"
    assert line_at(plane, one.where) == "---"
    assert one.severity == "error"


def test_the_newer_entry_supersedes_the_older_one_first(plane: Plane) -> None:
    accept(plane, REDIS, MEMCACHED)
    (one,) = findings(plane)
    assert one.remedies == (
        Supersede("DEC-001", "DEC-002"),
        Supersede("DEC-002", "DEC-001"),
        Deprecate(("DEC-001",)),
        Deprecate(("DEC-002",)),
        EditEntry("DEC-002"),
        EditEntry("DEC-001"),
    )


def test_an_entry_that_says_that_it_replaces_the_other(plane: Plane) -> None:
    accept(plane, "Sessions now live in Memcached instead of Redis.", REDIS)
    (one,) = findings(plane)
    assert one.ids == ("DEC-001", "DEC-002")
    assert one.what == "DEC-001 claims to replace a choice in DEC-002"
    assert one.remedies[0] == Supersede("DEC-002", "DEC-001")


def test_entries_of_two_kinds(plane: Plane) -> None:
    accept(plane, REDIS)
    accept(plane, MEMCACHED, kind="fact")
    ((kind, pair),) = ids(plane)
    assert (kind, set(pair)) == ("contradiction", {"DEC-001", "FACT-001"})


def test_two_assumptions_are_a_kind_of_their_own(plane: Plane) -> None:
    accept(
        plane, "Webhooks arrive within 5 seconds.", "Webhooks arrive within 50 seconds.", kind="assumption"
    )
    assert ids(plane) == [("assumptions-contradict", ("ASM-002", "ASM-001"))]


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("scope: [services/web/**]", "scope: [services/admin/**]", 0),
        ("scope: [services/**]", "scope: [services/admin/**]", 1),
        ("scope: [services/web/**]", "tags: [cache]", 1),
        ("unrelated: [DEC-002]", "tags: [cache]", 0),
        ("tags: [cache]", "unrelated: [DEC-001]", 0),
        ("refines: [DEC-002]", "tags: [cache]", 0),
        ("tags: [cache]", "refines: [DEC-001]", 0),
        ("tags: [cache]", "supersedes: [DEC-001]", 0),
        ("superseded_by: [DEC-002]", "tags: [cache]", 0),
        ("status: superseded", "tags: [cache]", 0),
        ("tags: [cache]", "status: deprecated", 0),
        ("expires_at: 2031-05-09", "tags: [cache]", 0),
        ("expires_at: 2031-05-10", "tags: [cache]", 1),
        ("unrelated: [DEC-009]", "refines: [DEC-009]", 1),
    ],
)
def test_scopes_links_and_statuses(plane: Plane, one: str, other: str, count: int) -> None:
    accept(plane, f"{REDIS} | {one}", f"{MEMCACHED} | {other}")
    assert len(ids(plane, "contradiction")) == count


def test_a_pair_that_a_person_kept_is_no_finding(plane: Plane) -> None:
    add(plane, REDIS)
    candidate = plane.propose(Proposal(type="decision", statement=MEMCACHED))
    approve_seen(plane, candidate, Choice(keep_both=True, why="Admin tools have their own cache."))
    assert ids(plane) == []


def test_an_undone_decision_keeps_nothing(plane: Plane) -> None:
    test_a_pair_that_a_person_kept_is_no_finding(plane)
    plane.history.undo()
    accept(plane, REDIS, MEMCACHED)
    assert ids(plane) == ONE_PAIR


@pytest.mark.parametrize(
    ("id_", "old", "new", "count"),
    [
        ("DEC-001", "Redis.", "Redis.\nRationale: It was there.", 0),
        ("DEC-001", "Sessions are", "All sessions are", 1),
        ("DEC-002", "kept in Memcached", "stored in DynamoDB", 1),
    ],
)
def test_a_decision_to_keep_both_covers_the_texts_of_that_moment(
    plane: Plane, id_: str, old: str, new: str, count: int
) -> None:
    test_a_pair_that_a_person_kept_is_no_finding(plane)
    change(plane, id_, old, new)
    assert len(ids(plane, "contradiction")) == count


def test_a_kept_pair_stays_kept_after_a_change_of_the_header(plane: Plane) -> None:
    test_a_pair_that_a_person_kept_is_no_finding(plane)
    plane.memory.pin(["DEC-001"])
    plane.memory.pin(["DEC-002"])
    assert ids(plane) == []


def test_a_reason_for_another_entry_keeps_nothing(plane: Plane) -> None:
    add(plane, REDIS)
    candidate = plane.propose(Proposal(type="decision", statement="Buttons have round corners."))
    approve_seen(plane, candidate, Choice(why="Agreed with design."))
    change(plane, "DEC-002", "Buttons have round corners.", MEMCACHED)
    assert ids(plane) == ONE_PAIR


def test_a_dismissed_contradiction_returns_when_a_statement_changes(plane: Plane) -> None:
    accept(plane, REDIS, MEMCACHED)
    (one,) = findings(plane)
    at(plane, NOW).curator.dismiss([one.key], "Both caches exist for now.")
    assert ids(plane) == []
    plane.memory.pin(["DEC-001"])
    assert ids(plane) == []
    change(plane, "DEC-001", "Sessions are", "All sessions are")
    assert ids(plane) == ONE_PAIR


def test_only_findings_about_the_named_entries(plane: Plane) -> None:
    accept(plane, REDIS, MEMCACHED, "Logs are kept for 30 days.", "Log retention is 90 days.")
    made = at(plane, NOW).curator.collect(["DEC-3"], only=["contradiction"])
    assert [one.ids for one in made.findings] == [("DEC-004", "DEC-003")]


def test_three_entries_give_every_contradicting_pair_once(plane: Plane) -> None:
    for order in permutations(("in Redis", "in MongoDB", "in DynamoDB")):
        accept(plane, *(f"Sessions are stored {one}." for one in order))
        pairs = [one.ids for one in found(plane, "contradiction")]
        assert sorted(pairs) == [("DEC-002", "DEC-001"), ("DEC-003", "DEC-001"), ("DEC-003", "DEC-002")]


def test_a_manual_edit_counts_only_after_it_was_accepted(plane: Plane) -> None:
    accept(plane, REDIS, "Sessions expire after an hour.")
    file = plane.layout.memory / "decisions.md"
    file.write_text(file.read_text().replace("Sessions expire after an hour.", MEMCACHED))
    assert ids(plane) == []
    plane.memory.adopt()
    assert ids(plane) == ONE_PAIR
