"""The model of a real tool recalls and proposes through our MCP server."""

import pytest

from agentplane.api import Plane
from tests.clients.conftest import TOOLS, MakeClient, sealed, wire
from tests.clients.model import Call, Model, calls
from tests.conftest import decision


APPROVED = "Webhooks are signed with the key of the partner."
PROPOSED = {
    "type": "decision",
    "statement": "Amounts are kept as whole minor units.",
    "rationale": "Cents as floats lost one in a refund.",
}


@pytest.mark.parametrize("name", TOOLS)
def test_what_a_model_proposes_waits_with_its_session_as_its_source(
    client: MakeClient, plane: Plane, model: Model, name: str
) -> None:
    tool = client(name)
    wire(tool)
    model.script = calls(Call("propose", PROPOSED))
    tool.run("Fix the refunds.")
    results = [result for asked in model.turns for result in asked.results]
    assert plane.memory.read().inbox, results
    (waiting,) = plane.memory.read().inbox
    assert waiting.statement == PROPOSED["statement"]
    assert waiting.head.proposed_by == name
    source = waiting.head.source or ""
    (run,) = (run for run in sealed(plane) if run.run_id == source)
    assert run.tool == name
    assert any(waiting.id in result for result in results)
    assert not plane.memory.read().shelf


@pytest.mark.parametrize("name", TOOLS)
def test_a_model_recalls_what_was_approved(client: MakeClient, plane: Plane, model: Model, name: str) -> None:
    tool = client(name)
    plane.inbox.approve([plane.propose(decision(APPROVED))])
    wire(tool)
    model.script = calls(Call("recall", {"query": "how are webhooks signed"}))
    tool.run("How are webhooks signed?")
    results = [result for asked in model.turns for result in asked.results]
    assert any("DEC-001" in result and APPROVED in result for result in results)


@pytest.mark.parametrize("name", TOOLS)
def test_no_tool_that_a_model_is_offered_approves(
    client: MakeClient, plane: Plane, model: Model, name: str
) -> None:
    tool = client(name)
    wire(tool)
    tool.run("Say hello.")
    offered = {name for asked in model.turns for name in asked.offered}
    assert offered == {"recall", "propose", "context", "record"}
