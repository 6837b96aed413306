"""Setting up: init, which makes a plane and wires the tools."""

import sys
from pathlib import Path

import click

from agentplane.api import open_plane
from agentplane.cli import out
from agentplane.cli.tools import named_tools, say_wired
from agentplane.errors import BadInput
from agentplane.plane import create, git, gitdriver, origin
from agentplane.plane.layout import Layout, is_plane
from agentplane.plane.stamp import FOLDER
from agentplane.plane.store import Store
from agentplane.text.visible import visible
from agentplane.tools import found, wire
from agentplane.tools.table import Tool
from agentplane.tools.wire import Wired


@click.command()
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option(
    "--tools",
    "names",
    metavar="NAMES",
    help="Wire these tools, as codex,claude; `none` for none. Without it: those that are used in this project.",
)
@click.pass_context
def init_command(ctx: click.Context, yes: bool, names: str | None) -> int:
    """Make a plane in this project, and wire the coding tools: at the top of the repository, or here without git.

    Again, it makes what is missing.
    """
    folder = _wanted_folder(ctx.find_root().obj)
    create.check_free(folder)
    there = is_plane(folder)
    tools = _wanted_tools(folder.parent, names)
    touched = wire.touched(folder.parent, tools)
    _ask(folder, touched, there=there, yes=yes)
    folder.parent.mkdir(parents=True, exist_ok=True)
    layout = Layout(root=folder.parent.resolve() / folder.name)
    channel = "terminal" if sys.stdin.isatty() else "cli"
    made = create.create(Store(layout), origin.here(channel, layout.project))
    made += [f".gitattributes: {rule}" for rule in create.complete_rules(layout)]
    told = gitdriver.set_up(layout)
    for text in told:
        out.note(f"set: {text}")
    for name in made:
        out.line(f"{folder.name}/{name}")
    wired = Wired()
    if touched or wire.blocked(layout.project, tools):
        wired = open_plane(layout.root, channel=channel).wire(tools)
        say_wired(wired, tools)
    elif not (made or told):
        out.note(f"{folder} is a plane already; nothing was missing.")
    if made:
        if names is None and not yes:
            _say_installed(folder.parent)
        out.note('made. Next: agentplane propose --type decision "…", then agentplane inbox.')
    return int(bool(wired.blocked))


def _ask(folder: Path, touched: list[str], *, there: bool, yes: bool) -> None:
    """Before anything is written, what that would be."""
    if yes or (there and not touched):
        return
    if not sys.stdin.isatty():
        raise BadInput("there is no terminal to ask on", todo="say `agentplane init --yes`.")
    questions = [] if there else [f"make a plane in {folder}"]
    if touched:
        questions.append(f"write into {', '.join(visible(path) for path in touched)}")
    text = " and ".join(questions)
    click.confirm(f"{text[0].upper()}{text[1:]}?", default=True, abort=True, err=True)


def _wanted_tools(project: Path, names: str | None) -> list[Tool]:
    if names is not None and names.strip().lower() == "none":
        return []
    if names is not None:
        return named_tools(names)
    return [row.tool for row in found.look(project) if row.in_project]


def _say_installed(project: Path) -> None:
    rows = [row.tool.name for row in found.look(project) if row.installed and not row.in_project]
    if rows:
        out.note(f"also installed: {', '.join(rows)}. `agentplane tools add {rows[0]}` wires one.")


def _wanted_folder(named: str | None) -> Path:
    if named:
        return Path(named).absolute()
    here = Path.cwd()
    if ".git" in here.parts:
        raise BadInput("this is git's own folder", where=str(here), todo="go to the project itself.")
    return (git.top(here) or here) / FOLDER
