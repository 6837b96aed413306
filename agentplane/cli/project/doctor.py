"""The command doctor, which checks a plane."""

from pathlib import Path

import click

from agentplane import health, setup
from agentplane.cli import findings as shown
from agentplane.cli import output
from agentplane.cli.open import json_option, opened
from agentplane.errors import BadInput
from agentplane.text.visible import visible


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended without losing anything.")
@json_option
def doctor_command(fix: bool, as_json: bool) -> int:
    """Check the plane. Exit code 1 when something is wrong."""
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
    mended = health.fix(plane.store, progress) if fix else []
    findings = health.collect(plane.store, progress)
    bad = any(finding.severity != "info" for finding in findings)
    if as_json:
        output.emit("doctor", findings=[shown.row(finding) for finding in findings], fixed=mended)
        return int(bad)
    for text in mended:
        output.line(f"fixed: {visible(text)}")
    for finding in findings:
        shown.say(finding)
    if any(finding.fixable for finding in findings) and not fix:
        output.note("`agentplane doctor --fix` mends some of this.")
    if not findings:
        output.note("all is well.")
    return int(bad)
