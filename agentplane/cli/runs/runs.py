"""The commands run, log, timeline, diff and artifacts."""

import codecs
import os
import sys
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from agentplane.api import Logged, Plane
from agentplane.cli import complete, output
from agentplane.cli.open import json_option, opened
from agentplane.errors import BadInput
from agentplane.text.json import decode
from agentplane.text.visible import one_line


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--task", metavar="TASK", help="The task that it is for; $AGENTPLANE_TASK where it is not said."
)
@click.option(
    "--tool",
    metavar="NAME",
    help="Who works: a coding tool; known by itself for commands such as codex or claude.",
)
@click.option(
    "--prompt", "prompt", metavar="TEXT", help="What the tool was asked; `@FILE` reads it from a file."
)
@click.option(
    "--plan",
    "plan",
    metavar="FILE",
    shell_complete=complete.files,
    help="Plan that the command follows, recorded by path and hash. Needs a layer, a scale and an impact.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="FILE",
    shell_complete=complete.files,
    help="File to copy into the run before the command starts. Can be repeated.",
)
@click.option("--layer", metavar="L0-L6", help="Layer that the plan changes, for example L5.")
@click.option("--scale", metavar="1-10", help="Systemic scale of the plan: how far it reaches.")
@click.option("--impact", metavar="TEXT", help="Impact of the plan: what gets better, and for whom.")
@click.option("--quiet", is_flag=True, help="Say nothing at the end.")
@click.argument(
    "command",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    shell_complete=complete.files,
    metavar="-- COMMAND...",
)
def run_command(
    task: str | None,
    tool: str | None,
    prompt: str | None,
    plan: str | None,
    inputs: tuple[str, ...],
    layer: str | None,
    scale: str | None,
    impact: str | None,
    quiet: bool,
    command: tuple[str, ...],
) -> int:
    """Run a command, and keep what it did in a capsule under runs/.

    The command has the terminal as it would have it alone, and its exit code becomes ours. It finds the id of
    its run in AGENTPLANE_RUN_ID, so that `agentplane log --add` in it adds to this run.
    """
    from agentplane.cli.runs import plan as plans
    from agentplane.runs.events import RUN_ID, TASK, is_run_id
    from agentplane.runs.open import open_run
    from agentplane.runs.open.open_run import RunSpec, tool_named, tool_of

    plane = opened()
    words, parent = list(command), os.environ.get(RUN_ID, "")
    followed = plans.given(plan, plane.layout.project)
    rating = plans.rating(followed, layer, scale, impact)
    asked = RunSpec(
        command=words,
        cwd=os.getcwd(),
        task=task or os.environ.get(TASK) or None,
        tool=tool_named(tool) if tool else tool_of(words),
        prompt=_text(prompt),
        plan=followed.text if followed else None,
        layer=rating.layer,
        systemic_scale=rating.systemic_scale,
        impact=rating.impact,
        followed=followed.inputs if followed else [],
        inputs=list(inputs),
        parent_run_id=parent if is_run_id(parent) else None,
    )
    ran, facts = plane.runs.run(asked)
    if ran.unsealed:
        output.error(ran.unsealed)
        if open_run.load(plane.layout, ran.run_id):
            then = "is not sealed yet; the next `agentplane run` or `doctor --fix` does it."
        else:
            then = "is not sealed, and what was recorded of it is not there any more."
        output.note(f"run {ran.run_id} {then}")
    elif not quiet and sys.stderr.isatty():
        found = f" · {output.count(len(facts), 'fact')} to review" if facts else ""
        output.note(f"run {ran.run_id} · {one_line(ran.words[:1].lower() + ran.words[1:], 100)}{found}")
    return ran.code


@click.command()
@click.option("--task", metavar="TASK", help="The task that it was for.")
@click.option("--tool", metavar="NAME", help="Who did it.")
@click.option("--summary", metavar="TEXT", help="What changed and why.")
@click.option("--exit", "exit_status", type=int, metavar="N", help="The exit code.")
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="PATH",
    shell_complete=complete.files,
    help="A file that it produced; again for more.",
)
@click.option(
    "--fact", "facts", multiple=True, metavar="TEXT", help="What it found out; becomes a candidate."
)
@click.option("--next", "next_actions", multiple=True, metavar="TEXT", help="What is to be done next.")
@click.option(
    "--receipt", "receipts", multiple=True, metavar="REF", help="What proves it: a path, a commit, a URL."
)
@click.option(
    "--stdin", "from_stdin", is_flag=True, help="Read events from standard input, one JSON object a line."
)
@click.option(
    "--add", is_flag=True, help="Add to the run that this is called in, instead of logging another."
)
@json_option
def log_command(from_stdin: bool, add: bool, as_json: bool, **given: Any) -> None:
    """Add a run to the log, from any program, and print its id.

    What is not said is filled in where it can be known: time, id, the run around it, task, tool, hashes of outputs.
    """
    plane = opened()
    event = _event(given)
    if from_stdin:
        if event:
            raise BadInput("--stdin takes no fields beside it", todo="put them into the events.")
        _log_lines(plane, as_json=as_json)
        return
    if not event:
        raise BadInput(
            "nothing to log", todo="say what was done, as with --summary, or give events with --stdin."
        )
    if add:
        _add(plane, event, as_json=as_json)
        return
    _print_logged(plane.runs.log(event), as_json=as_json)


@click.command()
@click.option("--task", metavar="TASK", help="Of this task only.")
@click.option(
    "--since", metavar="TIME", help="From then on: a date, a time, or an age such as 30min, 3h, 2d or 1w."
)
@click.option("--tool", metavar="NAME", help="Of this tool or person only.")
@click.option("--layer", metavar="LAYER", help="Only runs of these layers, for example L5 or L4,L5.")
@click.option("--scale", metavar="RANGE", help="Only runs of these systemic scales: 4, 3..5, >=4 or <=4.")
@click.option(
    "--sort",
    type=click.Choice(["time", "scale", "layer"]),
    default="time",
    show_default=True,
    help="Sort by newest, largest scale or deepest layer first.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many; 30 where it is not said, with --json all.",
)
@json_option
def timeline_command(
    task: str | None,
    since: str | None,
    tool: str | None,
    layer: str | None,
    scale: str | None,
    sort: Literal["time", "scale", "layer"],
    limit: int | None,
    as_json: bool,
) -> None:
    """List what runs and operations did, newest first."""
    from agentplane.cli.runs import rows
    from agentplane.runs import rubric
    from agentplane.runs.query import timeline

    plane = opened()
    start = None if since is None else timeline.since(since, plane.store.clock())
    layers = () if layer is None else rubric.wanted_layers(layer)
    wanted = timeline.Wanted(task, tool, start, layers, None if scale is None else rubric.wanted_range(scale))
    found = timeline.ordered(timeline.rows(plane.layout, wanted), sort)
    if as_json:
        output.emit("timeline", events=list(islice(found, limit)))
        return
    most = limit or rows.PAGE
    page = list(islice(found, most + 1))
    rows.print_timeline(page[:most])
    if not page:
        options = {"--task": task, "--since": since, "--tool": tool, "--layer": layer, "--scale": scale}
        asked = [name for name, value in options.items() if value]
        output.note(f"nothing that fits {' and '.join(asked)}." if asked else "nothing yet.")
    elif len(page) > most:
        output.note("there is more: `--limit` shows it.")


@click.command()
@click.option(
    "--run",
    "run",
    required=True,
    metavar="RUN",
    shell_complete=complete.runs,
    help="The run to look from: its id, or the part behind the dash.",
)
@click.option(
    "--against",
    metavar="RUN",
    shell_complete=complete.runs,
    help="The other one; where it is not said the last one of the log, and for that one the run before it.",
)
@json_option
def diff_command(run: str, against: str | None, as_json: bool) -> None:
    """How two runs differ: how they ended, their files, facts, memory and output.

    The first one is the one before: `+` stands for what only the other one has.
    """
    from agentplane.cli.runs import rows
    from agentplane.runs.query import compare

    report = compare.of(opened().layout, run, against)
    if as_json:
        output.emit("diff", **msgspec.to_builtins(report), same=report.same)
    else:
        rows.print_diff(report)


@click.command()
@click.argument("task", required=False)
@click.option(
    "--verify",
    is_flag=True,
    help="Compare each file with its hash; exit code 1 where one was changed or is gone.",
)
@json_option
def artifacts_command(task: str | None, verify: bool, as_json: bool) -> int:
    """What runs produced, by task: tracked files with the hash that they had when the run ended."""
    from agentplane.cli.runs import rows
    from agentplane.runs.query import artifacts

    plane = opened()
    found = artifacts.listed(plane.store.snapshot().ledger, task)
    if verify:
        found = [artifacts.verified(plane.layout, artifact) for artifact in found]
    if as_json:
        output.emit("artifacts", artifacts=found)
    else:
        rows.print_artifacts(found)
        if not found:
            of = "" if task is None else f" of the task {one_line(task, 40)}"
            output.note(f"no run{of} has produced a file that git tracks.")
    return int(any(artifact.state in ("changed", "gone") for artifact in found))


_SAID_BEFORE = {"task": "--task", "tool": "--tool", "exit_status": "--exit"}


def _add(plane: Plane, event: dict[str, Any], *, as_json: bool) -> None:
    """Add to the run that this process belongs to. The run's event is written when the run ends."""
    from agentplane.runs.open.find import open_run_here

    found = open_run_here(plane.layout, os.environ, os.getpid())
    run_id = found.run_id if found else os.environ.get("AGENTPLANE_RUN_ID", "")
    if not run_id:
        raise BadInput(
            "--add works under `agentplane run` and in a session that hooks opened a run for",
            todo="leave it out to log a run of its own.",
        )
    if fixed := [option for field, option in _SAID_BEFORE.items() if field in event]:
        what = f"{' and '.join(fixed)} cannot be added: the run itself says that"
        raise BadInput(what, todo="leave it out, or leave out --add to log a run of its own.")
    plane.runs.note(run_id, event)
    _print_logged(Logged(run_id), as_json=as_json)


def _text(given: str | None) -> str | None:
    """Return an option's text, or the text of the file that it names."""
    if given is None or not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(errors="replace")
    except OSError as error:
        raise BadInput(f"cannot be read: {(error.strerror or 'odd').lower()}", where=given[1:]) from None


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


_one_event = decode.Json(dict[str, Any])


def _log_lines(plane: Plane, *, as_json: bool) -> None:
    """Log events as they arrive, so that a program can keep the pipe open.

    An invalid event ends the command. Earlier events stay in the log.
    """
    if sys.stdin.isatty():
        output.note("type an event a line, as a JSON object; Ctrl-D ends it.")
    written = 0
    for number, row in enumerate(sys.stdin.buffer, 1):
        # Shells on Windows start piped text with a byte order mark.
        line = row.removeprefix(codecs.BOM_UTF8) if number == 1 else row
        if not line.strip():
            continue
        try:
            _print_logged(plane.runs.log(_one_event.decode(line)), as_json=as_json)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _bad_line(f"no JSON object: {error}", number, written) from None
        except BadInput as error:
            field = f"{error.where}: " if error.where not in (None, "event") else ""
            raise _bad_line(f"{field}{error.what}", number, written) from None
        written += 1


def _bad_line(what: str, number: int, written: int) -> BadInput:
    before = (
        f"{output.count(written, 'event before it is', 'events before it are')} in the log"
        if written
        else "nothing was logged"
    )
    return BadInput(
        one_line(what, 200), where=f"line {number}", todo=f"mend it and go on from there; {before}."
    )


def _print_logged(logged: Logged, *, as_json: bool) -> None:
    if as_json:
        output.emit_line("log", **msgspec.to_builtins(logged))
        return
    output.line(logged.run_id)
    for refused in logged.refused:
        output.note(f"a fact was refused: {one_line(refused, 160)}")
