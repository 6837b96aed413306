"""The demo, which creates the example project with a recent project memory, and opens the screens on it."""

import shlex
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.project import screens
from agentplane.errors import BadInput
from agentplane.plane import known_projects
from agentplane.plane.derived.badge_stamp import FOLDER
from agentplane.plane.git import git
from agentplane.system import programs
from agentplane.text.visible import visible


@command("demo", "demo --into ~/agentplane-demo", "demo --print")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Directory for the example project [default: a new temporary directory].",
)
@click.option("--print", "only_print", is_flag=True, help="Print the inbox instead of opening the TUI.")
@click.pass_context
def demo_command(ctx: click.Context, into: Path | None, only_print: bool) -> int:
    """Create a copy of the example project and open the TUI on it.

    With --print or in a non-interactive shell, the command prints the inbox instead.
    """
    folder = (into or Path(tempfile.mkdtemp(prefix="agentplane-demo-"))) / "payments-api"
    if folder.exists():
        raise BadInput(
            f"Directory already exists: {folder}", todo="Choose a different directory with --into."
        )
    try:
        _create(folder)
    except OSError as error:
        what = f"Can't create {folder}: {error.strerror or error}."
        raise BadInput(what, todo="Choose a different directory with --into.") from None
    show = not only_print and screens.at_terminal()
    code = _open_screens(folder) if show else _print_inbox(ctx, folder)
    there = shlex.quote(visible(str(folder)))
    output.note(f"The example project is in {there}. To open it again, run `cd {there}`, then `{_called()}`.")
    return code


def _create(folder: Path) -> None:
    """Create the example, with a story that ends now. It also works without Git."""
    from agentplane.demo import example

    shutil.copytree(_project(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    with_git = git.make_example(folder) and git.commit_example(folder)
    example.create_memory(folder, datetime.now(UTC) - example.DURATION)
    if with_git:
        git.commit_example(folder)
    # Nobody works with the example, so `badge --all` must not count it.
    known_projects.leave_out(str(folder.resolve() / FOLDER))


def _open_screens(folder: Path) -> int:
    from agentplane.tui.hints import Hints
    from agentplane.tui.main import run

    return run(str(folder / ".agentplane"), hints=Hints())


def _print_inbox(ctx: click.Context, folder: Path) -> int:
    from agentplane.cli.memory.status import status_command
    from agentplane.cli.review.inbox import inbox_command

    ctx.find_root().obj = str(folder / ".agentplane")
    ctx.invoke(status_command)
    output.line()
    ctx.invoke(inbox_command)
    return 0


def _called() -> str:
    """Return the command for this program.

    This is its name if the shell finds it, or else its full path.
    """
    mine, found = Path(sys.argv[0]).absolute(), programs.find("agentplane")
    if mine.name != "agentplane" or not mine.is_file() or (found and mine.samefile(found)):
        return "agentplane"
    return shlex.quote(visible(str(mine)))


def _project() -> Path:
    """Return the folder of the example's code. It is in the package or in a source checkout."""
    package = Path(__file__).parents[2]
    for project in (package / "example" / "project", package.parent / "tests" / "example" / "project"):
        if project.is_dir():
            return project
    raise BadInput(
        "The example isn't part of this installation.", todo="Run `make demo` in a source checkout."
    )
