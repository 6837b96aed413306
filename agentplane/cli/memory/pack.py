"""The command pack, which writes the context pack."""

import os
from collections.abc import Sequence

import click
import msgspec

from agentplane.agents.catalog import tool_in
from agentplane.cli import output
from agentplane.cli.open import json_option, opened
from agentplane.context.choose import Ask
from agentplane.context.pack import LEAST
from agentplane.text.visible import one_line


@click.command()
@click.option("--task", metavar="TEXT", help="What the work is; entries near to its words come first.")
@click.option(
    "--path", "paths", multiple=True, metavar="GLOB", help="What the work is about; again for more."
)
@click.option(
    "--budget",
    type=click.IntRange(min=LEAST),
    default=2400,
    show_default=True,
    metavar="N",
    help="Tokens at most.",
)
@click.option("--print", "printed", is_flag=True, help="Print the pack, and write nothing.")
@json_option
def pack_command(task: str | None, paths: tuple[str, ...], budget: int, printed: bool, as_json: bool) -> None:
    """Write context/active.md: the approved memory that a tool is given, within a budget.

    Candidates and what was edited by hand are not in it. What had no room is named in it, and in its receipt.
    """
    plane = opened(doing="Choosing entries")
    # The file is for every reader, so it has no comments for one tool.
    ask = Ask(task, paths, budget, reader=tool_in(os.environ) if printed else None)
    made = plane.tools.imported_pack(ask)
    changed = False if printed else plane.tools.write_pack(made)
    if as_json:
        output.emit("pack", text=made.text, receipt=msgspec.to_builtins(made.receipt))
        return
    if printed:
        output.text(made.text)
        return
    receipt = made.receipt
    left = f", {output.count(len(receipt.cut), 'entry', 'entries')} not" if receipt.cut else ""
    what = (
        f"{output.count(len(receipt.given), 'entry', 'entries')} in it{left}; about {receipt.tokens} tokens"
    )
    for cut in receipt.cut:
        if cut.kind in ("said", "expired"):
            output.note(f"left out: {one_line(cut.id, 40)}, {one_line(cut.why, 160)}")
    output.note(
        f"{plane.layout.shown('context/active.md')}: {'written' if changed else 'is current'} · {what}"
    )
    tell_withheld(receipt.withheld)


def tell_withheld(ids: Sequence[str]) -> None:
    """Print the entries that no tool gets, and the command to mask them."""
    if ids:
        named = ", ".join(one_line(id_, 40) for id_ in ids)
        output.note(
            f"Withheld, because they look like they contain a secret: {named}. "
            f"To mask it: agentplane edit {one_line(ids[0], 40)} --mask"
        )
