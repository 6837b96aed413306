"""The plane and the actor of a client, and the threads that work on its calls.

Nothing is opened before the first call that needs it. Each call opens the plane again, because the plane may
have been created, moved or deleted since the last call. Data that the process has in memory is first compared
with the files (`plane/derived/server_memory.py`).
"""

import os
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from agentplane.agents.catalog import of_client, tool_in
from agentplane.errors import AgentplaneError, BadInput
from agentplane.mcp import limits
from agentplane.text.visible import one_line


if TYPE_CHECKING:
    from agentplane.api import Plane
    from agentplane.mcp.session import Key, Session
    from agentplane.review.feedback import Feedback

Call = ServerRequestContext[Any, Any]
_Answer = TypeVar("_Answer")

_ROOTS_SECONDS = 3.0
_STEPS = 4
_MOST_READING, _MOST_WRITING = 8, 2
"""Number of calls that work at the same time. Calls that wait to write leave room for calls that read."""


class CallLimits:
    """The limits that the calls of one event loop share."""

    def __init__(self) -> None:
        self.reading = anyio.CapacityLimiter(_MOST_READING)
        self.writing = anyio.CapacityLimiter(_MOST_WRITING)
        self.asking = anyio.Lock()


class CallRunner:
    """Serves one process, which has one client over stdio and any number of clients over HTTP."""

    def __init__(
        self, plane: str | None, tool: str | None, environ: Mapping[str, str], *, asks_roots: bool
    ) -> None:
        self._plane = plane
        self._tool = tool
        self._environ = environ
        self._asks_roots = asks_roots
        self._roots: list[str] | None = None
        self._own: dict[Key, str] = {}
        self._seen_failures: dict[Key, set[str]] = {}
        self._told: dict[Key, tuple[Feedback, ...]] = {}
        self._call_limits: CallLimits | None = None
        self.write_lock = threading.Lock()
        """The lock while a call may write, so that the process can wait for it before it ends."""

    def forget_roots(self) -> None:
        self._roots = None

    async def run(self, call: Call, work: "Callable[[Session], _Answer]", *, reads: bool) -> _Answer:
        """Do the work of a call in a thread.

        A cancellation takes effect at the next step, before anything is written.
        """
        roots = await self._asked_roots(call)
        actor = self._tool or _named(call) or tool_in(self._environ) or "unnamed"
        # Reporting takes a switch to the thread of the event loop and back, even if the client didn't ask for it.
        reports = call.meta is not None and call.meta.get("progress_token") is not None
        done = 0

        def step(doing: str) -> None:
            nonlocal done
            anyio.from_thread.check_cancelled()
            if reports:
                anyio.from_thread.run(call.session.report_progress, done, _STEPS, doing)
            done += 1

        def job() -> _Answer:
            limits.begin()
            from agentplane.api import Listeners
            from agentplane.mcp.session import Session
            from agentplane.runs.open.find import open_run_here

            plane = self._opened(roots, actor).with_listeners(Listeners(step=step))
            run = open_run_here(plane.layout, self._environ, os.getpid())
            try:
                return work(Session(plane, run, self._own, self._seen_failures, self._told))
            finally:
                limits.after_call()

        def alone() -> _Answer:
            with self.write_lock:
                anyio.from_thread.check_cancelled()
                return job()

        limiter = self._limits.reading if reads else self._limits.writing
        return await anyio.to_thread.run_sync(
            job if reads else alone, abandon_on_cancel=True, limiter=limiter
        )

    @property
    def _limits(self) -> "CallLimits":
        # The first call creates the `CallLimits`, because it belongs to the event loop.
        self._call_limits = self._call_limits or CallLimits()
        return self._call_limits

    def _opened(self, roots: list[str], actor: str) -> "Plane":
        from agentplane.api import open_plane
        from agentplane.plane import layout

        if self._plane is not None:
            if not os.path.isdir(self._plane):
                todo = "Start the server with the path to an .agentplane directory, or run `agentplane init` to create one."
                raise BadInput(f"Directory not found: {one_line(self._plane, 60)}", todo=todo)
            return open_plane(self._plane, channel="mcp", actor=actor)
        for folder in roots:
            try:
                layout.find(Path(folder))
            except AgentplaneError:
                continue
            return open_plane(folder, channel="mcp", actor=actor)
        return open_plane(".", channel="mcp", actor=actor)

    async def _asked_roots(self, call: Call) -> list[str]:
        """Return the folders that the client works in. The client is asked only once."""
        session = call.session
        client_has_roots = (
            session.client_capabilities is not None and session.client_capabilities.roots is not None
        )
        if self._plane is not None or not (
            self._asks_roots and client_has_roots and session.can_send_request
        ):
            return []
        async with self._limits.asking:
            if self._roots is None:
                try:
                    answer = await session.send_request(
                        types.ListRootsRequest(),
                        types.ListRootsResult,
                        request_read_timeout_seconds=_ROOTS_SECONDS,
                    )
                except (MCPError, ValueError):
                    self._roots = []
                else:
                    self._roots = [path for root in answer.roots if (path := _path(str(root.uri)))]
            return self._roots


def _path(uri: str) -> str | None:
    parts = urlsplit(uri)
    path = unquote(parts.path)
    return path if parts.scheme == "file" and path.startswith("/") and "\0" not in path else None


def _named(call: Call) -> str | None:
    """Return the tool from the client's own name."""
    params = call.session.client_params
    return tool_named(params.client_info.name) if params else None


def tool_named(name: str) -> str | None:
    return of_client(name) or re.sub(r"[^\w. -]", "", one_line(name.strip().lower(), 40)).strip() or None
