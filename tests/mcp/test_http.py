"""The server over HTTP: the token, the headers that a browser cannot forge, sessions, its end."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from agentplane.api import Plane
from agentplane.errors import AgentplaneError
from agentplane.mcp import http
from tests.e2e.terminal import AGENTPLANE
from tests.mcp.conftest import ERAS


GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
GIVEN = "a-token-that-was-given-0123456789"


class Served(msgspec.Struct):
    process: subprocess.Popen[str]
    address: str
    told: str
    """What it said of its token."""

    @property
    def token(self) -> str:
        return self.told.removeprefix("token: ").strip()

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2].removesuffix("/mcp"))

    def post(self, headers: dict[str, str], body: Any = GREETING) -> httpx2.Response:
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return httpx2.post(self.address, headers={**ACCEPT, **headers}, content=content, timeout=60)

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


Serve = Callable[..., Served]


@pytest.fixture
def serve(shelf: Plane) -> Iterator[Serve]:
    started: list[subprocess.Popen[str]] = []

    def start(*words: str, env: dict[str, str] | None = None) -> Served:
        process = subprocess.Popen(
            [*AGENTPLANE, "mcp", "--http", *words],
            cwd=shelf.layout.project,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stderr
        first = process.stderr.readline()
        found = re.match(r"Serving (http://127\.0\.0\.1:\d+/mcp)\n", first)
        assert found, first
        return Served(process, found[1], process.stderr.readline())

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_with_the_token_is_served(shelf: Plane, serve: Serve, mode: str) -> None:
    served = serve()
    assert len(served.token) >= 40

    async def said() -> Any:
        async with httpx2.AsyncClient(headers=served.bearer, timeout=60) as web:
            transport = streamable_http_client(served.address, http_client=web)
            info = Implementation(name="goose", version="1")
            async with Client(transport, mode=mode, client_info=info) as client:
                assert len((await client.list_tools()).tools) == 4
                return await client.call_tool("propose", {"type": "decision", "statement": "Use ruff."})

    told = anyio.run(said)
    assert not told.is_error, told
    assert shelf.memory.read().get(told.structured_content["id"]).head.proposed_by == "goose"


def test_without_the_token_nothing_is_said(serve: Serve) -> None:
    served = serve()
    token = served.token
    for headers in (
        {},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {token[:-1]}"},
        {"Authorization": f"Bearer {token}x"},
        {"Authorization": f"bearer{token}"},
        {"Authorization": f"Basic {token}"},
        {"Cookie": f"token={token}"},
    ):
        answer = served.post(headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "agentplane" not in answer.text
    assert httpx2.get(f"{served.address}?token={token}", timeout=60).status_code == 401
    assert httpx2.get(served.address.replace("/mcp", "/"), timeout=60).status_code == 401
    assert served.post(served.bearer).status_code == 200
    # The name of the scheme may be written in any case.
    assert served.post({"Authorization": f"bearer {token}"}).status_code == 200


def test_a_page_that_a_browser_was_led_to_gets_nothing(serve: Serve) -> None:
    """Rebinding a name to 127.0.0.1 leaves that name in Host, and a page elsewhere stands in Origin."""
    served = serve()
    port = served.port
    assert served.post({**served.bearer, "Host": f"evil.test:{port}"}).status_code == 421
    assert served.post({**served.bearer, "Host": f"127.0.0.1:{port + 1}"}).status_code == 421
    assert served.post({**served.bearer, "Origin": "https://evil.test"}).status_code == 403
    assert served.post({**served.bearer, "Origin": "null"}).status_code == 403
    assert served.post({**served.bearer, "Origin": f"http://127.0.0.1:{port}"}).status_code == 200
    preflight = httpx2.options(served.address, headers={"Origin": "https://evil.test"}, timeout=60)
    assert "access-control-allow-origin" not in preflight.headers


def test_it_listens_on_this_machine_only(serve: Serve) -> None:
    served = serve()
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((own, served.port), timeout=3)


def test_what_is_too_large_or_no_message_is_refused(serve: Serve) -> None:
    served = serve()
    assert served.post(served.bearer, b"x" * (5 << 20)).status_code == 413
    assert served.post(served.bearer, b"{nonsense").status_code == 400
    assert served.post(served.bearer).status_code == 200


def test_a_token_that_is_given_is_not_shown(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{GIVEN}\n")
    file.chmod(0o600)
    for served in (serve("--token-file", str(file)), serve(env={http.TOKEN: GIVEN})):
        assert GIVEN not in served.told
        assert served.post({"Authorization": f"Bearer {GIVEN}"}).status_code == 200


@pytest.mark.parametrize("text", ["", "short", "with spaces in it, quite long", "ümlaute-sind-nicht-erlaubt"])
def test_a_token_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    file.chmod(0o600)
    done = subprocess.run(
        [*AGENTPLANE, "mcp", "--http", "--token-file", str(file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert text == "" or text not in done.stderr


@pytest.mark.parametrize(
    "how", ["group", "others", "link", "pipe", "folder", "open folder", "missing", "large"]
)
def test_a_token_file_that_others_can_read_or_replace_is_refused(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    file = folder / "token"
    file.write_text(f"{GIVEN}\n" * (1000 if how == "large" else 1))
    file.chmod({"group": 0o640, "others": 0o604}.get(how, 0o600))
    if how == "link":
        file = file.rename(folder / "real")
        (folder / "token").symlink_to("real")
    elif how in ("pipe", "folder", "missing"):
        file.unlink()
        if how != "missing":
            os.mkfifo(file, 0o600) if how == "pipe" else file.mkdir()
    elif how == "open folder":
        folder.chmod(0o777)
    with pytest.raises(AgentplaneError) as found:
        http.token_of({}, str(folder / "token"))
    assert found.value.todo
    assert GIVEN not in str(found.value)
    if how == "open folder":
        folder.chmod(0o1777)
        assert http.token_of({}, str(file)) == (GIVEN, False)


def test_a_port_that_is_taken_is_an_error(serve: Serve, tmp_path: Path) -> None:
    port = str(serve().port)
    done = subprocess.run(
        [*AGENTPLANE, "mcp", "--http", "--port", port],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 4
    assert "--port" in done.stderr


def test_options_of_http_go_with_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [*AGENTPLANE, "mcp", "--port", "8000"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "--http" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_also_with_a_stream_open(serve: Serve, number: signal.Signals) -> None:
    served = serve()
    greeted = served.post(served.bearer)
    headers = {**ACCEPT, **served.bearer, "mcp-session-id": greeted.headers["mcp-session-id"]}
    with httpx2.stream("GET", served.address, headers=headers, timeout=60) as stream:
        assert stream.status_code == 200
        served.process.send_signal(number)
        assert served.process.wait(timeout=60) == 0
    assert served.process.stdout
    assert served.process.stdout.read() == ""
