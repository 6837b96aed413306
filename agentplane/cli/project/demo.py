"""The demo, which copies the example project and its plane to a temporary folder."""

import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import click

from agentplane.cli import output
from agentplane.errors import BadInput
from agentplane.plane.git import git
from agentplane.system import programs
from agentplane.text.visible import visible


@click.command()
@click.option(
    "--into", type=click.Path(path_type=Path), help="Where to put the copy; a temporary folder otherwise."
)
@click.pass_context
def demo_command(ctx: click.Context, into: Path | None) -> None:
    """Try it on a copy of the example: what waits there, and where it lies."""
    plane, project = _example()
    target = into or Path(tempfile.mkdtemp(prefix="agentplane-demo-"))
    folder = target / "payments-api"
    if folder.exists():
        raise BadInput("is there already", where=str(folder), todo="name another folder with --into.")
    try:
        shutil.copytree(project, folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(plane, folder / ".agentplane")
    except OSError as error:
        what = (error.strerror or "cannot be written").lower()
        raise BadInput(what, where=str(folder), todo="name another folder with --into.") from None
    git.make_example(folder)  # the copy then behaves like a project, and it also works without Git
    ctx.find_root().obj = str(folder / ".agentplane")
    from agentplane.cli.memory.show import inbox_command, status_command

    ctx.invoke(status_command)
    output.line()
    ctx.invoke(inbox_command)
    there = shlex.quote(visible(str(folder)))
    output.note(
        f"\nThe copy is yours to play with: cd {there}\nThere, `{_called()}` alone opens the screens."
    )


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
        "the example is not part of this installation", todo="see it in the source: .agentplane-example/."
    )
