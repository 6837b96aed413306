"""The commands send-back and snooze, which postpone candidates. Only a person at a terminal may use them."""

import click

from agentplane.cli import complete
from agentplane.cli.help import command
from agentplane.cli.open import ids_argument, json_option, opened
from agentplane.cli.report import carry_out
from agentplane.commands import SendBack, Snooze
from agentplane.errors import BadInput
from agentplane.text import days
from agentplane.text.visible import one_line


@command('send-back CAND-7F3K2Q --comment "Name the encoding of the file."')
@ids_argument("inbox")
@click.option(
    "-m",
    "--comment",
    required=True,
    metavar="TEXT",
    help="Comment that tells the tool what to change.",
)
@json_option
def send_back_command(ids: tuple[str, ...], comment: str, as_json: bool) -> None:
    """Send candidates back to the tools that proposed them, with a comment.

    The tool gets the comment in its next session, and can then propose a replacement. Until then, the inbox folds (hides)
    the candidate. If no proposal replaces the candidate within 14 days, the candidate returns to the list.
    """
    plane = opened(deciding="sending back")
    carry_out(plane, SendBack(ids, comment), as_json=as_json)


@command("snooze CAND-7F3K2Q --until 2w", "snooze CAND-7F3K2Q --remove")
@ids_argument("inbox")
@click.option(
    "--until",
    metavar="DATE",
    shell_complete=complete.until,
    default="7d",
    show_default=True,
    help="When the candidates return to the list: a delay such as 3d or 2w, or a date such as 2026-12-31.",
)
@click.option("--remove", is_flag=True, help="Return the candidates to the list now.")
@json_option
def snooze_command(ids: tuple[str, ...], until: str, remove: bool, as_json: bool) -> None:
    """Hide candidates from the inbox list until a given date. `agentplane inbox --folded` still lists them."""
    plane = opened(deciding="snoozing")
    day = None if remove else days.ahead(until, plane.today())
    if day is None and not remove:
        raise BadInput(
            f'Invalid value for --until: "{one_line(until, 40)}".',
            todo="Use a date (2026-12-31) or a number of days or weeks (7d, 2w).",
        )
    carry_out(plane, Snooze(ids, day), as_json=as_json)
