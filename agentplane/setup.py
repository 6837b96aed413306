"""Setting up a plane in a project: what that would write, and doing it."""

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
from agentplane.plane.layout import Layout, is_plane
from agentplane.plane.store.store import Store
from agentplane.text.visible import visible
from agentplane.tools import connections, presence
from agentplane.tools.connections import Wired
from agentplane.tools.memory_file import git_conflicts


_LOG = "memory/log.jsonl"
_NOT_HERE = "The project memory is in git, but its files are not here."


class Outlook(msgspec.Struct, frozen=True):
    """What setting up would write."""

    folder: Path
    """Of the plane."""
    there: bool
    """Whether it is one already."""
    tools: tuple[Tool, ...]
    touched: tuple[str, ...]
    """Files of these tools that would be written."""
    blocked: dict[str, str]
    """Those that we may not write, and why."""


class Made(msgspec.Struct, frozen=True):
    files: tuple[str, ...]
    """Inside the plane, or the rules that were added to one of them."""
    git: tuple[str, ...]
    """What git was told."""
    wired: Wired | None
    """None: nothing was to be done for any tool."""


def folder_for(here: Path) -> Path:
    """Where the plane of a folder belongs: at the top of the repository, or right there without git."""
    if ".git" in here.parts:
        raise BadInput("this is git's own folder", where=str(here), todo="go to the project itself.")
    return (git.top(here) or here) / FOLDER


def tools_in_use(project: Path) -> list[Tool]:
    return [row.tool for row in presence.look(project) if row.in_project]


def outlook(folder: Path, tools: Sequence[Tool]) -> Outlook:
    """Refuses a folder that another program keeps."""
    create.check_free(folder)
    _check_checked_out(folder)
    project = folder.parent
    touched = tuple(connections.touched(project, tools))
    return Outlook(folder, is_plane(folder), tuple(tools), touched, connections.blocked(project, tools))


def _check_checked_out(folder: Path) -> None:
    """Refuse where git has a plane that the work tree doesn't: a new one would be a second history."""
    if (folder / _LOG).is_file() or not folder.parent.is_dir():
        return
    known = git.in_index(folder.parent, f"{folder.name}/{_LOG}")
    if known is None:
        return
    name = shlex.quote(visible(known.path.removesuffix(f"/{_LOG}")))
    todo = f"Run `git checkout -- :/{name}` to restore it." if known.is_checked_out else str(_check_out(name))
    raise Refused(_NOT_HERE, where=str(folder), todo=todo)


def kept_out(here: Path) -> Finding | None:
    """Return what to say where a sparse checkout leaves the plane out, or None."""
    folder = folder_for(here) if ".git" not in here.parts else here
    known = git.in_index(folder.parent, f"{folder.name}/{_LOG}") if folder.parent.is_dir() else None
    if known is None or known.is_checked_out:
        return None
    name = shlex.quote(visible(known.path.removesuffix(f"/{_LOG}")))
    return Finding("not-checked-out", "info", visible(str(folder)), _NOT_HERE, (_check_out(name),))


def _check_out(name: str) -> Shell:
    return Shell(("git", "sparse-checkout", "add", name), after=" to check it out.")


def make(wanted: Outlook, channel: str) -> Made:
    """Makes what is missing of a plane, tells git of it, and wires the tools."""
    folder = wanted.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    layout = Layout(root=folder.parent.resolve() / folder.name)
    files = create.create(Store(layout), origin.here(channel, layout.project))
    files += [f".gitattributes: {rule}" for rule in create.complete_rules(layout)]
    told = merge_driver.set_up(layout, git_conflicts.paths())
    wired = None
    plane = open_plane(layout.root, channel=channel)
    if wanted.touched or wanted.blocked:
        wired = plane.tools.wire(wanted.tools)
    with suppress(AgentplaneError):  # a damaged plane is for `doctor` to explain
        files += [active.ACTIVE] if plane.tools.make_context() else []
    return Made(tuple(files), tuple(told), wired)
