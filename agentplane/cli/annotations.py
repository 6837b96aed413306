"""Findings as annotations that GitHub Actions shows at the lines of a pull request."""

import os
from collections.abc import Iterable
from pathlib import Path

from agentplane.cli import output
from agentplane.findings import Finding


_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def print_all(found: Iterable[Finding], root: Path) -> None:
    """Print annotations to stderr, from which GitHub also reads them."""
    from agentplane.plane.git import git

    top, workspace = git.top(root), os.environ.get("GITHUB_WORKSPACE")
    below = os.path.relpath(top, workspace) if top and workspace else "."
    for finding in found:
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
