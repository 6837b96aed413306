"""The command history, which lists changes."""

import click
import msgspec

from agentplane.api import Plane
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.memory.entry_rows import readable_text, with_signer
from agentplane.cli.open import json_option, opened
from agentplane.errors import BadInput
from agentplane.memory import verbs
from agentplane.text.visible import one_line, visible


_SHOWN = 20
"""Number of changes that are listed by default."""


@command("history", "history --limit 5", "history DEC-014 --texts")
@click.argument("id", metavar="[ID]", required=False, shell_complete=complete.ids("all"))
@click.option("--texts", is_flag=True, help="Print the text of the entry after each change. Requires an ID.")
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Maximum number of changes to list. Can't be combined with an ID [default: {_SHOWN}].",
)
@json_option
def history_command(id: str | None, texts: bool, limit: int | None, as_json: bool) -> None:  # noqa: A002 -- the name in the help text
    """List recent changes, newest first. With an ID, list the changes to that entry, oldest first."""
    if id is None and texts:
        raise BadInput("--texts requires an ID.", todo="Run `agentplane history ID --texts`.")
    if id is not None and limit is not None:
        raise BadInput(
            "--limit can't be used with an ID.", todo=f"Run `agentplane history {one_line(id, 40)}`."
        )
    plane = opened()
    if id is None:
        _list_changes(plane, limit or _SHOWN, as_json=as_json)
    else:
        _list_steps(plane, id, texts=texts, as_json=as_json)


def _list_changes(plane: Plane, limit: int, *, as_json: bool) -> None:
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
            f"confirmed flags: {', '.join(op.confirmed)}" if op.confirmed else "",
            f"why: {op.why}" if op.why else "",
            ids,
        ]
        verb = f"({verbs.past(op.verb)})" if op.undone else verbs.past(op.verb)
        rest = " · ".join(text for text in details if text)
        output.line(output.row([(op.op, 23)], f"{verb}  {output.age(op.ts)}"))
        output.line(output.row([("", 1)], rest), dim=True)
    if not ops:
        output.note("No changes yet.")


def _list_steps(plane: Plane, id_: str, *, texts: bool, as_json: bool) -> None:
    name, found = plane.history.of(id_)
    steps = [
        msgspec.structs.replace(
            step,
            before=readable_text(step.before),
            after=readable_text(step.after),
            why=readable_text(step.why),
        )
        for step in found
    ]
    signed = plane.history.signed_by({step.op for step in steps})
    if as_json:
        output.emit("history", id=name, steps=[with_signer(step, signed) for step in steps])
        return
    if not steps:
        output.note(
            f"The log has no changes for {one_line(name, 40)}, because the entry was added to the file manually."
        )
    for step in steps:
        reason = f"  ({one_line(step.why, 60)})" if step.why else ""
        pruned = "  (text pruned)" if step.pruned else ""
        reason += f"  confirmed flags: {', '.join(step.confirmed)}" if step.confirmed else ""
        signer = f", {one_line(signed[step.op].text, 160)}" if step.op in signed else ""
        by = f"by {one_line(step.actor, 30)} ({step.channel}){signer}"
        output.line(f"{step.ts}  {verbs.past(step.verb):<10} {step.id}  {by}{reason}{pruned}")
        if texts and step.after is not None:
            for text in visible(step.after).splitlines():
                output.line(f"    {text}")
