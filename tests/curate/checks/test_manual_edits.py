"""Manual edits that nobody has reviewed."""

from agentplane.api import Plane
from agentplane.curate.finding import Diff
from agentplane.curate.remedies import ReviewEdit
from tests.cli.conftest import change_by_hand
from tests.curate.shelves import add, ago, found, line_at


def test_a_changed_entry(plane: Plane) -> None:
    add(ago(plane, 9), "Reports are CSV files.")
    change_by_hand(plane, "decisions.md", "CSV", "Parquet")
    (one,) = found(plane, "manual-edit")
    assert (one.id, one.severity) == ("DEC-001", "warning")
    assert line_at(plane, one.where) == "---"
    assert isinstance(one.proof, Diff)
    assert one.proof.text.splitlines()[-2:] == [
        "-Decision: Reports are CSV files.",
        "+Decision: Reports are Parquet files.",
    ]
    assert one.remedies == (ReviewEdit("DEC-001"), ReviewEdit("DEC-001", accept=False))


def test_an_added_and_a_removed_entry(plane: Plane) -> None:
    add(ago(plane, 9), "Reports are CSV files.")
    file = plane.layout.memory / "decisions.md"
    text = file.read_text()
    cut = text.index("---\nid:")
    file.write_text(text[:cut] + "---\nid: DEC-007\ntype: decision\nstatus: accepted\n---\nDecision: New.\n")
    assert [(one.id, one.what) for one in found(plane, "manual-edit")] == [
        ("DEC-001", "DEC-001 was removed from the file manually, and nobody has reviewed the removal"),
        ("DEC-007", "DEC-007 was added to the file manually, and nobody has reviewed it"),
    ]


def test_a_broken_entry_can_only_be_discarded(plane: Plane) -> None:
    add(ago(plane, 9), "Reports are CSV files.")
    change_by_hand(plane, "decisions.md", "status: accepted", "status: [")
    (one,) = found(plane, "manual-edit")
    assert one.remedies == (ReviewEdit("DEC-001", accept=False),)


def test_an_accepted_or_trusted_edit_is_none(plane: Plane) -> None:
    add(ago(plane, 9), "Reports are CSV files.")
    change_by_hand(plane, "decisions.md", "CSV", "Parquet")
    plane.memory.adopt()
    assert found(plane, "manual-edit") == []
    plane.layout.config.write_text('[trust]\nhand_edits = "accept"\n')
    change_by_hand(plane, "decisions.md", "Parquet", "CSV")
    assert found(plane, "manual-edit") == []


def test_the_other_checks_see_the_approved_text(plane: Plane) -> None:
    add(ago(plane, 9), "Reports are CSV files.", expires_at="2031-05-01")
    change_by_hand(plane, "decisions.md", "expires_at: '2031-05-01'\n", "")
    assert [one.kind for one in found(plane)] == ["manual-edit", "expired"]
