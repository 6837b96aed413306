"""Setup of agentplane in a project, with a preview of the files."""

import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.agents.model import Tool
from agentplane.api import open_plane
from agentplane.context import active
from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.findings import Finding, Shell
from agentplane.plane import create, origin
from agentplane.plane.derived.badge_stamp import FOLDER
from agentplane.plane.git import git, merge_driver
from agentplane.plane.layout import LOG, Layout, is_plane
from agentplane.plane.store.store import Store
from agentplane.text.visible import visible
from agentplane.tools import connections, presence
from agentplane.tools.connections import Wired
from agentplane.tools.memory_file import git_conflicts


_NOT_HERE = "Git tracks the project memory, but its files are missing from this directory."


class Preview(msgspec.Struct, frozen=True):
    """Preview of a setup."""

    folder: Path
    """The directory of the plane."""
    there: bool
    """True if it is a plane already."""
    tools: tuple[Tool, ...]
    touched: tuple[str, ...]
    """Files of these tools that would be written."""
    blocked: dict[str, str]
    """Files that agentplane may not write, with the reason."""


class SetupResult(msgspec.Struct, frozen=True):
    files: tuple[str, ...]
    """Paths inside the plane, or rules that were added to a file."""
    git: merge_driver.GitSetup
    """The parts of Git's setup that were missing."""
    wired: Wired | None
    """The result of connecting tools, or None if no tool needed a change."""


def folder_for(here: Path) -> Path:
    """Return the place for the plane of a directory, at the top of its repository, or in the directory
    without Git.
    """
    if ".git" in here.parts:
        raise BadInput(f"{here} is inside a .git directory.", todo="Change to the project directory.")
    return (git.top(here) or here) / FOLDER


def tools_in_use(project: Path) -> list[Tool]:
    return [row.tool for row in presence.look(project) if row.in_project]


def preview(folder: Path, tools: Sequence[Tool]) -> Preview:
    """Return the preview of a setup. Refuse a directory that belongs to another program."""
    create.check_free(folder)
    _check_checked_out(folder)
    project = folder.parent
    touched = tuple(connections.touched(project, tools))
    return Preview(folder, is_plane(folder), tuple(tools), touched, connections.blocked(project, tools))


def _check_checked_out(folder: Path) -> None:
    """Refuse if Git has a plane that the work tree lacks, because a new plane would be a second history."""
    if (folder / LOG).is_file() or not folder.parent.is_dir():
        return
    known = git.in_index(folder.parent, f"{folder.name}/{LOG}")
    if known is None:
        return
    name = shlex.quote(visible(known.path.removesuffix(f"/{LOG}")))
    todo = (
        f"Run `git checkout -- :/{name}` to restore the files."
        if known.is_checked_out
        else str(_check_out(name))
    )
    raise Refused(_NOT_HERE, where=str(folder), todo=todo)


def not_checked_out(here: Path) -> Finding | None:
    """Return the finding about a sparse checkout that leaves the plane out, or None."""
    folder = folder_for(here) if ".git" not in here.parts else here
    known = git.in_index(folder.parent, f"{folder.name}/{LOG}") if folder.parent.is_dir() else None
    if known is None or known.is_checked_out:
        return None
    name = shlex.quote(visible(known.path.removesuffix(f"/{LOG}")))
    return Finding("not-checked-out", "info", visible(str(folder)), _NOT_HERE, (_check_out(name),))


def _check_out(name: str) -> Shell:
    return Shell(("git", "sparse-checkout", "add", name), after=" to check out the project memory.")


def make(wanted: Preview, channel: str) -> SetupResult:
    """Create the missing parts of a plane, configure Git for it, and connect the tools."""
    folder = wanted.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    layout = Layout(root=folder.parent.resolve() / folder.name)
    files = create.create(Store(layout), origin.here(channel, layout.project))
    files += [f".gitattributes: {rule}" for rule in create.complete_rules(layout)]
    git_changes = merge_driver.set_up(layout, git_conflicts.paths())
    wired = None
    plane = open_plane(layout.root, channel=channel)
    if wanted.touched or wanted.blocked:
        wired = plane.tools.wire(wanted.tools)
    with suppress(AgentplaneError):  # `doctor` explains a damaged plane
        files += [active.ACTIVE] if plane.tools.make_context() else []
    return SetupResult(tuple(files), git_changes, wired)
