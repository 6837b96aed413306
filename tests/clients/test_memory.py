"""What is approved is in the request that the model gets; what is not, is not."""

import pytest

from agentplane.agents.catalog import TOOLS as TABLE
from agentplane.api import Plane
from tests.clients.conftest import TOOLS, MakeClient, wire
from tests.clients.model import Model
from tests.conftest import decision


APPROVED = "Webhooks are signed with the key of the partner."
WAITING = "Reports are mailed on the first Monday of the quarter."
BY_HAND = "Invoices may be deleted by anyone."


@pytest.mark.parametrize("name", TOOLS)
def test_what_was_approved_reaches_the_model_and_nothing_else_does(
    client: MakeClient, plane: Plane, model: Model, name: str
) -> None:
    tool = client(name)
    plane.inbox.approve(
        [plane.propose(decision(APPROVED)), plane.propose(decision("Invoices are kept for ten years."))]
    )
    plane.propose(decision(WAITING))
    shelf = plane.layout.memory / "decisions.md"
    shelf.write_text(shelf.read_text().replace("Invoices are kept for ten years.", BY_HAND))
    wire(tool)
    tool.run("Say hello.")
    assert APPROVED in model.text()
    assert "Invoices are kept for ten years." in model.text()
    assert WAITING not in model.text()
    assert BY_HAND not in model.text()


@pytest.mark.parametrize("name", TOOLS)
def test_a_second_session_after_an_approval_has_the_new_revision(
    client: MakeClient, plane: Plane, model: Model, name: str
) -> None:
    tool = client(name)
    plane.inbox.approve([plane.propose(decision("Invoices are kept for ten years."))])
    wire(tool)
    tool.run("Say hello.")
    before, revision = model.text(), plane.status().revision
    assert revision in before
    plane.inbox.approve([plane.propose(decision(APPROVED))])
    model.asked.clear()
    tool.run("Say hello again.")
    assert plane.status().revision != revision
    assert plane.status().revision in model.text()
    assert APPROVED in model.text()


RULE = "Tables of amounts are sorted by currency, never by size."


@pytest.mark.parametrize("name", TOOLS)
def test_a_rule_that_was_imported_from_its_own_file_reaches_the_model_once(
    client: MakeClient, plane: Plane, model: Model, name: str
) -> None:
    tool = client(name)
    path = next(row.target.path for row in TABLE if row.name == tool.name)
    (plane.layout.project / path).write_text(f"# Rules\n\n- **{RULE.removesuffix('.')}**\n")
    plane.tools.take_in(plane.tools.harvest(["instructions"]))
    plane.inbox.approve([*plane.memory.read().inbox_ids, plane.propose(decision(APPROVED))])
    wire(tool)
    tool.run("Say hello.")
    assert APPROVED in model.text()
    counts = [asked.text.count(RULE.removesuffix(".")) for asked in model.turns]
    assert max(counts) == 1
