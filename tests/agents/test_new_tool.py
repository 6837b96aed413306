"""A made-up tool that has a row in the catalog, and nothing else, is known everywhere in the program."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentplane.api import Plane
from tests.conftest import ROOT, UNLIKE, decision


_END = ")  # fmt: skip\n\nBY_NAME"
_ROW = """    Tool(
        "acme", "Acme Agent", Target(".acme/rules/memory.md", "rule", "# Rules\\n"),
        programs=("acme-agent",), variables=("ACME_SHELL",), clients=("acme client",), marks=(".acme",),
        hooks=Hooks(".acme/hooks.json", forms.group, _CLAUDE, timeout=10), dialect=Dialect(forms.hook_specific),
        mcp=(Mcp((".acme/mcp.json",), forms.plain),), instructions=("ACME.md",), resume=("acme-agent", "--resume", "{id}"),
    ),
"""


class House:
    """The program with one more row, as a folder that is imported in place of the real one."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.project = project
        package = folder / "agentplane"
        agents = package / "agents"
        agents.mkdir(parents=True)
        for path in (ROOT / "agentplane").iterdir():
            if path.name not in ("agents", "__pycache__"):
                (package / path.name).symlink_to(path)
        for path in (ROOT / "agentplane/agents").glob("*.py"):
            if path.name != "catalog.py":
                (agents / path.name).symlink_to(path)
        text = (ROOT / "agentplane/agents/catalog.py").read_text()
        assert text.count(_END) == 1
        (agents / "catalog.py").write_text(text.replace(_END, _ROW + _END))
        self.environment = {**os.environ, "PYTHONPATH": str(folder), "HOME": str(folder)}

    def python(self, *words: str, said: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.project,
            input=said,
            capture_output=True,
            text=True,
            env={**self.environment, **environment},
        )

    def __call__(self, *words: str, said: str = "", **environment: str) -> str:
        done = self.python("-m", "agentplane", *words, said=said, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json"))


@pytest.fixture
def house(plane: Plane, tmp_path: Path) -> House:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    return House(tmp_path / "house", plane.layout.project)


def files(project: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(project)): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and ".agentplane" not in path.parts
    }


def test_it_is_detected_connected_synced_and_removed(house: House, plane: Plane) -> None:
    project = plane.layout.project
    (project / ".acme").mkdir()
    (project / ".acme/mcp.json").write_text('{"mcpServers": {"mine": {"command": "x"}}}\n')
    before = files(project)
    (row,) = [row for row in house.json("tools")["tools"] if row["name"] == "acme"]
    assert row["in_project"] is True

    assert set(house.json("tools", "connect", "acme-agent")["written"]) == {
        ".acme/rules/memory.md",
        ".acme/hooks.json",
        ".acme/mcp.json",
    }
    assert "agentplane hook stop --tool acme" in (project / ".acme/hooks.json").read_text()
    server = json.loads((project / ".acme/mcp.json").read_bytes())["mcpServers"]["agentplane"]
    assert server == {"command": "agentplane", "args": ["mcp", "--tool", "acme"]}
    memory = (project / ".acme/rules/memory.md").read_text()
    assert memory.startswith("# Rules\n")
    assert UNLIKE[0] in memory

    plane.inbox.approve([plane.propose(decision(UNLIKE[1]))])
    house("sync")
    assert UNLIKE[1] in (project / ".acme/rules/memory.md").read_text()
    house("sync", "--check")

    house("tools", "disconnect", "acme")
    assert files(project) == before


def test_its_hooks_shells_runs_and_clients_are_known(house: House, plane: Plane, tmp_path: Path) -> None:
    said = json.dumps({"session_id": "s1", "cwd": str(house.project), "source": "startup"})
    told = json.loads(house("hook", "session-start", "--tool", "acme", said=said))
    assert UNLIKE[0] in told["hookSpecificOutput"]["additionalContext"]

    refused = house.python("-m", "agentplane", "approve", "CAND-1", ACME_SHELL="1")
    assert refused.returncode == 3
    assert "started by Acme Agent" in refused.stderr

    program = tmp_path / "bin/acme-agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    house("run", "--", str(program))
    events = [msgspec.json.decode(line) for line in plane.layout.log.read_bytes().splitlines()]
    assert "acme" in {event.get("tool") for event in events}

    named = "from agentplane.mcp.client import tool_named; print(tool_named('Acme Client 2.0'))"
    assert house.python("-c", named).stdout == "acme\n"


def test_its_instruction_files_are_imported_as_its_own(house: House) -> None:
    (house.project / "ACME.md").write_text("# Rules\n\n- Logs must go to standard error.\n")
    (offer,) = house.json("harvest", "--dry-run")["offered"]
    assert (offer["evidence"], offer["proposed_by"]) == (["ACME.md:3"], "acme")
