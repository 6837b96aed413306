"""The command context, which writes the context pack."""

import os
from collections.abc import Sequence

import click
import msgspec

from agentplane.agents.catalog import tool_in
from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.context.choose import Ask
from agentplane.context.pack import LEAST
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


@command(
    "context",
    'context --print --task "add a refund endpoint" --path "app/**"',
)
@click.option(
    "--task", metavar="TEXT", help="Description of the task. Entries that match the task come first."
)
@click.option(
    "--path", "paths", multiple=True, metavar="GLOB", help="Paths that the task is about. Can be repeated."
)
@click.option(
    "--budget",
    type=click.IntRange(min=LEAST),
    default=2400,
    show_default=True,
    metavar="N",
    help="Maximum size of the context in tokens.",
)
@click.option("--print", "printed", is_flag=True, help="Print the context without writing a file.")
@json_option
def context_command(
    task: str | None, paths: tuple[str, ...], budget: int, printed: bool, as_json: bool
) -> None:
    """Write context/active.md, the context file that tools read.

    The file contains the approved entries that fit into the token budget, and the IDs of the other approved entries. The
    file never contains candidates or manual edits.
    """
    plane = opened(doing="Choosing entries")
    # The file is for every reader, so it has no comments for one tool.
    ask = Ask(task, paths, budget, reader=tool_in(os.environ) if printed else None)
    written = None if printed else plane.tools.write_pack(plane.tools.pack(ask))
    made = written.pack if written else plane.tools.imported_pack(ask)
    if as_json:
        output.emit("pack", text=made.text, receipt=msgspec.to_builtins(made.receipt))
        return
    if written is None:
        output.text(made.text)
        return
    receipt = made.receipt
    left = f", {len(receipt.cut)} left out" if receipt.cut else ""
    what = f"{counted(len(receipt.given), 'entry', 'entries')} included{left}, about {receipt.tokens} tokens"
    for cut in receipt.cut:
        if cut.kind in ("said", "expired"):
            output.note(f"{one_line(cut.id, 40)} was left out: {one_line(cut.why, 160)}")
    name = plane.layout.shown("context/active.md")
    output.note(f"{'Updated' if written.changed else 'Already up to date:'} {name} · {what}")
    tell_withheld(receipt.withheld)


def tell_withheld(ids: Sequence[str]) -> None:
    """Print the entries that no tool gets, and the command to mask them."""
    if ids:
        named = ", ".join(one_line(id_, 40) for id_ in ids)
        why = "it probably contains a secret" if len(ids) == 1 else "they probably contain secrets"
        first = one_line(ids[0], 40)
        output.note(
            f"Tools don't receive {named}, because {why}. "
            f"To mask the secret in {first}, run `agentplane edit {first} --mask`."
        )
