"""Setting up: init, which makes a plane and wires the tools."""

import shlex
import sys
from pathlib import Path

import click

from agentplane import setup
from agentplane.cli import complete, out
from agentplane.cli.tools import named_tools, say_wired
from agentplane.errors import BadInput
from agentplane.plane import gitdriver
from agentplane.plane.layout import Layout
from agentplane.plane.stamp import FOLDER
from agentplane.text.visible import visible
from agentplane.tools import found
from agentplane.tools.table import Tool


@click.command()
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option(
    "--tools",
    "names",
    metavar="NAMES",
    shell_complete=complete.tools,
    help="Wire these tools, as codex,claude; `none` for none. Without it: those that are used in this project.",
)
@click.pass_context
def init_command(ctx: click.Context, yes: bool, names: str | None) -> int:
    """Make a plane in this project, and wire the coding tools: at the top of the repository, or here without git.

    Again, it makes what is missing.
    """
    folder = _wanted_folder(ctx.find_root().obj)
    wanted = setup.outlook(folder, _wanted_tools(folder.parent, names))
    _ask(wanted, yes=yes)
    made = setup.make(wanted, "terminal" if sys.stdin.isatty() else "cli")
    for text in made.git:
        out.note(f"set: {text}")
    for name in made.files:
        out.line(f"{folder.name}/{name}")
    if made.wired:
        say_wired(made.wired, list(wanted.tools))
    elif not (made.files or made.git):
        out.note(f"{folder} is a plane already; nothing was missing.")
    if made.files:
        if names is None and not yes:
            _say_installed(folder.parent)
        if folder.name != FOLDER:
            out.note(
                f"it is found where it is named: export AGENTPLANE_PLANE={shlex.quote(visible(str(folder)))}"
            )
        out.note('made. Next: agentplane propose --type decision "…", then agentplane inbox.')
    return int(bool(made.wired and made.wired.blocked))


def _ask(wanted: setup.Outlook, *, yes: bool) -> None:
    """Before anything is written, what that would be."""
    if yes or (wanted.there and not wanted.touched):
        return
    if not sys.stdin.isatty():
        raise BadInput("there is no terminal to ask on", todo="say `agentplane init --yes`.")
    questions = [] if wanted.there else [f"make a plane in {wanted.folder}"]
    if wanted.touched:
        questions.append(f"write into {', '.join(visible(path) for path in wanted.touched)}")
    if gitdriver.is_set(Layout(root=wanted.folder)) is False:
        out.note(
            "git is told how to merge it: in .git/config, and in two hooks where you have none of your own."
        )
    text = " and ".join(questions)
    out.confirmed(f"{text[0].upper()}{text[1:]}?", default=True, abort=True)


def _wanted_tools(project: Path, names: str | None) -> list[Tool]:
    if names is not None and names.strip().lower() == "none":
        return []
    if names is not None:
        return named_tools(names)
    return setup.tools_in_use(project)


def _say_installed(project: Path) -> None:
    rows = [row.tool.name for row in found.look(project) if row.installed and not row.in_project]
    if rows:
        out.note(f"also installed: {', '.join(rows)}. `agentplane tools add {rows[0]}` wires one.")


def _wanted_folder(named: str | None) -> Path:
    return Path(named).absolute() if named else setup.folder_for(Path.cwd())
