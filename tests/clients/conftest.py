"""A model server, a project with a plane, and the tools that are installed."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.runs import events
from agentplane.runs.open import open_run
from agentplane.runs.query import timeline
from tests.clients.client import PROGRAMS, Client
from tests.clients.model import Model, serving
from tests.conftest import plane_in
from tests.runs.screen import until


_PROGRAMS = {"codex": "codex", "claude-code": "claude", "gemini-cli": "gemini"}
TOOLS = tuple(_PROGRAMS)
MakeClient = Callable[[str], Client]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder."""
    folder = os.path.join(os.path.dirname(__file__), "")
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker(pytest.mark.full)
            item.add_marker(pytest.mark.clients)


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as served:
        yield served


@pytest.fixture
def plane(git_project: Path) -> Plane:
    return plane_in(git_project)


@pytest.fixture
def client(plane: Plane, model: Model, tmp_path: Path) -> MakeClient:
    def make(name: str) -> Client:
        program = PROGRAMS / _PROGRAMS[name]
        if not program.exists():
            pytest.skip(f"{name} is not installed: `make clients` does it")
        made = Client(name, str(program), plane.layout.project, tmp_path / "home", model.address)
        made.settle()
        return made

    return make


def sealed(plane: Plane) -> list[events.RunEvent]:
    """The runs that sessions left. Their ends are written down beside the tools, which do not wait for that."""

    def all_are() -> bool:
        plane.runs.seal_left()
        return not open_run.every(plane.layout)

    until(all_are, "every run is sealed", patience=60.0)
    rows = timeline.rows(plane.layout)
    return [events.load(plane.layout, row.run_id) for row in rows if row.kind == "run"]


def wire(client: Client) -> None:
    """As a person does it."""
    client.command("init", "--yes", "--tools", client.name)
