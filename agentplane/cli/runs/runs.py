"""The commands run, run diff, run artifacts and timeline."""

import os
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from agentplane.cli import complete, output, querying
from agentplane.cli.help import command as a_command
from agentplane.cli.help import part_items
from agentplane.cli.open import invalid_option, json_option, opened
from agentplane.errors import BadInput
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _words_of_command(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete a subcommand as the first word, and files."""
    first = [] if ctx.params.get("command") else part_items(ctx, incomplete)
    return [*first, *complete.files(ctx, param, incomplete)]


@a_command(
    "run -- npm test",
    "run --task PAY-42 -- codex exec 'Fix the flaky test'",
    "run log --task PAY-42 --summary 'Fixed the flaky test.'",
    "run -- diff a.txt b.txt",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--task", metavar="TASK", help="Task of the run [default: $AGENTPLANE_TASK].")
@click.option(
    "--tool", metavar="NAME", help="Coding tool that does the work [default: detected from the command]."
)
@click.option(
    "--prompt", metavar="TEXT", help="Prompt that the tool received, or @FILE to read the prompt from a file."
)
@click.option(
    "--plan",
    "plan",
    metavar="FILE",
    shell_complete=complete.files,
    help="Plan that the command follows. agentplane records the plan's path, hash, layer, scale and impact.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="FILE",
    shell_complete=complete.files,
    help="File to copy into the run record before the command starts. Can be repeated.",
)
@click.option(
    "--layer", metavar="L0-L6", help="Layer that the plan changes, from L0 (observation) to L6 (automation)."
)
@click.option(
    "--scale", metavar="1-10", help="How far the change reaches, from 1 (one place) to 10 (other projects)."
)
@click.option("--impact", metavar="TEXT", help="Impact of the plan: what gets better, and for whom.")
@click.option("--quiet", is_flag=True, help="Don't print a summary at the end.")
@click.argument(
    "command",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    shell_complete=_words_of_command,
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
    """Run a command and record it under runs/.

    The command keeps full control of your terminal: colors, resizing, Ctrl-C and job control all work as usual.
    agentplane exits with the command's exit code. The AGENTPLANE_RUN_ID variable contains the ID of the run. The
    command can add information to the run with `agentplane run log --add`.

    To run a program named log, diff or artifacts, put `--` before its name.
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
        prompt=text_or_file(prompt),
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
            then = "The next `agentplane run` or `agentplane doctor --fix` completes the record."
        else:
            then = "Its recorded files are missing."
        output.note(f"The record of run {ran.run_id} is incomplete. {then}")
    elif not quiet and sys.stderr.isatty():
        found = f" · {counted(len(facts), 'fact')} to review" if facts else ""
        output.note(f"Run {ran.run_id} · {one_line(ran.words[:1].lower() + ran.words[1:], 100)}{found}")
    return ran.code


@a_command(
    "timeline --since 2d",
    "timeline tool:codex outcome:failed",
    "timeline --task PAY-42 --tool codex",
    "timeline --limit 100 --json",
)
@querying.query_argument("runs")
@click.option("--task", metavar="TASK", help="List only runs of this task.")
@click.option(
    "--since",
    metavar="TIME",
    shell_complete=complete.since,
    help="List only rows since this date, time or age, for example 2026-11-01, 3h or 2d.",
)
@click.option("--tool", metavar="NAME", help="List only runs and changes by this tool or person.")
@click.option(
    "--layer",
    metavar="LAYER",
    help="List only runs whose plan changes these layers, for example L5 or L4,L5.",
)
@click.option(
    "--scale",
    metavar="RANGE",
    help="List only runs whose plan has this scale, for example 4, 3..5, >=4 or <=4.",
)
@click.option(
    "--sort",
    type=click.Choice(["time", "scale", "layer"]),
    default="time",
    show_default=True,
    help="Order of the rows: newest first, largest scale first or deepest layer first.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of rows [default: 30, or all with --json].",
)
@json_option
def timeline_command(
    words: tuple[str, ...],
    task: str | None,
    since: str | None,
    tool: str | None,
    layer: str | None,
    scale: str | None,
    sort: Literal["time", "scale", "layer"],
    limit: int | None,
    as_json: bool,
) -> None:
    """List runs and memory changes, newest first.

    QUERY filters the list, for example `tool:codex outcome:failed`.

    A run that follows a plan has a layer and a scale. The layer says which part of the project the plan changes, from L0
    (observation, the deepest layer) to L6 (automation). The scale says how far the change reaches, from 1 to 10.
    """
    from agentplane.cli.runs import rows
    from agentplane.runs import rubric
    from agentplane.runs.query import timeline
    from agentplane.text import moments

    plane = opened()
    query, now = querying.of_words(words, "runs"), plane.store.clock()
    start = None if since is None else moments.moment(since, now)
    if since is not None and start is None:
        raise invalid_option("--since", since, f"Use {moments.FORMS}.")
    if query is not None:
        start = querying.since_of(query, now, start)
    layers = () if layer is None else rubric.wanted_layers(layer)
    wanted = timeline.Wanted(task, tool, start, layers, None if scale is None else rubric.wanted_range(scale))
    found = timeline.rows(plane.layout, wanted)
    if query is not None:
        found = querying.runs_of(found, query, now)
    found = timeline.ordered(found, sort)
    if as_json:
        output.emit("timeline", events=list(islice(found, limit)))
        return
    most = limit or rows.PAGE
    page = list(islice(found, most + 1))
    rows.print_timeline(page[:most])
    if not page:
        options = {"--task": task, "--since": since, "--tool": tool, "--layer": layer, "--scale": scale}
        asked = [str(query)] if query is not None else []
        asked += [name for name, value in options.items() if value]
        output.note(
            f"No runs or changes match {' and '.join(asked)}." if asked else "No runs or changes yet."
        )
    elif len(page) > most:
        output.note(f"Only {most} rows are shown. Use --limit to show more.")


@a_command(
    "run diff --run run_20261120T091530Z-k3f9",
    "run diff --run k3f9 --against m2p7",
)
@click.option(
    "--run",
    "run",
    required=True,
    metavar="RUN",
    shell_complete=complete.runs,
    help="First run to compare: its ID, or the part of the ID after the dash.",
)
@click.option(
    "--against",
    metavar="RUN",
    shell_complete=complete.runs,
    help="Second run to compare [default: the latest run, or the run before it if --run is the latest].",
)
@json_option
def run_diff_command(run: str, against: str | None, as_json: bool) -> None:
    """Compare two runs: exit code, files, facts, memory and output.

    Lines that start with `-` are only in --run. Lines that start with `+` are only in --against.
    """
    from agentplane.cli.runs import rows
    from agentplane.runs.query import compare

    report = compare.of(opened().layout, run, against)
    if as_json:
        output.emit("diff", **msgspec.to_builtins(report), same=report.same)
    else:
        rows.print_diff(report)


@a_command("run artifacts", "run artifacts PAY-42 --verify")
@click.argument("task", required=False)
@click.option(
    "--verify",
    is_flag=True,
    help="Compare the files with their recorded hashes. The exit code is 1 if a file was changed or is missing.",
)
@json_option
def run_artifacts_command(task: str | None, verify: bool, as_json: bool) -> int:
    """List files that runs produced, each with its task and its hash at the end of the run.

    Only files that Git tracks are listed.
    """
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
            of = "" if task is None else f" for task {one_line(task, 40)}"
            output.note(f"No artifacts found{of}. agentplane lists only files that Git tracks.")
    return int(any(artifact.state in ("changed", "gone") for artifact in found))


def text_or_file(given: str | None) -> str | None:
    """Return an option's text, or the text of the file that it names."""
    if given is None or not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(errors="replace")
    except OSError as error:
        raise BadInput(f"Can't read the file: {error.strerror or error}.", where=given[1:]) from None
