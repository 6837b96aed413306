"""The official MCP Inspector lists and calls everything that the server offers."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.client import PROGRAMS
from tests.conftest import decision, plane_in
from tests.e2e.terminal import AGENTPLANE


INSPECTOR = PROGRAMS / "mcp-inspector"

pytestmark = pytest.mark.skipif(
    not INSPECTOR.exists() or shutil.which("node") is None,
    reason="the MCP Inspector is not installed: `make clients` does it",
)


@pytest.fixture
def repository(git_project: Path) -> Path:
    plane = plane_in(git_project)
    plane.inbox.approve([plane.propose(decision("Use PostgreSQL for the ledger."))])
    return git_project


def inspect(folder: Path, method: str, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        ["node", str(INSPECTOR.resolve()), "--cli", *AGENTPLANE, "mcp", "--method", method, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


CALLS: dict[str, dict[str, str]] = {
    "recall": {"query": "ledger", "limit": "3"},
    "propose": {
        "type": "decision",
        "statement": "Use MySQL for the ledger.",
        "tags": '["db"]',
        "relation": '{"kind": "supersedes", "id": "DEC-001"}',
    },
    "context": {"task": "ledger", "paths": '["app/**"]', "budget": "800"},
    "record": {"summary": "Looked at the ledger.", "next": '["Ask Mara."]'},
}


def test_it_lists_every_tool(repository: Path) -> None:
    listed = inspect(repository, "tools/list")["tools"]
    assert [tool["name"] for tool in listed] == list(CALLS)
    assert all(tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object" for tool in listed)


@pytest.mark.parametrize("tool", CALLS)
def test_it_calls_every_tool(repository: Path, tool: str) -> None:
    words = [word for name, value in CALLS[tool].items() for word in ("--tool-arg", f"{name}={value}")]
    answer = inspect(repository, "tools/call", "--tool-name", tool, *words)
    assert not answer["isError"], answer
    fields = answer["structuredContent"]
    if tool == "recall":
        assert fields["results"][0]["id"] == "DEC-001"
    if tool == "propose":
        assert fields["conflicts"][0]["kind"] == "supersession"
        assert plane_in(repository).memory.read().get(fields["id"]).head.tags == ("db",)
    if tool == "context":
        assert "Use PostgreSQL" in fields["text"]
    if tool == "record":
        assert fields["run_id"]


def test_it_shows_an_error(repository: Path) -> None:
    answer = inspect(
        repository, "tools/call", "--tool-name", "propose", "--tool-arg", "type=opinion", "statement=x"
    )
    assert answer["isError"]
    assert "Unknown kind: opinion" in answer["content"][0]["text"]


def test_it_reads_resources_and_prompts(repository: Path) -> None:
    listed = inspect(repository, "resources/list")["resources"]
    assert [one["name"] for one in listed] == ["pack", "runs", "DEC-001"]
    assert len(inspect(repository, "resources/templates/list")["resourceTemplates"]) == 2
    read = inspect(repository, "resources/read", "--uri", "agentplane://entry/DEC-001")
    assert "Use PostgreSQL" in read["contents"][0]["text"]
    (prompt,) = inspect(repository, "prompts/list")["prompts"]
    got = inspect(repository, "prompts/get", "--prompt-name", prompt["name"], "--prompt-args", "task=ledger")
    assert "ledger" in got["messages"][0]["content"]["text"]
