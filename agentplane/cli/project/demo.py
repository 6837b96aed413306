"""The command demo, which copies the example project to a temporary folder."""

import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import click

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.errors import BadInput
from agentplane.plane.git import git
from agentplane.system import programs
from agentplane.text.visible import visible


@command("demo", "demo --into ~/agentplane-demo")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for the copy [default: a temporary folder].",
)
@click.pass_context
def demo_command(ctx: click.Context, into: Path | None) -> None:
    """Create a copy of the example project and list its inbox."""
    plane, project = _example()
    target = into or Path(tempfile.mkdtemp(prefix="agentplane-demo-"))
    folder = target / "payments-api"
    if folder.exists():
        raise BadInput(f"Directory already exists: {folder}", todo="Choose another with --into.")
    try:
        shutil.copytree(project, folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(plane, folder / ".agentplane")
    except OSError as error:
        what = f"Can't create {folder}: {error.strerror or error}."
        raise BadInput(what, todo="Choose another directory with --into.") from None
    git.make_example(folder)  # the copy then behaves like a project, and it also works without Git
    ctx.find_root().obj = str(folder / ".agentplane")
    from agentplane.cli.memory.show import inbox_command, status_command

    ctx.invoke(status_command)
    output.line()
    ctx.invoke(inbox_command)
    there = shlex.quote(visible(str(folder)))
    output.note(f"\nTo try it, run: cd {there}\nThen run `{_called()}` to open the TUI.")


def _called() -> str:
    """Return the command for this program.

    This is its name if the shell finds it, or else its full path.
    """
    mine, found = Path(sys.argv[0]).absolute(), programs.find("agentplane")
    if mine.name != "agentplane" or not mine.is_file() or (found and mine.samefile(found)):
        return "agentplane"
    return shlex.quote(visible(str(mine)))


def _example() -> tuple[Path, Path]:
    """Return the folders of the example's plane and project. They are in the package or in a source checkout."""
    package = Path(__file__).parents[2]
    for plane, project in (
        (package / "example" / "plane", package / "example" / "project"),
        (package.parent / ".agentplane-example", package.parent / "tests" / "example" / "project"),
    ):
        if plane.is_dir() and project.is_dir():
            return plane, project
    raise BadInput(
        "The example isn't part of this installation.", todo="Run `agentplane demo` in a source checkout."
    )
