"""Restarts of sessions with outdated memory, from the request to the new command and the outcome."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from agentplane.agents.catalog import BY_NAME
from agentplane.agents.model import Tool
from agentplane.plane.layout import Layout
from agentplane.plane.store.store import Store, timestamp
from agentplane.runs.open import hook_notes, open_run
from agentplane.runs.open.open_run import OpenRun, RunSpec
from agentplane.runs.restart import requests
from agentplane.runs.restart.requests import Again, Decision, Never, Request
from agentplane.system import processes
from agentplane.tools.sessions import id_from_files, resume_command, sessions
from agentplane.tools.sessions.sessions import Session


PATIENCE = 6.0
"""Seconds to wait for the outcome of a request. They give a session with hooks time to report a prompt."""
_LOOK_SECONDS = 0.05


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a restart request for one session."""

    tool: str
    pid: int
    run_id: str | None
    state: Literal["restarted", "waits", "refused", "ended"]
    why: str = ""
    now: str | None = None
    """The current run of the session."""


def restarter(
    store: Store, asked: RunSpec, variables: Mapping[str, str]
) -> Callable[[OpenRun, RunSpec, Request], Decision] | None:
    """Return a function that decides about restart requests for a command.

    Return None if the command isn't a session that its tool can resume.
    """
    place = sessions.program_place(asked.command)
    tool = BY_NAME.get(asked.tool or "", place[0] if place else None)
    if tool is None or not tool.resume or tool.reloads or sessions.is_scripted(tool, asked.command):
        return None
    return lambda run, exact, request: _decide(store, tool, run, exact, request, variables)


def _decide(
    store: Store, tool: Tool, run: OpenRun, exact: RunSpec, request: Request, variables: Mapping[str, str]
) -> Decision:
    """Decide about a request. `exact` has the unmasked command. The open run's file has masked secrets."""
    now = store.snapshot().ledger.revision()
    given = sessions.given_to(store.layout, run, tool)
    if given is None:
        return Never("the session's memory revision is unknown")
    if given == now:
        return Never("the session already has the current memory")
    if request.auto and run.session is None:
        return Never("the session doesn't report when it is idle, so agentplane restarts it only on request")
    id_ = _id(store.layout, tool, run, exact, variables)
    if id_ is None and not _is_empty(store.layout, run):
        return Never("the session ID is unknown, so the session can't be resumed")
    words = resume_command.command(tool, exact.command, id_)
    if words is None:
        return Never(f"{tool.title} has no command to resume a session")
    return Again(words, f"memory updated to {now}, resuming session…", now)


def _id(layout: Layout, tool: Tool, run: OpenRun, exact: RunSpec, variables: Mapping[str, str]) -> str | None:
    if run.session and run.session.id:
        return None if _is_empty(layout, run) else run.session.id
    if id_ := sessions.id_in(tool, exact.command):
        return id_
    others = [one for one in sessions.here(layout, "", variables, closely=False) if one.run_id != run.run_id]
    if any((one.tool, one.folder) == (tool.name, exact.cwd) for one in others):
        return None
    began = datetime.fromisoformat(run.started).timestamp()
    return id_from_files.only_one(tool, exact.cwd, began, variables)


def _is_empty(layout: Layout, run: OpenRun) -> bool:
    """True if a session has no prompt yet. Tools have no file of such a session, so they can't resume it."""
    session = run.session
    if session is None or not session.transcript or os.path.lexists(session.transcript):
        return False
    return hook_notes.prompt_of(str(layout.root), run.run_id) is None


def ask(store: Store, wanted: Iterable[Session], by: str, *, auto: bool = False) -> list[Session]:
    """Request a restart of the sessions that can be asked. Return these sessions."""
    request = Request(timestamp(store.clock()), by, auto)
    return [one for one in wanted if one.run_id and requests.ask(store.layout, one.run_id, request)]


def outcomes(layout: Layout, asked: Sequence[Session], patience: float = PATIENCE) -> list[Outcome]:
    """Return the outcomes of requests after waiting at most `patience` seconds."""
    until = time.monotonic() + patience
    while True:
        found = [_outcome(layout, one) for one in asked]
        if all(one.state != "waits" for one in found) or time.monotonic() > until:
            return found
        time.sleep(_LOOK_SECONDS)


def _outcome(layout: Layout, one: Session) -> Outcome:
    def outcome(
        state: Literal["restarted", "waits", "refused", "ended"], why: str = "", now: str | None = None
    ) -> Outcome:
        return Outcome(one.tool, one.pid, one.run_id, state, why, now)

    run = open_run.load(layout, one.run_id or "")
    if run is None or run.ending is not None:
        follower = next((r for r in open_run.every(layout) if r.asked.parent_run_id == one.run_id), None)
        if follower and follower.pid == one.pid:
            return outcome("restarted", now=follower.run_id)
        return (
            outcome("waits", "the session is being restarted")
            if processes.started_at(one.pid)
            else outcome("ended", "the session has ended")
        )
    reply = requests.reply(layout, run.run_id)
    if reply and reply.state == "refused":
        return outcome("refused", reply.why)
    return outcome("waits", reply.why if reply else "the session has not responded yet")
