"""The commands undo and redo."""

import click

from agentplane.cli import complete
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.cli.report import carry_out
from agentplane.commands import Redo, Undo


@command("undo", "undo 20261120T091530Z-k3f9ab")
@click.argument("op", required=False, metavar="[CHANGE]", shell_complete=complete.ops)
@json_option
def undo_command(op: str | None, as_json: bool) -> None:
    """Undo your last change, or the change with the ID CHANGE. Repeat the command to undo earlier changes.

    `agentplane history` lists changes with their IDs.
    """
    plane = opened(deciding="undoing")
    carry_out(plane, Undo(op), as_json=as_json)


@command("redo")
@json_option
def redo_command(as_json: bool) -> None:
    """Redo the last change that you undid."""
    plane = opened(deciding="redoing")
    carry_out(plane, Redo(), as_json=as_json)
