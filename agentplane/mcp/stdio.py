"""One client over standard input and output.

At its end, the process abandons pending reads and writes. So a client that doesn't read or doesn't close its
end can't keep it alive.
"""

import json
import signal
import sys
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from agentplane.mcp import limits
from agentplane.mcp.client import CallRunner
from agentplane.mcp.fast_handshake import Greeted
from agentplane.mcp.line_io import LONGEST, Line
from agentplane.text.json import decode


_LAST_WRITE = 5.0
"""Seconds for an operation in progress before the process ends. Opening the plane repairs a partial
operation.
"""


class Wire:
    """The streams for the library. Messages from the handshake come first."""

    def __init__(self, line: Line, greeted: Greeted) -> None:
        self._line = line
        self._messages = list(greeted.messages)
        self._answered_id = greeted.answered_id
        self._turn = anyio.Lock()

    def __aiter__(self) -> "Wire":
        return self

    async def __anext__(self) -> str:
        """Return the next valid message. An invalid line is answered here, because the library drops it."""
        while True:
            line = self._messages.pop(0) if self._messages else await self._read()
            if line is None:
                raise StopAsyncIteration
            complaint = _complaint(line)
            if complaint is None:
                return line.decode(errors="replace")
            if complaint:
                await self._send(complaint)

    async def _read(self) -> bytes | None:
        return await anyio.to_thread.run_sync(self._line.read, abandon_on_cancel=True)

    async def write(self, text: str) -> None:
        if self._answered_id is not None and decode.Json().decode(text).get("id") == self._answered_id:
            self._answered_id = None
            return
        await self._send(text.encode(errors="replace"))

    async def flush(self) -> None:
        """Do nothing, because each write is sent at once."""

    async def _send(self, data: bytes) -> None:
        async with self._turn:
            await anyio.to_thread.run_sync(self._line.write, data, abandon_on_cancel=True)


def _complaint(line: bytes) -> bytes | None:
    """Return the answer to an invalid line.

    Return None for a valid message, and empty bytes if no answer is needed.
    """
    if not line.strip():
        return b""
    if len(line) > LONGEST:
        return _error(None, -32600, f"the message is longer than {LONGEST:,} bytes")
    try:
        found: Any = decode.Json().decode(line)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return _refused(line)
    if not isinstance(found, dict):
        return _error(None, -32600, "invalid message: expected one JSON object per line")
    wrong = _wrong(found)
    if wrong is None:
        return None
    waits = "id" in found or "method" not in found
    return _error(_id(found), *wrong) if waits else b""


def _wrong(found: dict[str, Any]) -> tuple[int, str] | None:
    """Return the error code and the reason if an object is not a message. Return None for a message."""
    if "result" in found or "error" in found:
        return None  # an answer is never answered
    if not isinstance(found.get("method"), str):
        return -32600, "invalid message: `method` is missing"
    if found.get("jsonrpc") != "2.0":
        return -32600, 'invalid message: `"jsonrpc": "2.0"` is missing'
    if "id" in found and _id(found) is None:
        return -32600, "invalid message: `id` must be a whole number or text"
    if not isinstance(found.get("params"), dict | None):
        return -32602, "`params` must be an object"
    return None


def _refused(line: bytes) -> bytes:
    """Return the error for text that the decoder refuses.

    Some clients escape half a character, or write NaN as JSON. The error has the ID of the request, so that
    the client doesn't wait.
    """
    try:
        found: Any = json.loads(line)
    except (RecursionError, ValueError):
        return _error(None, -32700, "invalid JSON")
    id_ = _id(found) if isinstance(found, dict) else None
    return _error(id_, -32700, "invalid JSON: an unpaired surrogate, or a number such as NaN")


def _id(found: dict[str, Any]) -> str | int | None:
    id_ = found.get("id")
    if isinstance(id_, str):
        return None if any("\ud800" <= char <= "\udfff" for char in id_) else id_
    return id_ if isinstance(id_, int) and not isinstance(id_, bool) and abs(id_) < 1 << 53 else None


def _error(id_: str | int | None, code: int, what: str) -> bytes:
    message = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": what}}
    return msgspec.json.encode(message) + b"\n"


def serve(made: Server[Any], runner: CallRunner, line: Line, greeted: Greeted) -> int:
    """Serve until the client closes its end or a signal comes."""
    # A failed write reveals a closed pipe. The first signal ends the server in the same way as the end of
    # input.
    anyio.run(_serve, made, line, greeted)
    if runner.write_lock.acquire(timeout=_LAST_WRITE):
        limits.end()
        runner.write_lock.release()
    return 0


async def _serve(made: Server[Any], line: Line, greeted: Greeted) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_signal, tasks.cancel_scope)
        wire: Any = Wire(line, greeted)
        try:
            async with stdio_server(stdin=wire, stdout=wire) as (read, write):
                await made.run(read, write, made.create_initialization_options())
        except* OSError as gone:
            sys.stderr.write(f"agentplane mcp: the client disconnected ({gone.exceptions[0]})\n")
        tasks.cancel_scope.cancel()


async def _until_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            scope.cancel()
            return
