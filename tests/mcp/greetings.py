"""Makes agentplane/mcp/greetings.json with the library: `python -m tests.mcp.greetings`."""

import os
import subprocess
import sys
from typing import Any

import msgspec
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from agentplane.mcp import client, fast_handshake, server, stdio
from agentplane.mcp.line_io import Line


PLAIN = (sys.executable, "-m", "tests.mcp.greetings", "plain")
"""The server without what answers before the library is loaded."""


def answers(command: tuple[str, ...], version: str) -> list[dict[str, Any]]:
    """What a client of this version gets to see first."""
    asked = [
        {"id": "first", "method": fast_handshake.INITIALIZE, "params": _client(version)},
        {"method": fast_handshake.INITIALIZED},
        *({"id": number, "method": method} for number, method in enumerate(fast_handshake.ASKED)),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        got = []
        for message in asked:
            process.stdin.write(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
            process.stdin.flush()
            if "id" in message:
                got.append(msgspec.json.decode(process.stdout.readline()))
        process.stdin.close()
    return got


def _client(version: str) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


def made() -> fast_handshake.Greetings:
    versions = tuple(HANDSHAKE_PROTOCOL_VERSIONS)
    first, *rest = answers(PLAIN, versions[-1])
    initialize = {key: value for key, value in first["result"].items() if key != "protocolVersion"}
    return fast_handshake.Greetings(
        versions,
        initialize,
        {method: answer["result"] for method, answer in zip(fast_handshake.ASKED, rest, strict=True)},
    )


def main() -> None:
    if sys.argv[1:] == ["plain"]:
        server.quiet()
        runner = client.CallRunner(None, None, os.environ, asks_roots=True)
        os._exit(stdio.serve(server.server(runner), runner, Line(), fast_handshake.Greeted()))
    text = msgspec.json.format(msgspec.json.encode(made()), indent=2)
    fast_handshake.GREETINGS_FILE.write_bytes(text + b"\n")


if __name__ == "__main__":
    main()
