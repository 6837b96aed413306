"""The command run log, which logs runs that took place outside of agentplane."""

import codecs
import os
import sys
from typing import Any

import click
import msgspec

from agentplane.api import Logged, Plane
from agentplane.cli import complete, output
from agentplane.cli.help import command as a_command
from agentplane.cli.open import json_option, opened
from agentplane.errors import BadInput
from agentplane.text.json import decode
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


_FIXED = {"task": "--task", "tool": "--tool", "exit_status": "--exit"}
"""The options for fields that an open run already has."""
_one_event = decode.Json(dict[str, Any])


@a_command(
    "run log --tool codex --summary 'Fixed the flaky test.' --exit 0",
    "run log --add --fact 'The API answers 429.' --receipt app/api.py:3",
    "run log --stdin < events.jsonl",
)
@click.option("--task", metavar="TASK", help="Task of the run.")
@click.option("--tool", metavar="NAME", help="Tool or person that did the work.")
@click.option("--summary", metavar="TEXT", help="Summary of the changes and the reason for them.")
@click.option("--exit", "exit_status", type=int, metavar="N", help="Exit code.")
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="PATH",
    shell_complete=complete.files,
    help="File that the run produced. Can be repeated.",
)
@click.option(
    "--fact", "facts", multiple=True, metavar="TEXT", help="Fact to propose as a candidate. Can be repeated."
)
@click.option("--next", "next_actions", multiple=True, metavar="TEXT", help="Next step. Can be repeated.")
@click.option(
    "--receipt",
    "receipts",
    multiple=True,
    metavar="REF",
    help="Proof of the result: a path, commit or URL. Can be repeated.",
)
@click.option(
    "--stdin",
    "from_stdin",
    is_flag=True,
    help="Read runs from standard input, each as a JSON object on its own line.",
)
@click.option(
    "--add", is_flag=True, help="Add the information to the current run instead of logging a new run."
)
@json_option
def run_log_command(from_stdin: bool, add: bool, as_json: bool, **given: Any) -> None:
    """Log a run that took place outside `agentplane run`, and print its ID.

    agentplane fills in missing fields where it can: the time, the ID, the parent run, the task, the tool and the hashes
    of the output files.
    """
    plane = opened()
    event = _event(given)
    if from_stdin:
        if event:
            raise BadInput(
                "--stdin can't be combined with other fields.",
                todo="Put these fields into the events instead.",
            )
        _log_lines(plane, as_json=as_json)
        return
    if not event:
        raise BadInput(
            "Nothing to log.", todo="Pass --summary or another field, or pass events with --stdin."
        )
    if add:
        _add(plane, event, as_json=as_json)
        return
    _print_logged(plane.runs.log(event), as_json=as_json)


def _add(plane: Plane, event: dict[str, Any], *, as_json: bool) -> None:
    """Add to the run that this process belongs to. The run's event is written when the run ends."""
    from agentplane.runs.open.find import open_run_here

    found = open_run_here(plane.layout, os.environ, os.getpid())
    run_id = found.run_id if found else os.environ.get("AGENTPLANE_RUN_ID", "")
    if not run_id:
        raise BadInput(
            "--add works only inside `agentplane run` or in a tool session with agentplane's hooks.",
            todo="Omit --add to log a separate run.",
        )
    if fixed := [option for field, option in _FIXED.items() if field in event]:
        what = f"{' and '.join(fixed)} can't be combined with --add, because the current run already has that information."
        raise BadInput(what, todo=f"Omit {' and '.join(fixed)}, or omit --add to log a separate run.")
    plane.runs.note(run_id, event)
    _print_logged(Logged(run_id), as_json=as_json)


def _event(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields from the command line as an event."""
    lists = {"facts": "derived_facts", "next_actions": "next_actions", "receipts": "receipts"}
    event = {key: given[key] for key in ("task", "tool", "summary", "exit_status") if given[key] is not None}
    if "tool" in event:
        from agentplane.runs.open.open_run import tool_named

        event["tool"] = tool_named(event["tool"])
    event |= {name: list(given[key]) for key, name in lists.items() if given[key]}
    if given["outputs"]:
        event["outputs"] = [{"path": path} for path in given["outputs"]]
    return event


def _log_lines(plane: Plane, *, as_json: bool) -> None:
    """Log events as they arrive, so that a program can keep the pipe open.

    An invalid event ends the command. Earlier events stay in the log.
    """
    if sys.stdin.isatty():
        output.note("Type one event per line, as a JSON object. Press Ctrl-D to finish.")
    written = 0
    for number, row in enumerate(sys.stdin.buffer, 1):
        # Shells on Windows start piped text with a byte order mark.
        line = row.removeprefix(codecs.BOM_UTF8) if number == 1 else row
        if not line.strip():
            continue
        try:
            _print_logged(plane.runs.log(_one_event.decode(line)), as_json=as_json)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _bad_line(f"Not a JSON object: {error}", number, written) from None
        except BadInput as error:
            field = f"{error.where}: " if error.where not in (None, "event") else ""
            raise _bad_line(f"{field}{error.what}", number, written) from None
        written += 1


def _bad_line(what: str, number: int, written: int) -> BadInput:
    before = (
        f"{counted(written, 'event', 'events')} before this line {'was' if written == 1 else 'were'} logged."
        if written
        else "Nothing was logged."
    )
    return BadInput(
        one_line(what, 200), where=f"Line {number}", todo=f"Fix line {number} and try again. {before}"
    )


def _print_logged(logged: Logged, *, as_json: bool) -> None:
    if as_json:
        output.emit_line("log", **msgspec.to_builtins(logged))
        return
    output.line(logged.run_id)
    for refused in logged.refused:
        output.note(f"A fact was refused: {one_line(refused, 160)}")
