"""Approved entries that say the same."""

import pytest

from agentplane.api import Plane
from agentplane.curate.finding import Lines, Pair
from agentplane.curate.remedies import Deprecate, EditEntry, MergeEntries
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.resolve import Choice
from tests.conftest import approve_seen
from tests.curate.pairs.shelves import accept, findings, ids
from tests.curate.shelves import add


ONE_PAIR = [("duplicate", ("DEC-001", "DEC-002"))]

SAME = (
    ("Logs go to standard error.", "Logs go to standard error."),
    ("Logs go to standard error.", "logs go to standard error"),
    ("Never call the payment provider in tests.", "Tests must not call the payment provider."),
    ("`OrderService` owns the order status.", "The order status is owned by `OrderService`."),
    ("The parser rejects files above 5 MB.", "Files larger than 5 MB are refused by the parser."),
)
DIFFERENT = (
    ("Context", "Context"),
    ("[source, java]", "[source, java]"),
    ("## Coding rules", "## Coding rules"),
    ("## Coding rules", "## Coding Rules"),
    ("`update-subtask` is fixed in the next release.", "`update-task` is fixed in the next release."),
    ("Show the next task with `task-master next`.", "task-master next   # Show the next task"),
    ("Permitted Deletion", "Restricted Deletion"),
    ("Distributed Event bus", "Event bus"),
    ("Services log in JSON, except the mailer.", "All services log in JSON without exception."),
    ("Only doctors may order a test.", "Nurses and doctors may order a test."),
    ("The queue sends events to the ledger.", "The ledger sends events to the queue."),
    ("Retry failed webhooks five times.", "Retry failed webhooks."),
    ("The dump goes to `s3://backup/a`.", "The dump goes to `s3://backup/b`."),
    ("This ADR specifies how services format a log line.", "This ADR specifies how services use log levels."),
    ("Use Auth0 as an Identity Provider for Authentication", "Use an Identity Provider for authentication"),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_duplicate_is_found_in_both_orders(plane: Plane, one: str, other: str) -> None:
    accept(plane, one, other)
    assert ids(plane) == ONE_PAIR
    accept(plane, other, one)
    assert ids(plane) == ONE_PAIR


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_statements(plane: Plane, one: str, other: str) -> None:
    accept(plane, one, other)
    assert ids(plane) == []
    accept(plane, other, one)
    assert ids(plane) == []


def test_the_proof_and_the_remedies_of_a_pair(plane: Plane) -> None:
    accept(plane, *SAME[2])
    (one,) = findings(plane)
    assert isinstance(one.proof, Pair)
    assert (one.proof.one_text, one.proof.other_text) == SAME[2]
    assert one.proof.reason.startswith("says the same of")
    assert one.what == "DEC-001 and DEC-002 say the same thing"
    assert one.remedies == (
        MergeEntries(("DEC-001", "DEC-002")),
        Deprecate(("DEC-002",)),
        EditEntry("DEC-001"),
    )


def test_a_group_is_one_finding(plane: Plane) -> None:
    accept(
        plane,
        SAME[2][0],
        "Buttons have round corners.",
        SAME[2][1],
        SAME[2][0],
    )
    (one,) = findings(plane)
    assert one.ids == ("DEC-001", "DEC-003", "DEC-004")
    assert isinstance(one.proof, Lines)
    assert one.proof.text.splitlines() == [
        f"DEC-001: {SAME[2][0]}",
        f"DEC-003: {SAME[2][1]}",
        f"DEC-004: {SAME[2][0]}",
    ]
    assert one.remedies[0] == MergeEntries(one.ids)


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("scope: [web/**]", "scope: [admin/**]", 0),
        ("scope: [web/**]", "scope: [web/login/**]", 1),
        ("scope: [web/**]", "tags: [docs]", 1),
        ("unrelated: [DEC-002]", "tags: [docs]", 0),
        ("tags: [docs]", "refines: [DEC-001]", 0),
        ("tags: [docs]", "supersedes: [DEC-001]", 0),
        ("status: superseded", "tags: [docs]", 0),
        ("tags: [docs]", "status: deprecated", 0),
    ],
)
@pytest.mark.parametrize("texts", [SAME[0], SAME[2]])
def test_scopes_links_and_statuses(
    plane: Plane, texts: tuple[str, str], one: str, other: str, count: int
) -> None:
    accept(plane, f"{texts[0]} | {one}", f"{texts[1]} | {other}")
    assert len(ids(plane)) == count


def test_a_pair_that_a_person_kept_is_no_finding(plane: Plane) -> None:
    add(plane, SAME[2][0])
    candidate = plane.propose(Proposal(type="decision", statement=SAME[2][1]))
    approve_seen(plane, candidate, Choice(keep_both=True, why="The second one is for another team."))
    assert ids(plane) == []


def test_a_third_entry_does_not_join_a_pair_that_a_person_kept(plane: Plane) -> None:
    test_a_pair_that_a_person_kept_is_no_finding(plane)
    file = plane.layout.memory / "decisions.md"
    more = f"\n---\nid: DEC-003\ntype: decision\nstatus: accepted\n---\nDecision: {SAME[2][0]}\n"
    file.write_text(file.read_text() + more)
    plane.memory.adopt()
    (one,) = findings(plane)
    assert len(one.ids) == 2
    assert "DEC-003" in one.ids


def test_entries_of_two_kinds_are_not_merged(plane: Plane) -> None:
    accept(plane, SAME[0][0])
    accept(plane, SAME[0][0], kind="fact")
    assert ids(plane) == []


def test_documents_with_one_heading(plane: Plane) -> None:
    queue = " ".join(
        f"The queue keeps message {number} until a consumer confirms it." for number in range(10)
    )
    colors = " ".join(f"Buttons of theme {number} have a border and rounded corners." for number in range(10))
    accept(plane, f"Next release plan || Rationale: {queue}", f"Next release plan || Rationale: {colors}")
    assert ids(plane) == []
    accept(
        plane, f"Next release plan || Rationale: {queue}", f"Next release plan || Rationale: {queue} Done."
    )
    assert ids(plane) == ONE_PAIR


def test_headings_of_short_texts(plane: Plane) -> None:
    accept(plane, "Log format || Logs are JSON lines.", "Log format || Logs are plain text for people.")
    assert ids(plane) == []
    accept(plane, "Log format || Logs are JSON lines.", "Log format || Logs are JSON lines.")
    assert ids(plane) == ONE_PAIR


def test_different_reasons_for_one_statement(plane: Plane) -> None:
    accept(
        plane,
        "Logs go to standard error. || Rationale: Containers collect it.",
        "Logs go to standard error. || Rationale: Standard output is for data.",
    )
    assert ids(plane) == ONE_PAIR


def test_very_many_copies_are_one_finding(plane: Plane) -> None:
    accept(plane, *["Logs go to standard error."] * 120)
    (one,) = findings(plane)
    assert len(one.ids) == 120
