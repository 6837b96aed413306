"""The commands undo, redo, ops and prune."""

import sys

import click
import msgspec

from agentplane.cli import complete, output
from agentplane.cli.memory.entry_rows import readable_text, with_signer
from agentplane.cli.open import json_option, opened
from agentplane.cli.report import carry_out, report
from agentplane.commands import Redo, Undo
from agentplane.errors import BadInput


@click.command()
@click.argument("op", required=False, shell_complete=complete.ops)
@json_option
def undo_command(op: str | None, as_json: bool) -> None:
    """Take back your last op, or the OP that is named; again goes further back."""
    plane = opened(deciding="undoing")
    carry_out(plane, Undo(op), as_json=as_json)


@click.command()
@json_option
def redo_command(as_json: bool) -> None:
    """Do again what was undone last."""
    plane = opened(deciding="redoing")
    carry_out(plane, Redo(), as_json=as_json)


@click.command()
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many.",
)
@json_option
def ops_command(limit: int, as_json: bool) -> None:
    """The ops, newest first."""
    plane = opened()
    ops = [msgspec.structs.replace(op, why=readable_text(op.why)) for op in plane.history.ops(limit)]
    signed = plane.history.signed_by([op.op for op in ops])
    if as_json:
        output.emit("ops", ops=[with_signer(op, signed) for op in ops])
        return
    for op in ops:
        ids = ", ".join(op.ids[:3]) + (f" and {len(op.ids) - 3} more" if len(op.ids) > 3 else "")
        details = [
            "undone" if op.undone else "",
            f"by {op.actor} ({op.channel}, {op.program})",
            signed[op.op].text if op.op in signed else "",
            f"confirmed: {', '.join(op.confirmed)}" if op.confirmed else "",
            f"why: {op.why}" if op.why else "",
            ids,
        ]
        verb = op.verb if not op.undone else f"({op.verb})"
        rest = " · ".join(text for text in details if text)
        output.line(output.row([(op.op, 23)], f"{verb}  {output.age(op.ts)}"))
        output.line(output.row([("", 1)], rest), dim=True)


@click.command()
@click.option("--why", help="The reason; it is kept.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def prune_command(why: str | None, yes: bool, as_json: bool) -> None:
    """Take a text out of history for good.

    The text is read from standard input or asked for, so that it does not land in your shell's
    history. Every op record and every capsule that holds it loses it; the log stays verifiable. What git has already
    committed is not changed.
    """
    plane = opened(deciding="pruning")
    needle = _needle()
    places = plane.history.check_prune(needle)
    if not yes:
        if not sys.stdin.isatty():
            raise BadInput("there is no terminal to ask on", todo="say `agentplane prune --yes`.")
        output.confirmed("This cannot be undone. Prune?", abort=True)
    done = plane.history.prune(needle, why)
    report_pruned = (
        f"pruned; op {done.op}. Commits that hold the text are git's: rewrite them if it was a secret."
    )
    if as_json:
        report(plane, done, as_json=True)
    else:
        output.note(report_pruned)
    if places.events:
        lines = ", ".join(map(str, places.events[:5]))
        output.note(
            f"the log holds it as well, in line {lines}: that cannot be changed without breaking the chain."
        )


def _needle() -> str:
    if sys.stdin.isatty():
        found: str = click.prompt("Text to prune", hide_input=True, err=True)
    else:
        found = sys.stdin.read().strip("\r\n")
    if not found.strip():
        raise BadInput("no text was given", todo="type it, or pass it on standard input.")
    return found
