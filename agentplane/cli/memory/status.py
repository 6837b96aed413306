"""The commands status and badge."""

import sys

import click
import msgspec

from agentplane.api import summaries
from agentplane.cli import background_checks, output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.cli.review import all_projects
from agentplane.errors import AgentplaneError, Damaged
from agentplane.plane.derived import badge_stamp
from agentplane.plane.store import lock


@command("status", "status --json")
@json_option
def status_command(as_json: bool) -> None:
    """Show what is waiting for review and what to do next."""
    plane = opened(quiet=True)
    status = plane.status()
    tools = plane.tools.receivers(plane.memory.read())
    in_background = status.unchecked > 0 and background_checks.start(plane.layout)
    if as_json:
        output.emit("status", **msgspec.to_builtins(status), tools=msgspec.to_builtins(tools))
        return
    writer = lock.owner(plane.layout) if status.writing else None
    total = status.waiting + status.folded
    checked = ""
    if status.unchecked:
        checked = background_checks.checked_text(total, status.unchecked, in_background=in_background)
    for line in summaries.status_lines(status, tools, plane.layout.root, writer=writer, checked=checked):
        output.line(line)


@command("badge", "badge --all")
@click.option("--all", "everywhere", is_flag=True, help="Print one total for all projects that you use.")
@json_option
def badge_command(everywhere: bool, as_json: bool) -> int:
    """Print the number of items to review, for your shell prompt.

    Prints nothing if nothing is waiting for review, and `?` if agentplane can't read the project memory.
    """
    try:
        if everywhere:
            return all_projects.print_badge(as_json=as_json)
        plane = opened(quiet=True)
        badge = plane.inbox.badge()
        if plane.is_damaged():
            raise Damaged(
                "The log and the memory files don't match.",
                todo="Run `agentplane doctor`.",
                sees_doctor=True,
            )
    except AgentplaneError as error:
        if as_json:
            raise
        output.line("?")
        return error.exit_code
    if as_json:
        output.emit("badge", **msgspec.to_builtins(badge))
        return 0
    text = badge_stamp.shown([badge.waiting, badge.conflicts, badge.hand_edits], sys.stdout.encoding)
    if text:
        output.line(text)
    return 0
