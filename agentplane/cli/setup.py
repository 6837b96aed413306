"""Setting up: init."""

import sys
from pathlib import Path

import click

from agentplane.cli import out
from agentplane.errors import BadInput
from agentplane.plane import create, git, gitdriver, origin
from agentplane.plane.layout import Layout, is_plane
from agentplane.plane.stamp import FOLDER
from agentplane.plane.store import Store


@click.command()
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_context
def init_command(ctx: click.Context, yes: bool) -> None:
    """Make a plane in this project: at the top of the repository, or here where there is no git."""
    folder = _wanted_folder(ctx.find_root().obj)
    create.check_free(folder)
    there = is_plane(folder)
    if not yes and not there:
        if not sys.stdin.isatty():
            raise BadInput("there is no terminal to ask on", todo="say `agentplane init --yes`.")
        click.confirm(f"Make a plane in {folder}?", default=True, abort=True, err=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    layout = Layout(root=folder.parent.resolve() / folder.name)
    channel = "terminal" if sys.stdin.isatty() else "cli"
    made = create.create(Store(layout), origin.here(channel, layout.project))
    made += [f".gitattributes: {rule}" for rule in create.complete_rules(layout)]
    told = gitdriver.set_up(layout)
    for text in told:
        out.note(f"set: {text}")
    if not made and not told:
        out.note(f"{folder} is a plane already; nothing was missing.")
        return
    for name in made:
        out.line(f"{folder.name}/{name}")
    if not made:
        return
    out.note('made. Next: agentplane propose --type decision "…", then agentplane inbox.')


def _wanted_folder(named: str | None) -> Path:
    if named:
        return Path(named).absolute()
    here = Path.cwd()
    if ".git" in here.parts:
        raise BadInput("this is git's own folder", where=str(here), todo="go to the project itself.")
    return (git.top(here) or here) / FOLDER
