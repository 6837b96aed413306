"""Serving one client over standard input and output.

The wire has descriptors of its own: whatever else prints in this process goes to standard error, and children get no
input. Reading and writing are left behind when the process is to end: a client that neither reads nor closes
its end cannot hold it.
"""

import fcntl
import os
import signal
import sys
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from mcp.server import Server
from mcp.server.stdio import stdio_server

from agentplane.mcp.desk import Desk


LONGEST = 4 << 20
"""Bytes of one message."""
_LAST_WRITE = 5.0
"""Seconds that an op in progress gets before the process ends. What is cut off is mended when the plane is opened."""


class Wire:
    """Lines in, lines out, over descriptors that nothing else uses."""

    def __init__(self) -> None:
        self._in = os.fdopen(fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3), "rb")
        self._out = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.dup2(2, 1)
        os.close(nowhere)
        self._turn = anyio.Lock()

    def __aiter__(self) -> "Wire":
        return self

    async def __anext__(self) -> str:
        """The next message that is one; what is none is answered here, because the library drops it."""
        while True:
            line = await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)
            if line is None:
                raise StopAsyncIteration
            complaint = _complaint(line)
            if complaint is None:
                return line.decode(errors="replace")
            if complaint:
                await self._send(complaint)

    def _line(self) -> bytes | None:
        """None at the end. A line that is too long is read to its end and comes back cut."""
        line = self._in.readline(LONGEST + 1)
        rest = line
        while len(line) > LONGEST and rest and not rest.endswith(b"\n"):
            rest = self._in.readline(LONGEST)
        return line or None

    async def write(self, text: str) -> None:
        await self._send(text.encode(errors="replace"))

    async def flush(self) -> None:
        """Everything is written at once."""

    async def _send(self, data: bytes) -> None:
        async with self._turn:
            await anyio.to_thread.run_sync(self._write, data, abandon_on_cancel=True)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._out, view) :]


def _complaint(line: bytes) -> bytes | None:
    """The answer to a line that is no message; None: it is one. Empty: it needs no answer."""
    if not line.strip():
        return b""
    if len(line) > LONGEST:
        return _error(None, -32600, f"a message has at most {LONGEST:,} bytes")
    try:
        found: Any = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return _error(None, -32700, "not JSON")
    if not isinstance(found, dict):
        return _error(None, -32600, "not a message: one JSON object a line")
    id_ = found.get("id")
    if isinstance(found.get("method"), str) or "result" in found or "error" in found:
        return None
    return _error(id_ if isinstance(id_, str | int) else None, -32600, "not a message: it has no method")


def _error(id_: str | int | None, code: int, what: str) -> bytes:
    told = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": what}}
    return msgspec.json.encode(told) + b"\n"


def serve(made: Server[Any], desk: Desk) -> int:
    """Serves until the client closes its end or a signal comes."""
    # A closed pipe is told by the write that fails, and the first signal ends the server as the end of input does.
    anyio.run(_serve, made)
    if desk.writing.acquire(timeout=_LAST_WRITE):
        desk.writing.release()
    return 0


async def _serve(made: Server[Any]) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_signal, tasks.cancel_scope)
        wire: Any = Wire()
        try:
            async with stdio_server(stdin=wire, stdout=wire) as (read, write):
                await made.run(read, write, made.create_initialization_options())
        except* OSError as gone:
            sys.stderr.write(f"agentplane mcp: the client is gone ({gone.exceptions[0]})\n")
        tasks.cancel_scope.cancel()


async def _until_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            scope.cancel()
            return
