"""The command prune, which removes text from history."""

import sys

import click

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.cli.report import report
from agentplane.errors import BadInput


@command("prune", "prune --yes < leaked-token.txt")
@click.option("--why", metavar="TEXT", help="Reason to record with the change.")
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation prompt.")
@json_option
def prune_command(why: str | None, yes: bool, as_json: bool) -> None:
    """Permanently remove text from history, for example a leaked secret.

    agentplane reads the text from standard input or a prompt, so that your shell doesn't save the text. agentplane removes
    the text from all operation records and run records. The log can still be verified afterward. Git commits are not
    changed.
    """
    plane = opened(deciding="pruning")
    needle = _needle()
    places = plane.history.check_prune(needle)
    if not yes:
        if not sys.stdin.isatty():
            raise BadInput(
                "Can't prompt for confirmation: stdin isn't a terminal.",
                todo="Pass --yes to skip the prompt.",
            )
        output.confirmed("Permanently remove this text? This can't be undone.", abort=True)
    done = plane.history.prune(needle, why)
    if as_json:
        report(plane, done, as_json=True)
    else:
        output.note(f"Removed the text from history (change {done.op}).")
        output.note(
            "Git commits that contain the text were not changed. If the text was a secret, rotate it and rewrite those commits."
        )
    if places.events:
        lines = ", ".join(map(str, places.events[:5]))
        output.note(
            f"The log also contains the text (line {lines}). agentplane can't remove it there, because changing a line would break the log's chain of hashes."
        )


def _needle() -> str:
    if sys.stdin.isatty():
        found: str = click.prompt("Text to prune", hide_input=True, err=True)
    else:
        found = sys.stdin.read().strip("\r\n")
    if not found.strip():
        raise BadInput("The text to prune is required.", todo="Type the text, or pass it on standard input.")
    return found
