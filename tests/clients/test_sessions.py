"""What a session of a real tool is given at its start, and the run that it leaves."""

import pytest

from agentplane.api import Plane
from tests.clients.conftest import TOOLS, MakeClient, sealed, wire
from tests.clients.model import Model
from tests.conftest import decision


APPROVED = "Webhooks are signed with the key of the partner."


@pytest.mark.parametrize("name", TOOLS)
def test_a_session_is_given_the_memory_by_its_hook_alone(
    client: MakeClient, plane: Plane, model: Model, name: str
) -> None:
    tool = client(name)
    plane.inbox.approve([plane.propose(decision(APPROVED))])
    wire(tool)
    tool.command("sync", "--remove")
    tool.run("Say hello.")
    assert APPROVED in model.text()
    assert plane.status().revision in model.text()


@pytest.mark.parametrize("name", TOOLS)
def test_a_session_leaves_a_sealed_run(client: MakeClient, plane: Plane, model: Model, name: str) -> None:
    tool = client(name)
    plane.inbox.approve([plane.propose(decision(APPROVED))])
    wire(tool)
    tool.run("Say hello to the partner.")
    (run,) = sealed(plane)
    assert run.tool == name
    folder = plane.layout.runs / run.run_id
    assert "Say hello to the partner." in (folder / "context.json").read_text()
    assert plane.status().revision in (folder / "context.json").read_text()


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_under_run_leaves_one_capsule_that_names_it(
    client: MakeClient, plane: Plane, model: Model, name: str
) -> None:
    tool = client(name)
    wire(tool)
    tool.run("Say hello.", under=("agentplane", "run", "--task", "greeting", "--"))
    (run,) = sealed(plane)
    assert (run.tool, run.task) == (name, "greeting")
    assert "done" in (plane.layout.runs / run.run_id / "outputs" / "stdout").read_text()
