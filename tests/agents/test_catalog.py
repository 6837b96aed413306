"""The catalog of coding tools is well-formed, and costs the hooks little."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable

import pytest

from agentplane.agents import catalog
from agentplane.agents.catalog import TOOLS
from agentplane.agents.hooks import EVENTS
from agentplane.agents.model import Limits, Target, Tool
from agentplane.agents.plugin import plugin_of
from tests.conftest import ROOT


def repeated(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def test_names_commands_variables_and_clients_are_of_one_tool_each() -> None:
    assert repeated(tool.name for tool in TOOLS) == []
    assert repeated(tool.title for tool in TOOLS) == []
    assert repeated(name for tool in TOOLS for name in {tool.name, *tool.programs}) == []
    assert repeated([*(name for tool in TOOLS for name in tool.variables), catalog.ANY_TOOL]) == []
    assert repeated(path for tool in TOOLS for path in tool.instructions) == []
    starts = [(start, tool.name) for tool in TOOLS for start in tool.clients]
    assert [
        (one, other) for one in starts for other in starts if one != other and one[0].startswith(other[0])
    ] == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_row_fits_together(tool: Tool) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", tool.name)
    assert tool.programs
    assert all(start == start.lower() for start in tool.clients)
    assert not tool.resume or "{id}" in "".join(tool.resume)
    assert not tool.home_variable or tool.homes
    assert not (tool.limits.context_characters and tool.limits.context_tokens)
    assert {event for event, _ in tool.hooks.events} <= set(EVENTS) if tool.hooks else True
    assert tool.dialect or not tool.hooks
    assert tool.nested in ("", *tool.instructions)
    paths = (*tool.marks, *tool.homes, *tool.reads, *tool.instructions, tool.target.path, tool.sessions)
    assert not any(path.startswith("/") or ".." in path for path in paths)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_module_offers_what_its_row_says(tool: Tool) -> None:
    plugin = plugin_of(tool)
    assert bool(plugin.memories) == bool(tool.memories)
    assert not plugin.memories or tool.homes
    # Sessions are searched below the tool's own folder, which a variable can move.
    assert not plugin.session_start or tool.sessions.startswith(f"{tool.homes[0]}/")
    assert not tool.module or any((plugin.session_start, plugin.transcripts, plugin.memories))


def test_it_loads_nothing_but_json() -> None:
    script = "import json, sys; before = set(sys.modules); import agentplane.agents.catalog; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = (
        "agentplane",
        "agentplane.agents",
        *(f"agentplane.agents.{name}" for name in ("catalog", "forms", "model")),
    )
    assert set(done.stdout.split()) == set(names)


def test_a_record_is_a_value() -> None:
    assert Target("A.md", "block") == Target(path="A.md", form="block", header="")
    assert len({Target("A.md", "block"), Target("A.md", "block"), Target("A.md", "rule")}) == 2
    assert repr(Limits(file_bytes=1)) == "Limits(context_characters=0, context_tokens=0, file_bytes=1)"
    with pytest.raises(AttributeError, match="immutable"):
        Limits().file_bytes = 1  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del Limits().file_bytes
    with pytest.raises(TypeError, match="no field bytes"):
        Limits(bytes=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no field"):
        Limits(1, 2, 3, 4)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="form"):
        Target("A.md")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("environment", "tool"),
    [
        ({}, None),
        ({"CLAUDECODE": ""}, None),
        ({"CLAUDECODE": "1"}, "claude-code"),
        ({"AI_AGENT": "codex", "CLAUDECODE": "1"}, "claude-code"),
        ({"AI_AGENT": "somebody"}, "somebody"),
    ],
)
def test_a_shell_is_recognized_by_its_environment(environment: dict[str, str], tool: str | None) -> None:
    assert catalog.tool_in(environment) == tool
