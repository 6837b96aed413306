"""Broken links, and chains of replaced entries that fork, form a circle or don't end."""

from agentplane.api import Plane
from agentplane.curate.kinds import Kind
from agentplane.curate.remedies import Supersede
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.resolve import Choice
from tests.curate.shelves import add, ago, found, line_at, lines
from tests.memory.test_links import shelf


LINKS: tuple[Kind, ...] = ("link-broken", "superseded-twice", "superseded-in-force")


def test_a_replaced_entry_has_no_finding(plane: Plane) -> None:
    add(ago(plane, 9), "Reports are CSV files.")
    candidate = ago(plane, 8).propose(_decision("Reports are Parquet files."))
    ago(plane, 8).inbox.approve([candidate], Choice(supersede=("DEC-001",)))
    assert [entry.head.status for entry in plane.memory.read().shelf] == ["superseded", "accepted"]
    assert found(plane, *LINKS) == []


def _decision(statement: str) -> Proposal:
    return Proposal(type="decision", statement=statement)


def test_a_link_to_no_entry(plane: Plane) -> None:
    shelf(plane, ("001", "accepted", "refines: [DEC-999]"), ("002", "deprecated", "refines: [DEC-998]"))
    (one,) = found(plane, "link-broken")
    assert one.id == "DEC-001"
    assert lines(one) == "refines: DEC-999"
    assert line_at(plane, one.where) == "refines: [DEC-999]"


def test_a_link_to_a_removed_entry_is_fine(plane: Plane) -> None:
    shelf(plane, ("001", "accepted", "refines: [DEC-002]"), ("002", "accepted", ""))
    file = plane.layout.memory / "decisions.md"
    text = file.read_text()
    file.write_text(text[: text.index("---\nid: DEC-002")])
    plane.memory.adopt()
    assert found(plane, "link-broken") == []


def test_a_fork(plane: Plane) -> None:
    shelf(
        plane,
        ("001", "superseded", "superseded_by: [DEC-002, DEC-003]"),
        ("002", "accepted", "supersedes: [DEC-001]"),
        ("003", "accepted", "supersedes: [DEC-001]"),
    )
    (one,) = found(plane, *LINKS)
    assert (one.kind, one.severity) == ("superseded-twice", "error")
    assert one.ids == ("DEC-001", "DEC-002", "DEC-003")
    assert "DEC-002: Number 002." in lines(one)
    assert "DEC-003: Number 003." in lines(one)
    assert one.remedies[0] == Supersede("DEC-003", "DEC-002")


def test_a_fork_that_was_settled(plane: Plane) -> None:
    shelf(
        plane,
        ("001", "superseded", "superseded_by: [DEC-002, DEC-003]"),
        ("002", "accepted", "supersedes: [DEC-001]"),
        ("003", "deprecated", "supersedes: [DEC-001]"),
    )
    assert found(plane, *LINKS) == []


def test_a_circle(plane: Plane) -> None:
    shelf(
        plane,
        ("001", "superseded", "superseded_by: [DEC-002]\nsupersedes: [DEC-002]"),
        ("002", "superseded", "superseded_by: [DEC-001]\nsupersedes: [DEC-001]"),
    )
    (one,) = found(plane, *LINKS)
    assert (one.kind, one.ids) == ("superseded-twice", ("DEC-001", "DEC-002"))
    assert "DEC-001: superseded_by DEC-002" in lines(one)


def test_an_entry_that_is_still_in_force_though_it_was_replaced(plane: Plane) -> None:
    shelf(
        plane, ("001", "accepted", "superseded_by: [DEC-002]"), ("002", "accepted", "supersedes: [DEC-001]")
    )
    (one,) = found(plane, *LINKS)
    assert (one.kind, one.ids) == ("superseded-in-force", ("DEC-001", "DEC-002"))
    assert line_at(plane, one.where) == "superseded_by: [DEC-002]"
    assert one.remedies[0] == Supersede("DEC-001", "DEC-002")


def test_an_entry_that_only_its_successor_names(plane: Plane) -> None:
    shelf(plane, ("001", "accepted", ""), ("002", "accepted", "supersedes: [DEC-001]"))
    (one,) = found(plane, *LINKS)
    assert (one.kind, one.ids) == ("superseded-in-force", ("DEC-001", "DEC-002"))
    assert line_at(plane, one.where) == "supersedes: [DEC-001]"
