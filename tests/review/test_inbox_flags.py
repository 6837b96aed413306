"""What is said of a candidate when the inbox is opened."""

from datetime import date
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.memory.view import Memory
from agentplane.review import inbox_flags
from tests.conftest import decision, plane_in


@pytest.fixture
def source(plane: Plane) -> Path:
    """A file of the project with three lines."""
    path = plane.layout.project / "app.py"
    path.write_text("one\ntwo\nthree\n")
    return path


def flags(plane: Plane, id_: str) -> list[str]:
    return list(plane.inbox.review([id_])[0].flags)


@pytest.mark.parametrize(
    "evidence",
    ["app.py", "app.py:2", "app.py:1-3", "app.py#two", "https://example.test/a", "3f2a1c9", "a" * 40],
)
def test_evidence_that_stands_is_not_flagged(plane: Plane, source: Path, evidence: str) -> None:
    assert flags(plane, plane.propose(decision("One.", evidence=[evidence]))) == []


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ("gone.py", "evidence 1: `gone.py` doesn't exist"),
        ("app.py:77", "evidence 1: `app.py:77` has no line 77, because it has only 3 lines"),
        (
            "../other/x.py",
            "evidence 1: `../other/x.py` contains `..`, but a path must start at the top of the project",
        ),
        ("/etc/passwd", "evidence 1: `/etc/passwd` is outside the project"),
    ],
)
def test_evidence_that_does_not_stand_is_flagged(
    plane: Plane, source: Path, evidence: str, said: str
) -> None:
    assert flags(plane, plane.propose(decision("One.", evidence=[evidence]))) == [said]


def test_evidence_is_looked_at_anew_each_time(plane: Plane, source: Path) -> None:
    id_ = plane.propose(decision("One.", evidence=["app.py"]))
    assert flags(plane, id_) == []
    source.unlink()
    assert flags(plane, id_) == ["evidence 1: `app.py` doesn't exist"]


def test_a_target_that_is_not_in_force_any_more(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Old."))])
    id_ = plane.propose(decision("New.", supersedes=["DEC-001"]))
    assert flags(plane, id_) == []
    plane.memory.deprecate(["DEC-001"])
    assert flags(plane, id_) == ["supersedes DEC-001, which is already deprecated"]
    other = plane.propose(decision("Other.", supersedes=["DEC-404"]))
    assert flags(plane, other) == ["supersedes DEC-404, but no entry has this ID"]
    third = plane.propose(decision("Use make.", supersedes=[other]))
    assert flags(plane, third) == [f"supersedes {other}, which is only a candidate"]
    plane.inbox.reject([other])
    (gone,) = flags(plane, third)
    assert gone == f"supersedes {other}, which no longer exists (see `agentplane history {other}`)"


def test_hidden_characters_and_hand_edits(plane: Plane) -> None:
    id_ = plane.propose(decision("A\u200bB."))
    assert any("zero width space" in flag for flag in flags(plane, id_))
    inbox = plane.layout.memory / "candidates.md"
    inbox.write_bytes(inbox.read_bytes() + b"\nAdded.\n")
    assert "manual edit: changed" in flags(plane, id_)


def test_what_slipped_into_the_file_by_hand_is_flagged_though_the_gate_never_saw_it(plane: Plane) -> None:
    core = "---\nid: CAND-AAAAAA\ntype: decision\nstatus: proposed\n---\nDecision: A\u202eB.\n"
    inbox = plane.layout.memory / "candidates.md"
    inbox.write_bytes(inbox.read_bytes() + b"\n" + core.encode())
    assert any("right-to-left override" in flag for flag in flags(plane, "CAND-AAAAAA"))


def test_age_and_provenance(plane: Plane) -> None:
    id_ = plane.propose(decision("One.", source="20260127T101502Z-k3f9qa"))
    entry = plane.memory.read().get(id_)
    today = plane.store.clock().date()
    assert inbox_flags.age_in_days(entry, today) == 0
    assert inbox_flags.age_in_days(entry, date(today.year + 1, today.month, 1)) is not None
    assert inbox_flags.provenance(entry) == "by Ada, from run 20260127T101502Z-k3f9qa"


def test_figures_per_source(project: Path) -> None:
    """What was undone does not count; what still waits is proposed and not decided."""
    ada, codex, noisy = (
        plane_in(project),
        plane_in(project, "codex", "mcp"),
        plane_in(project, "noisy", "mcp"),
    )
    good = [codex.propose(decision(text)) for text in ("Use uv.", "Log as JSON.", "Pin images.")]
    bad = [
        noisy.propose(decision(text))
        for text in ("Rewrite it in Rust.", "Drop the tests.", "Ship on Fridays.", "Rename the repository.")
    ]
    ada.inbox.approve(good[:2])
    ada.inbox.reject(bad[:3])
    ada.inbox.approve(bad[3:])
    ada.history.undo()
    rows = inbox_flags.figures(Memory(ada.store.snapshot()).snapshot)
    assert [(row.source, row.proposed, row.approved, row.rejected, row.accepted) for row in rows] == [
        ("noisy", 4, 0, 3, 0.0),
        ("codex", 3, 2, 0, 1.0),
    ]
