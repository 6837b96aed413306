"""Which coding tools get the memory, and which are behind."""

import json
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.commands import Sync
from agentplane.tools.receivers import Receivers
from tests.conftest import decision
from tests.e2e.conftest import started
from tests.tui.conftest import Sitting, sit


@pytest.fixture(autouse=True)
def _no_tool_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))


def approved(plane: Plane, statement: str) -> None:
    plane.inbox.approve([plane.propose(decision(statement))])


def receivers(plane: Plane) -> Receivers:
    return plane.tools.receivers(plane.memory.read())


def test_a_tool_gets_the_memory_and_falls_behind_while_delivery_is_off(plane: Plane) -> None:
    project = plane.layout.project
    (project / ".claude").mkdir()
    approved(plane, "Use Textual.")
    assert receivers(plane) == Receivers(missing=("Claude Code",))
    plane.do(Sync(("claude",)))
    assert receivers(plane) == Receivers(current=("Claude Code",))
    config = plane.layout.root / "config.toml"
    config.write_text(f"{config.read_text()}\n[tools]\ndeliver = false\n")
    approved(plane, "Retry webhooks with backoff.")
    assert receivers(plane) == Receivers(behind=("Claude Code",))


def test_a_file_for_tools_that_are_not_here_is_named_by_the_first_one(plane: Plane) -> None:
    approved(plane, "Use Textual.")
    plane.do(Sync(("codex",)))
    found = receivers(plane)
    assert len(found.current) == 1
    assert found.missing == ()


def test_the_header_names_the_tools_and_a_new_tool_is_announced_once(plane: Plane) -> None:
    project = plane.layout.project
    (project / ".claude").mkdir()
    (project / ".gemini").mkdir()
    approved(plane, "Use Textual.")
    plane.do(Sync(("claude",)))

    async def first(sitting: Sitting) -> None:
        await sitting.until(lambda: "→ Claude Code" in sitting.screen, "the tools in the header")
        await sitting.until(
            lambda: "Gemini CLI is used in this project, but doesn't get the project memory" in sitting.said,
            "the notice",
        )

    async def second(sitting: Sitting) -> None:
        await sitting.until(lambda: "→ Claude Code" in sitting.screen, "the tools in the header")
        assert "used here" not in sitting.said

    sit(plane, first, size=(140, 30))
    sit(plane, second, size=(140, 30))


def test_status_says_which_tools_get_the_memory(plane: Plane) -> None:
    project = plane.layout.project
    (project / ".claude").mkdir()
    (project / ".gemini").mkdir()
    plane.do(Sync(("claude",)))
    home = {"HOME": str(project.parent), "PATH": str(project.parent)}
    shown = started(["status"], project, env=home).stdout
    assert "Tools with the current memory: Claude Code\n" in shown
    assert (
        "Tools in this project that aren't connected: Gemini CLI. To connect a tool, run `agentplane tools connect NAME`.\n"
        in shown
    )
    found = json.loads(started(["status", "--json"], project, env=home).stdout)["tools"]
    assert found == {"current": ["Claude Code"], "behind": [], "missing": ["Gemini CLI"]}
