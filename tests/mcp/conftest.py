"""Clients of the official SDK, talking to `agentplane mcp` as a process of its own on a plane on the disk."""

import os
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import Implementation

from agentplane.api import Plane
from tests.conftest import decision, plane_in
from tests.e2e.terminal import AGENTPLANE


ERAS = ("legacy", "2026-07-28")


@pytest.fixture
def shelf(git_project: Path) -> Plane:
    """A plane with three entries in force, and one that was rejected."""
    plane = plane_in(git_project)
    made = [
        decision("Use PostgreSQL for the ledger.", rationale="Money needs transactions.", tags=["db"]),
        decision("Webhooks carry a signature.", scope=["app/webhooks/**"]),
        decision("Reports are written as CSV."),
    ]
    for one in made:
        plane.inbox.approve([plane.propose(one)])
    plane.inbox.reject(
        [plane.propose(decision("Deploy on Fridays after lunch."))], "Nobody is there to mend it."
    )
    return plane


@asynccontextmanager
async def client(
    folder: Path,
    *words: str,
    mode: str = "legacy",
    name: str = "codex-mcp-client",
    env: Mapping[str, str] | None = None,
    **more: Any,
) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=AGENTPLANE[0],
        args=[*AGENTPLANE[1:], "mcp", *words],
        cwd=folder,
        env={**os.environ, **(env or {})},
    )
    info = Implementation(name=name, version="1")
    async with Client(stdio_client(server), mode=mode, client_info=info, **more) as connected:
        yield connected


Talk = Callable[[Client], Awaitable[Any]]


def talk(folder: Path, said: Talk, *words: str, **more: Any) -> Any:
    """Lets a client do what `said` does, and gives what that returns."""

    async def run() -> Any:
        with anyio.fail_after(120):
            async with client(folder, *words, **more) as connected:
                return await said(connected)

    return anyio.run(run)


def call(folder: Path, tool: str, *words: str, env: Mapping[str, str] | None = None, **arguments: Any) -> Any:
    """One call of a tool, by a client of its own."""

    async def said(connected: Client) -> Any:
        return await connected.call_tool(tool, arguments)

    return talk(folder, said, *words, env=env)


class Raw:
    """A server as a bare process: lines in, lines out."""

    def __init__(self, folder: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [*AGENTPLANE, *words, "mcp"],
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def send(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.stdout.readline())
        return found

    def ask(self, id_: int, method: str, **params: Any) -> None:
        self.send(msgspec.json.encode({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}))

    def answer(self, id_: int) -> dict[str, Any]:
        """The answer to a question; what comes before it is passed over."""
        while (found := self.read()).get("id") != id_:
            pass
        return found

    def greet(self) -> dict[str, Any]:
        info = {"name": "raw", "version": "1"}
        self.ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        answer = self.answer(0)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def ended(self, seconds: float = 60) -> int:
        """Waits for its end. Its exit code."""
        return self.process.wait(timeout=seconds)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


@pytest.fixture
def raw() -> Iterator[Callable[..., Raw]]:
    started: list[Raw] = []

    def start(folder: Path, *words: str, **more: Any) -> Raw:
        started.append(Raw(folder, *words, **more))
        return started[-1]

    yield start
    for one in started:
        one.close()


def until(said: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not said():
        assert time.monotonic() < end
        time.sleep(0.02)
