"""The command restart, which lists and restarts sessions of coding tools."""

import click
import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.cli import output
from agentplane.cli.open import json_option, opened
from agentplane.cli.report import session_row
from agentplane.errors import BadInput
from agentplane.text.visible import one_line, visible
from agentplane.tools.sessions import resume_command, sessions
from agentplane.tools.sessions.restart import Outcome
from agentplane.tools.sessions.sessions import Session


_MARKS = {"current": "●", "old": "~", "unknown": "?"}
_TITLES = {tool.name: tool.title for tool in TOOLS}
_DONE = ("restarted", "waits")


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "every", is_flag=True, help="All that have old memory.")
@json_option
def restart_command(ids: tuple[str, ...], every: bool, as_json: bool) -> int:
    """The sessions of coding tools that run here, and which of them still have old memory.

    With ids (of a run or a process) or --all, those that `agentplane run` runs are ended once they are idle, and go on
    with the tool's own command for that; for the others the command is shown. A session whose hooks don't tell when it is
    idle is restarted only by its id, and then at once.
    """
    if ids and every:
        raise BadInput("--all names them already", todo="leave out one of the two.")
    plane = opened(deciding="restarting" if ids or every else None)
    found = plane.tools.sessions()
    wanted = [_named(found, name) for name in ids] if ids else sessions.old(found) if every else []
    outcomes = {
        one.pid: one
        for one in plane.tools.restart([one for one in wanted if one.asked and (ids or one.hooked)])
    }
    if as_json:
        rows = [
            session_row(one) | _outcome_fields(outcomes.get(one.pid))
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


def _outcome_fields(outcome: Outcome | None) -> dict[str, object]:
    return {"outcome": msgspec.to_builtins(outcome) if outcome else None}


def _named(found: list[Session], name: str) -> Session:
    for one in found:
        if name in (str(one.pid), one.run_id, (one.run_id or "-").partition("-")[2]):
            return one
    raise BadInput(
        f"no session `{one_line(name, 40)}` runs here",
        todo="`agentplane restart` lists them, with their numbers.",
    )


def _list(plane: Plane, found: list[Session]) -> None:
    if not found:
        output.note("no session of a coding tool runs here.")
        return
    for one in found:
        cells = [
            (f"{_MARKS[one.state]} {_TITLES[one.tool]}", 24),
            (f"pid {one.pid}", 12),
            (output.age(one.since), 12),
        ]
        memory = f"memory {one.revision}" if one.revision else "memory unknown"
        output.line(output.row(cells, f"{memory}, {one.state}" if one.revision else memory))
        if one.state != "current":
            output.line(f"  {way_to_update(one)}")
    output.note(f"memory is at {plane.status().revision}")


def way_to_update(one: Session) -> str:
    """Return the way in which a session gets the current memory."""
    if one.reloads:
        return "reads it by itself"
    if one.state == "current":
        return "has it"
    if one.scripted:
        return "works for a script, and ends by itself"
    if one.asked:
        when = "when it is idle" if one.hooked else "at once: its hooks don't tell when it is idle"
        return f"`agentplane restart {one.pid}` restarts it {when}"
    if one.resume:
        return f"end it, then type: {_typed(one.folder, one.resume)}"
    return "end it and start it again: its session's id is not known"


def _print_outcomes(wanted: list[Session], outcomes: dict[int, Outcome]) -> None:
    if not wanted:
        output.note("no session has old memory.")
    for one in wanted:
        name = f"{_TITLES[one.tool]} (pid {one.pid})"
        outcome = outcomes.get(one.pid)
        if outcome is None:
            output.note(f"{name}: {way_to_update(one)}")
        elif outcome.state == "restarted":
            output.note(f"{name}: restarted, run {outcome.now}")
        elif outcome.state == "waits":
            output.note(f"{name}: restarts when it is idle; now {one_line(outcome.why, 100)}")
        else:
            output.note(f"{name}: not restarted: {one_line(outcome.why, 100)}")
            if one.resume and outcome.state == "refused" and one.state == "old":
                output.note(f"  end it, then type: {_typed(one.folder, one.resume)}")


def _typed(folder: str, words: list[str]) -> str:
    return visible(resume_command.shown(folder, words))
