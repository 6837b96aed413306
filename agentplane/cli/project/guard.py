"""The command check, which guards pull requests."""

import os
from pathlib import Path

import click

from agentplane.cli import findings as shown
from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.findings import Finding


_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
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
        _annotate(found, plane.layout.root)
    return int(not checked.passes)


def _print(found: list[Finding]) -> None:
    for finding in found[:_AT_MOST]:
        shown.say(finding)
    if len(found) > _AT_MOST:
        output.note(f"{len(found) - _AT_MOST} more problems. Use --json to list all of them.")
    if all(finding.severity == "info" for finding in found):
        output.note("No problems found.")


def _annotate(found: list[Finding], root: Path) -> None:
    """Print findings as annotations that GitHub shows at the lines of a pull request.

    GitHub also reads them from stderr.
    """
    from agentplane.plane.git import git

    top, workspace = git.top(root), os.environ.get("GITHUB_WORKSPACE")
    below = os.path.relpath(top, workspace) if top and workspace else "."
    for finding in found[:_AT_MOST]:
        output.note(annotation(finding, "" if below == "." or below.startswith("..") else f"{below}/"))


def annotation(finding: Finding, folder: str = "") -> str:
    """Return a workflow command of GitHub Actions.

    `folder` is the repository's folder, relative to the workspace.
    """
    file, _, line = finding.where.rpartition(":")
    if not line.isdecimal():
        file, line = finding.where, "1"
    place = f"file={_property(folder + file)},line={line}"
    return f"::{_LEVELS[finding.severity]} {place}::{_data(f'{finding.what}. {finding.remedy}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
