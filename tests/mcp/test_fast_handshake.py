"""What a client gets before the library is loaded is what the library would answer."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.mcp import fast_handshake
from tests.conftest import ROOT
from tests.e2e.terminal import AGENTPLANE
from tests.mcp import greetings


COMMAND = (*AGENTPLANE, "mcp")


def test_what_is_kept_is_what_the_library_says() -> None:
    """Made anew by `python -m tests.mcp.greetings`."""
    assert (
        msgspec.json.decode(fast_handshake.GREETINGS_FILE.read_bytes(), type=fast_handshake.Greetings)
        == greetings.made()
    )


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", "1999-01-01"])
def test_every_version_is_answered_as_by_the_library(version: str) -> None:
    assert greetings.answers(COMMAND, version) == greetings.answers(greetings.PLAIN, version)


class Raw:
    """A client that says just what it is told to."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            COMMAND, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def say(self, *messages: object) -> None:
        assert self.process.stdin
        for message in messages:
            data = message if isinstance(message, bytes) else msgspec.json.encode(message)
            self.process.stdin.write(data + b"\n")

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        return msgspec.json.decode(self.process.stdout.readline(), type=dict[str, Any])

    def close(self) -> Sequence[bytes]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        rest = self.process.stdout.read().splitlines()
        assert self.process.wait(60) == 0
        self.process.stdout.close()
        return rest


HELLO = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": greetings._client("2025-06-18")}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def asks(id_: object, method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def test_a_call_after_the_greeting_is_answered_and_nothing_is_answered_twice(plane: Plane) -> None:
    raw = Raw(plane.layout.project)
    raw.say(
        HELLO, READY, asks(8, "tools/list"), asks(9, "tools/call", name="recall", arguments={"query": "x"})
    )
    heard = [raw.hear() for _ in range(3)]
    assert [one["id"] for one in heard] == [7, 8, 9]
    assert heard[2]["result"]["structuredContent"] == {"results": []}
    raw.say(asks(10, "tools/list"), HELLO | {"id": 11})
    assert {raw.hear()["id"], raw.hear()["id"]} == {10, 11}
    assert raw.close() == []


def test_a_page_of_tools_and_noise_go_to_the_library(plane: Plane) -> None:
    raw = Raw(plane.layout.project)
    raw.say(HELLO, READY, asks(8, "tools/list", _meta={"progressToken": 1}), b"noise", asks(9, "ping"))
    heard = [raw.hear() for _ in range(4)]
    assert [one["id"] for one in heard] == [7, 8, None, 9]
    assert heard[2]["error"]["code"] == -32700
    assert raw.close() == []


def test_a_client_that_asks_before_it_is_ready_is_the_librarys(plane: Plane) -> None:
    raw = Raw(plane.layout.project)
    raw.say(asks(1, "tools/call", name="recall", arguments={}))
    assert raw.hear()["id"] == 1
    assert raw.close() == []


def test_a_client_that_goes_at_once_is_no_failure(plane: Plane) -> None:
    assert Raw(plane.layout.project).close() == []


@pytest.mark.timing
def test_the_greeting_does_not_wait_for_the_library(plane: Plane) -> None:
    """Held against the time in which the library alone can be loaded, in the same minute."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", "import agentplane.mcp.stdio, agentplane.mcp.server"], check=True, cwd=ROOT
    )
    library = time.perf_counter() - begin
    begin = time.perf_counter()
    raw = Raw(plane.layout.project)
    raw.say(HELLO, READY, asks(8, "tools/list"))
    raw.hear()
    raw.hear()
    greeted = time.perf_counter() - begin
    raw.close()
    assert greeted < library
