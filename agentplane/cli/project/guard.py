"""The command check, which guards pull requests."""

import os

import click

from agentplane.cli import annotations, output
from agentplane.cli import findings as shown
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.findings import Finding


_AT_MOST = 100
"""Number of findings that are printed. --json has all of them."""


@command("check --base origin/main", "check --base origin/main --json")
@click.option(
    "--base",
    required=True,
    metavar="REV",
    help="Branch or commit that the checked-out branch will be merged into. Required.",
)
@json_option
def check_command(base: str, as_json: bool) -> int:
    """Verify that a branch's memory changes were approved (for CI).

    agentplane compares the checked-out branch with the last commit that it shares with REV. The exit code is 1 if there
    are problems.
    """
    plane = opened(doing="Comparing the branch with its base")
    checked = plane.check(base)
    found = checked.findings
    if as_json:
        output.emit("check", base=checked.base, findings=[shown.row(finding) for finding in found])
    else:
        _print(found)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        annotations.print_all(found[:_AT_MOST], plane.layout.root)
    return int(not checked.passes)


def _print(found: list[Finding]) -> None:
    for finding in found[:_AT_MOST]:
        shown.say(finding)
    if len(found) > _AT_MOST:
        output.note(f"{len(found) - _AT_MOST} more problems. Use --json to list all of them.")
    if all(finding.severity == "info" for finding in found):
        output.note("No problems found.")
