"""Checking a plane."""

import click

from agentplane import health
from agentplane.cli import out
from agentplane.cli.door import json_option, opened
from agentplane.text.visible import visible


_MARKS = {"error": "x", "warning": "!", "info": "-"}


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended without losing anything.")
@json_option
def doctor_command(fix: bool, as_json: bool) -> int:
    """Check the plane. Exit code 1 when something is wrong."""
    plane = opened()
    mended = health.fix(plane.store) if fix else []
    findings = health.collect(plane.store)
    bad = any(finding.severity != "info" for finding in findings)
    if as_json:
        out.emit("doctor", findings=findings, fixed=mended)
        return int(bad)
    for text in mended:
        out.line(f"fixed: {visible(text)}")
    for finding in findings:
        out.line(f"{_MARKS[finding.severity]} {visible(finding.where)}: {visible(finding.what)}")
        out.line(f"    {visible(finding.remedy)}", dim=True)
    if any(finding.fixable for finding in findings) and not fix:
        out.note("`agentplane doctor --fix` mends some of this.")
    if not findings:
        out.note("all is well.")
    return int(bad)
