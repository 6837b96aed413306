"""The draft of one entry from several entries that say the same."""

import pytest

from agentplane.api import Plane
from agentplane.curate import merge_draft
from agentplane.memory.entry import Entry
from agentplane.plane.layout import INBOX
from agentplane.text.markdown import document
from tests.curate.pairs.shelves import accept


LOGS = "Logs go to standard error."


def drafted(plane: Plane, *ids: str) -> Entry:
    memory = plane.memory.read()
    text = merge_draft.drafted(memory, ids)
    assert not document.parse(text).troubles
    (entry,) = memory.entries_in(text, memory.get(ids[0]).file)
    return entry


def test_the_draft_keeps_the_first_entry_and_unites_the_fields(plane: Plane) -> None:
    accept(
        plane,
        f"{LOGS} | tags: [logs]; evidence: [a.py, b.py]; confidence: 0.9; scope: [src/**]; approved_by: Ada",
        f"{LOGS} | tags: [ops, logs]; evidence: [b.py, c.py]; confidence: 0.5; scope: [tools/**]; approved_by: Bob",
    )
    entry = drafted(plane, "DEC-001", "DEC-002")
    head = entry.head
    assert (head.id, head.approved_by, head.confidence) == ("DEC-001", "Ada", 0.9)
    assert head.tags == ("logs", "ops")
    assert head.evidence == ("a.py", "b.py", "c.py")
    assert head.scope == ("src/**", "tools/**")
    assert entry.statement == LOGS


def test_the_scope_of_the_whole_project_includes_the_others(plane: Plane) -> None:
    accept(plane, f"{LOGS} | scope: [src/**]", LOGS)
    assert drafted(plane, "DEC-001", "DEC-002").head.scope == ()
    assert drafted(plane, "DEC-002", "DEC-001").head.scope == ()


def test_links_among_the_merged_entries_go_and_others_stay(plane: Plane) -> None:
    accept(
        plane,
        f"{LOGS} | refines: [DEC-003]",
        f"{LOGS} | refines: [DEC-001, DEC-004]; supersedes: [DEC-003]",
        "Buttons have round corners. | status: superseded; superseded_by: [DEC-002]",
        "Amounts are whole cents.",
    )
    head = drafted(plane, "DEC-001", "DEC-002").head
    assert head.refines == ("DEC-003", "DEC-004")
    assert head.supersedes == ("DEC-003",)


def test_a_pin_and_a_check_are_kept(plane: Plane) -> None:
    accept(plane, LOGS, f"{LOGS} | pinned: true; check: 'file: a.py exists'")
    head = drafted(plane, "DEC-001", "DEC-002").head
    assert head.pinned
    assert head.check == "file: a.py exists"
    accept(plane, f"{LOGS} | check: 'file: b.py exists'", f"{LOGS} | check: 'file: a.py exists'")
    assert drafted(plane, "DEC-001", "DEC-002").head.check == "file: b.py exists"


def test_rationales_are_joined_without_repeats(plane: Plane) -> None:
    accept(
        plane,
        f"{LOGS} || Rationale: Containers collect it. Standard output is for data.",
        f"{LOGS} || Rationale: standard output is for data. Files fill the disk.",
        f"{LOGS} || Rationale: Logs go to standard error. Containers collect it.",
    )
    entry = drafted(plane, "DEC-001", "DEC-002", "DEC-003")
    assert entry.body.splitlines() == [
        f"Decision: {LOGS}",
        "Rationale: Containers collect it. Standard output is for data. Files fill the disk.",
    ]


def test_paragraphs_and_lists_stay(plane: Plane) -> None:
    accept(
        plane,
        f"{LOGS} || Rationale: Two reasons.\n\n- Containers collect it.\n- Files fill the disk.",
        f"{LOGS} || Rationale: One more.\n\n- Files fill the disk.\n- Rotation needs a job.",
    )
    body = drafted(plane, "DEC-001", "DEC-002").body
    assert body.splitlines() == [
        f"Decision: {LOGS}",
        "Rationale: Two reasons.",
        "",
        "- Containers collect it.",
        "- Files fill the disk.",
        "",
        "One more.",
        "",
        "- Rotation needs a job.",
    ]


def test_without_rationales_only_the_statement_is_left(plane: Plane) -> None:
    accept(plane, LOGS, "logs go to standard error")
    assert drafted(plane, "DEC-001", "DEC-002").body == f"Decision: {LOGS}"


@pytest.mark.parametrize(
    ("statements", "clearest"),
    [
        ((LOGS, "All logs of all services go to standard error.", LOGS), 0),
        (
            (
                "Never call the payment provider in tests.",
                "Tests must not call the payment provider in any way.",
            ),
            0,
        ),
        (("logs go to standard error", LOGS), 1),
    ],
)
def test_the_clearest_statement(plane: Plane, statements: tuple[str, ...], clearest: int) -> None:
    accept(plane, *statements)
    ids = [f"DEC-{number:03}" for number in range(1, len(statements) + 1)]
    assert drafted(plane, *ids).statement == statements[clearest]


def test_a_header_with_an_unusual_layout_is_not_changed(plane: Plane) -> None:
    accept(plane, f"{LOGS} | ? tags; : [logs]", f"{LOGS} | tags: [ops]")
    entry = drafted(plane, "DEC-001", "DEC-002")
    assert entry.id == "DEC-001"
    assert entry.file != INBOX
