"""The command restart, which lists and restarts sessions of coding tools."""

import click
import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.cli.report import session_row
from agentplane.errors import BadInput
from agentplane.text.visible import one_line, visible
from agentplane.tools.sessions import resume_command, sessions
from agentplane.tools.sessions.restart import Outcome
from agentplane.tools.sessions.sessions import Session


_MARKS = {"current": "●", "old": "~", "unknown": "?"}
_TITLES = {tool.name: tool.title for tool in TOOLS}
_STATES = {"current": "current", "old": "outdated", "unknown": "unknown"}
_DONE = ("restarted", "waits")


@command("restart", "restart 15899", "restart --all")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "every", is_flag=True, help="Restart all sessions that use outdated memory.")
@json_option
def restart_command(ids: tuple[str, ...], every: bool, as_json: bool) -> int:
    """List running tool sessions, or restart the sessions that use outdated memory.

    Pass --all, a run ID or a process ID to restart sessions that were started with `agentplane run`. agentplane waits
    until a session is idle, then resumes the conversation with the current memory. For other sessions, agentplane
    prints the command that resumes them.

    If a tool doesn't report when it is idle, --all skips its session. If you pass the ID of the session, agentplane
    restarts the session immediately.
    """
    if ids and every:
        raise BadInput("Use either session IDs or --all, not both.")
    plane = opened(deciding="restarting" if ids or every else None)
    found = plane.tools.sessions()
    wanted = [_named(found, name) for name in ids] if ids else sessions.old(found) if every else []
    outcomes = {
        one.pid: one
        for one in plane.tools.restart([one for one in wanted if one.asked and (ids or one.hooked)])
    }
    if as_json:
        rows = [
            session_row(one) | {"outcome": msgspec.to_builtins(outcomes.get(one.pid))}
            for one in (wanted if ids or every else found)
        ]
        output.emit("restart", revision=plane.status().revision, sessions=rows)
    elif ids or every:
        _print_outcomes(wanted, outcomes)
    else:
        _list(plane, found)
    return int(
        any(
            one.pid not in outcomes or outcomes[one.pid].state not in _DONE
            for one in wanted
            if not one.reloads
        )
    )


def _named(found: list[Session], name: str) -> Session:
    for one in found:
        if name in (str(one.pid), one.run_id, (one.run_id or "-").partition("-")[2]):
            return one
    raise BadInput(
        f"Session not found: {one_line(name, 40)}.",
        todo="Run `agentplane restart` to list sessions and their IDs.",
    )


def _list(plane: Plane, found: list[Session]) -> None:
    if not found:
        output.note("No tool sessions are running in this project.")
        return
    for one in found:
        cells = [
            (f"{_MARKS[one.state]} {_TITLES[one.tool]}", 24),
            (f"pid {one.pid}", 12),
            (output.age(one.since), 12),
        ]
        memory = f"memory revision {one.revision}" if one.revision else "memory revision unknown"
        output.line(output.row(cells, f"{memory}, {_STATES[one.state]}" if one.revision else memory))
        if one.state != "current":
            output.line(f"  {way_to_update(one)}")
    output.note(f"Current memory revision: {plane.status().revision}")


def way_to_update(one: Session) -> str:
    """Return the way in which a session gets the current memory."""
    if one.reloads:
        return "always uses current memory"
    if one.state == "current":
        return "up to date"
    if one.scripted:
        return "was started by a script and ends automatically"
    if one.asked:
        when = (
            "when idle"
            if one.hooked
            else "immediately, because the tool doesn't report when the session is idle"
        )
        return f"`agentplane restart {one.pid}` to restart it {when}"
    if one.resume:
        return f"end the session, then run: {_typed(one.folder, one.resume)}"
    return "can't be resumed, because the session ID is unknown. End the session and start a new one"


def _print_outcomes(wanted: list[Session], outcomes: dict[int, Outcome]) -> None:
    if not wanted:
        output.note("All sessions are up to date.")
    for one in wanted:
        name = f"{_TITLES[one.tool]} (pid {one.pid})"
        outcome = outcomes.get(one.pid)
        if outcome is None:
            output.note(f"{name}: {way_to_update(one)}")
        elif outcome.state == "restarted":
            output.note(f"{name}: restarted, run {outcome.now}")
        elif outcome.state == "waits":
            output.note(f"{name}: restarts when idle (now: {one_line(outcome.why, 100)})")
        else:
            output.note(f"{name}: not restarted ({one_line(outcome.why, 100)})")
            if one.resume and outcome.state == "refused" and one.state == "old":
                output.note(f"  To update the session, end it and run: {_typed(one.folder, one.resume)}")


def _typed(folder: str, words: list[str]) -> str:
    return visible(resume_command.shown(folder, words))
