"""Codex itself, with a model that this test plays: it offers our tools and calls one without a question.

Codex is found as the inspector is: `npm install --prefix .clients @openai/codex@0.169.0`.
"""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, decision, plane_in
from tests.e2e.terminal import AGENTPLANE


CLIENTS = Path(os.environ.get("AGENTPLANE_CLIENTS") or ROOT / ".clients")
CODEX = CLIENTS / "node_modules" / ".bin" / "codex"

pytestmark = pytest.mark.skipif(
    not CODEX.exists() or shutil.which("node") is None, reason=f"no Codex in {CLIENTS}: see CONTRIBUTING.md"
)

CALL = {
    "type": "function_call",
    "id": "fc1",
    "call_id": "c1",
    "namespace": "mcp__agentplane",
    "name": "propose",
    "arguments": json.dumps({"type": "decision", "statement": "Use MySQL for the ledger."}),
}
DONE = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "done"}],
}


class Model(ThreadingHTTPServer):
    """Asks for one call, then is done. Keeps what it was asked."""

    asked: list[dict[str, Any]]


class _Answers(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on the screen."""

    def do_GET(self) -> None:
        self._send(b'{"models": [], "data": []}', "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        called = any(item.get("type") == "function_call_output" for item in body["input"])
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        events = [
            {"type": "response.created", "response": {"id": "r1"}},
            {"type": "response.output_item.done", "item": DONE if called else CALL},
            {"type": "response.completed", "response": {"id": "r1", "usage": usage}},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send(text.encode(), "text/event-stream")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def model() -> Iterator[Model]:
    server = Model(("127.0.0.1", 0), _Answers)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_codex_offers_the_tools_and_calls_one(git_project: Path, tmp_path: Path, model: Model) -> None:
    plane = plane_in(git_project)
    plane.approve([plane.propose(decision("Use PostgreSQL for the ledger."))])
    house = tmp_path / "codex"
    house.mkdir()
    words = [*AGENTPLANE[1:], "mcp"]
    (house / "config.toml").write_text(
        f'model_provider = "stub"\nmodel = "stub"\n[model_providers.stub]\nname = "stub"\n'
        f'base_url = "http://127.0.0.1:{model.server_address[1]}/v1"\nwire_api = "responses"\n'
        f"[mcp_servers.agentplane]\ncommand = {json.dumps(AGENTPLANE[0])}\nargs = {json.dumps(words)}\nrequired = true\n"
        f"startup_timeout_sec = 60\n"
    )
    done = subprocess.run(
        [str(CODEX), "exec", "--skip-git-repo-check", "Propose something."],
        cwd=git_project,
        env={**os.environ, "CODEX_HOME": str(house), "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (offered,) = [tool for tool in model.asked[0]["tools"] if tool.get("name") == "mcp__agentplane"]
    assert {tool["name"] for tool in offered["tools"]} == {"recall", "propose", "context", "record"}
    (answer,) = [item for item in model.asked[-1]["input"] if item.get("type") == "function_call_output"]
    assert "contradiction" in json.dumps(answer)
    (entry,) = plane.memory().inbox
    assert entry.head.proposed_by == "codex"
