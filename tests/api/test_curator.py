"""Every remedy of the curator as a command: what it writes, that it is one operation, and that undo takes it back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.api.curator import NeedsPerson, combined
from agentplane.curate import remedies
from agentplane.curate.finding import Finding, Lines
from agentplane.curate.remedies import Remedy
from agentplane.memory.entry import Entry
from agentplane.memory.proposing import Proposal
from tests.cli.conftest import change_by_hand
from tests.conftest import files_of, plane_in
from tests.curate.shelves import NOW, add, ago, at


@pytest.fixture
def shelf(git_project: Path) -> Plane:
    """Three decisions and an assumption. DEC-001 cites a file."""
    plane = plane_in(git_project)
    (git_project / "LIES.md").write_text("x\n")
    add(ago(plane, 400), "Reports are CSV files.", evidence=("README.md",))
    add(ago(plane, 400), "Webhooks carry a signature.", tags=("reports",))
    add(ago(plane, 400), "Handlers are small.", scope=("handlers/**",))
    add(ago(plane, 400), "The API answers in 200 ms.", "assumption")
    return at(plane, NOW)


def finding(*chosen: Remedy) -> Finding:
    return Finding("other", ("DEC-001",), "here", "It is wrong.", Lines("here", "x"), chosen)


def head(plane: Plane, id_: str) -> Entry:
    return plane.memory.read().get(id_)


Seen = Callable[[Plane], bool]
WRITES: dict[str, tuple[Remedy, Seen]] = {
    "deprecate": (
        remedies.Deprecate(("DEC-001",)),
        lambda it: head(it, "DEC-001").head.status == "deprecated",
    ),
    "supersede": (
        remedies.Supersede("DEC-001", "DEC-002"),
        lambda it: (
            head(it, "DEC-001").head.superseded_by == ("DEC-002",)
            and head(it, "DEC-001").head.status == "superseded"
        ),
    ),
    "move-evidence": (
        remedies.MoveEvidence("DEC-001", "README.md", "LIES.md"),
        lambda it: head(it, "DEC-001").head.evidence == ("LIES.md",),
    ),
    "expiry": (
        remedies.SetExpiry(("DEC-001", "DEC-002"), "2032-01-01"),
        lambda it: [head(it, id_).head.expires_at for id_ in ("DEC-001", "DEC-002")] == ["2032-01-01"] * 2,
    ),
    "scope": (
        remedies.SetScope("DEC-003", ("src/**", "lib/**")),
        lambda it: head(it, "DEC-003").head.scope == ("src/**", "lib/**"),
    ),
    "kind": (
        remedies.SetKind("ASM-001", "fact"),
        lambda it: head(it, "FACT-001").statement == "The API answers in 200 ms.",
    ),
    "merge": (
        remedies.MergeEntries(("DEC-001", "DEC-002")),
        lambda it: (
            head(it, "DEC-001").head.tags == ("reports",)
            and head(it, "DEC-002").head.superseded_by == ("DEC-001",)
        ),
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_remedy_writes_what_it_says_and_undo_takes_it_back(shelf: Plane, name: str) -> None:
    remedy, is_done = WRITES[name]
    assert remedy.name == name
    before, count = files_of(shelf), len(shelf.history.ops())
    preview = shelf.curator.preview(remedy)
    assert preview
    assert files_of(shelf) == before
    shelf.curator.apply([finding(remedy)])
    assert is_done(shelf)
    assert len(shelf.history.ops()) == count + 1
    for change in preview:
        assert (shelf.layout.project / change.path).read_bytes() == change.after
    shelf.history.undo()
    assert files_of(shelf) == before


def test_a_renewal_changes_no_file(shelf: Plane) -> None:
    before = files_of(shelf)
    shelf.curator.apply([finding(remedies.Renew(("DEC-001", "DEC-002")))])
    assert files_of(shelf) == before
    assert {one.id for one in shelf.curator.collect(only=["old"]).findings} == {"DEC-003", "ASM-001"}
    shelf.history.undo()
    assert len(shelf.curator.collect(only=["old"]).findings) == 4


def test_a_manual_edit_is_accepted_or_discarded(shelf: Plane) -> None:
    before = files_of(shelf)
    change_by_hand(shelf, "decisions.md", "CSV", "XML")
    shelf.curator.apply([finding(remedies.ReviewEdit("DEC-001", accept=False))])
    assert files_of(shelf) == before
    change_by_hand(shelf, "decisions.md", "CSV", "XML")
    shelf.curator.apply([finding(remedies.ReviewEdit("DEC-001"))])
    assert head(shelf, "DEC-001").statement == "Reports are XML files."
    assert shelf.curator.collect(only=["manual-edit"]).findings == ()


def test_a_candidate_is_approved_instead(shelf: Plane) -> None:
    candidate = shelf.propose(Proposal(type="decision", statement="Reports are XML files."))
    shelf.curator.apply([finding(remedies.ApproveInstead(candidate, "DEC-001"))])
    assert head(shelf, "DEC-001").head.superseded_by == ("DEC-004",)
    assert head(shelf, "DEC-004").head.status == "accepted"


PERSONS: tuple[Remedy, ...] = (
    remedies.EditEntry("DEC-001"),
    remedies.SplitEntry("DEC-001"),
    remedies.ApproveCheck("DEC-001"),
    remedies.SetExpiry(("DEC-001",)),
    remedies.SetScope("DEC-001"),
)


@pytest.mark.parametrize("remedy", PERSONS, ids=lambda one: one.name)
def test_a_remedy_that_a_person_has_to_carry_out(shelf: Plane, remedy: Remedy) -> None:
    before = files_of(shelf)
    with pytest.raises(NeedsPerson) as error:
        shelf.curator.apply([finding(remedies.Deprecate(("DEC-002",))), finding(remedy)])
    assert " ".join(remedy.argv) in (error.value.todo or "")
    assert files_of(shelf) == before
    assert shelf.curator.preview(remedy) is None


def test_every_remedy_is_tried() -> None:
    tried = {one.name for one in PERSONS} | WRITES.keys() | {"renew", "review-edit", "approve-instead"}
    assert tried == {one.name for one in Remedy.__args__}


def test_a_finding_without_a_remedy_is_refused(shelf: Plane) -> None:
    with pytest.raises(NeedsPerson):
        shelf.curator.apply([finding()])


def test_remedies_that_are_alike_become_one() -> None:
    made = combined(
        [
            remedies.Renew(("A",)),
            remedies.Deprecate(("B",)),
            remedies.Renew(("C", "A")),
            remedies.SetExpiry(("D",), "2032-01-01"),
            remedies.SetExpiry(("E",), "2032-01-01"),
            remedies.SetExpiry(("F",), "2033-01-01"),
            remedies.Supersede("G", "H"),
            remedies.Supersede("G", "H"),
        ]
    )
    assert made == [
        remedies.Renew(("A", "C")),
        remedies.Deprecate(("B",)),
        remedies.SetExpiry(("D", "E"), "2032-01-01"),
        remedies.SetExpiry(("F",), "2033-01-01"),
        remedies.Supersede("G", "H"),
    ]


def test_every_finding_of_a_kind_in_one_operation(shelf: Plane) -> None:
    count = len(shelf.history.ops())
    found = shelf.curator.collect(only=["old"]).findings
    assert len(found) == 4
    shelf.curator.apply(found)
    assert len(shelf.history.ops()) == count + 1
    assert shelf.curator.collect(only=["old"]).findings == ()
