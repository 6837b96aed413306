"""Remedies: the command that a person types writes what the preview of the remedy shows."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.curate import remedies
from agentplane.curate.remedies import Remedy
from tests.cli.conftest import Cli
from tests.conftest import UNLIKE, decision, files_of, plane_in


@pytest.fixture
def shelf(project: Path) -> Plane:
    plane = plane_in(project, "ada")
    texts = (*UNLIKE[:3], f"{UNLIKE[3]} {UNLIKE[4]}")
    for text in texts:
        plane.inbox.approve([plane.propose(decision(text, evidence=["README.md"]))])
    return plane


@pytest.mark.parametrize(
    "remedy",
    [
        remedies.MoveEvidence("DEC-001", "README.md", "docs/README.md"),
        remedies.Deprecate(("DEC-001", "DEC-002")),
        remedies.Supersede("DEC-001", "DEC-002"),
        remedies.MergeEntries(("DEC-001", "DEC-002", "DEC-003")),
        remedies.SetExpiry(("DEC-001", "DEC-002"), "2999-12-31"),
        remedies.SetScope("DEC-001", ("src/**", "docs/**")),
        remedies.SetKind("DEC-001", "fact"),
    ],
    ids=lambda remedy: remedy.name,
)
def test_the_typed_command_writes_what_the_preview_shows(shelf: Plane, person: Cli, remedy: Remedy) -> None:
    before = files_of(shelf)
    changes = shelf.curator.preview(remedy)
    assert changes
    assert files_of(shelf) == before
    yes = ["--yes"] if isinstance(remedy, remedies.MergeEntries) else []
    ran = person(*remedy.argv[1:], *yes)
    assert ran.code == 0, ran
    after = files_of(shelf)
    written = {f".agentplane/{path}": data for path, data in after.items() if data != before.get(path)}
    assert {change.path: change.after for change in changes} == written
    assert person("undo").code == 0
    assert files_of(shelf) == before


@pytest.mark.parametrize(
    "remedy",
    [
        remedies.SetExpiry(("DEC-001",)),
        remedies.SetScope("DEC-001"),
        remedies.EditEntry("DEC-001"),
        remedies.SplitEntry("DEC-004"),
    ],
    ids=lambda remedy: remedy.name,
)
def test_what_a_person_has_to_choose_has_no_preview(shelf: Plane, remedy: Remedy) -> None:
    assert shelf.curator.preview(remedy) is None
