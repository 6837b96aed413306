"""The reports of the palette, without a screen."""

from agentplane.api import Plane
from agentplane.jobs import ignore
from agentplane.tui.backend import maintenance
from tests.conftest import decision


def test_the_report_of_changes_names_no_option(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use UTC everywhere."))])
    text = maintenance.diff_text(plane, ignore)
    assert "isn't in a Git repository" in text
    assert "--" not in text
