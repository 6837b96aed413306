"""The command doctor, which checks the project memory."""

from pathlib import Path

import click

from agentplane import health, setup
from agentplane.cli import findings as shown
from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.errors import BadInput
from agentplane.text.visible import visible


@command("doctor", "doctor --fix")
@click.option("--fix", is_flag=True, help="Repair all problems that can be repaired without losing data.")
@json_option
def doctor_command(fix: bool, as_json: bool) -> int:
    """Check the project memory for problems. The exit code is 1 if there are any."""
    try:
        plane = opened(doing="Reading memory")
    except BadInput:
        not_checked_out = setup.not_checked_out(Path.cwd())
        if not_checked_out is None:
            raise
        if as_json:
            output.emit("doctor", findings=[shown.row(not_checked_out)], fixed=[])
        else:
            shown.say(not_checked_out)
        return 0
    # Reading the plane replaces cache files that can't be used, and the checks must still find them.
    plane.settle_merged(uncached=True)
    progress = plane.listeners.progress
    fixed = health.fix(plane.store, progress) if fix else []
    findings = health.collect(plane.store, progress)
    bad = any(finding.severity != "info" for finding in findings)
    if as_json:
        output.emit("doctor", findings=[shown.row(finding) for finding in findings], fixed=fixed)
        return int(bad)
    for text in fixed:
        output.line(f"Fixed: {visible(text)}")
    for finding in findings:
        shown.say(finding)
    if any(finding.fixable for finding in findings) and not fix:
        output.note("Run `agentplane doctor --fix` to repair some of these problems.")
    if not findings:
        output.note("No problems found.")
    return int(bad)
