"""Findings as JSON and as text, in the forms that doctor and check share."""

from typing import Any

from agentplane.cli import output
from agentplane.findings import Finding
from agentplane.text.visible import visible


_MARKS = {"error": "x", "warning": "!", "info": "-"}


def row(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "id": finding.subject,
        "severity": finding.severity,
        "where": finding.where,
        "what": finding.what,
        "remedy": finding.remedy,
        "fixable": finding.fixable,
    }


def say(finding: Finding) -> None:
    """Print a finding and its remedy."""
    output.line(f"{_MARKS[finding.severity]} {visible(finding.where)}: {visible(finding.what)}")
    output.line(f"    {visible(finding.remedy)}", dim=True)
