"""HTTP on this machine, for clients that can't start a process.

Each request needs a bearer token.
"""

import hmac
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agentplane.errors import BadInput, PlaneError
from agentplane.mcp import limits
from agentplane.mcp.client import CallRunner
from agentplane.text import private


HOST = "127.0.0.1"
PATH = "/mcp"
TOKEN = "AGENTPLANE_MCP_TOKEN"  # noqa: S105 -- the name of a variable
_LEAST = 16
_GRACE = 2
_LAST_WRITE = 5.0


class Bearer:
    """Allows requests with the token, and refuses all others without details."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and not self._may_pass(scope["headers"]):
            refusal = Response(
                "A bearer token is required.", status_code=401, headers={"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _may_pass(self, headers: list[tuple[bytes, bytes]]) -> bool:
        given = [value for name, value in headers if name == b"authorization"]
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._wanted)


def token_of(environ: Mapping[str, str], file: str | None) -> tuple[str, bool]:
    """Return the token, and True if it is new."""
    if file is not None:
        return _checked(private.read(file), file), False
    if environ.get(TOKEN):
        return _checked(environ[TOKEN].strip(), TOKEN), False
    return secrets.token_urlsafe(32), True


def _checked(token: str, where: str) -> str:
    if len(token) < _LEAST or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(
            f"The token must have at least {_LEAST} printable ASCII characters and no spaces.",
            where=where,
            todo="Create a token with `openssl rand -hex 32`.",
        )
    return token


def bound(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port), backlog=64)
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise PlaneError(what, where=f"{HOST}:{port}", todo="Choose a different port with --port.") from None


def app(made: Server[Any], token: str, port: int) -> ASGIApp:
    """Return the ASGI application.

    It checks Host and Origin, so that web pages in a browser can't send requests.
    """
    hosts = [f"{name}:{port}" for name in (HOST, "localhost")]
    security = TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )
    inner = made.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    return Bearer(inner, token)


def serve(made: Server[Any], runner: CallRunner, port: int, token: str, *, print_token: bool) -> int:
    """Serve until a signal comes.

    With `print_token`, the token is new and is printed this one time.
    """
    with bound(port) as listening:
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            app(made, token, port),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
            ws="none",
        )
        sys.stderr.write(f"Serving http://{HOST}:{port}{PATH}\n")
        sys.stderr.write(
            f"token: {token}\n" if print_token else "Each request must include the token that you set.\n"
        )
        sys.stderr.flush()
        anyio.run(_serve, _Quiet(config), listening)
    if runner.write_lock.acquire(timeout=_LAST_WRITE):
        limits.end()
        runner.write_lock.release()
    return 0


class _Quiet(uvicorn.Server):
    """Leaves the signals to agentplane, because uvicorn would raise them again at its end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(running: uvicorn.Server, listening: socket.socket) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_signal, running)
        await running.serve(sockets=[listening])
        tasks.cancel_scope.cancel()


async def _until_signal(running: uvicorn.Server) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            running.should_exit = True
