"""Open the plane of a command, with the actor and the channel."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentplane.api import Listeners, Plane, open_plane
from agentplane.cli import complete, output, progress_line
from agentplane.errors import AgentplaneError, BadInput
from agentplane.jobs import ignore
from agentplane.plane.store import lock
from agentplane.review.policy import check_person
from agentplane.text.visible import one_line


if TYPE_CHECKING:
    from agentplane.memory.reconcile.settle import Settled

_Command = TypeVar("_Command", bound=Callable[..., Any])


def opened(*, deciding: str | None = None, doing: str | None = None, quiet: bool = False) -> Plane:
    """Return the plane of this command.

    `deciding` is the name of an action that only a person may do. `doing` is a phrase for the work of a
    command that may take longer than a second. With `quiet`, the command itself reports that a change is being
    written.
    """
    context = click.get_current_context()
    root = context.find_root()
    wanted: str | None = root.obj
    # A person who decides may still give the command a file or a pipe as input.
    at_terminal = sys.stdin.isatty() or (deciding is not None and sys.stderr.isatty())
    channel = "terminal" if at_terminal else "cli"
    try:
        line = progress_line.of_command(context)
        report = line.report if line else ignore
        listeners = Listeners(settled=_print_settled, progress=report)
        if doing is not None:
            report(0, 0, doing)
        plane = open_plane(_checked(wanted), channel=channel, listeners=listeners)
    except BadInput as error:
        if root.get_parameter_source("plane") is not click.core.ParameterSource.ENVIRONMENT:
            raise
        todo = "Set AGENTPLANE_PLANE to the path of an .agentplane directory, or unset the variable."
        raise BadInput(error.what, where=error.where, todo=todo) from None
    if not quiet:
        plane.store.on_writing = _WritingNotice(plane)
    if deciding is not None:
        check_person(plane.store.settings(), deciding)
    return plane


def invalid_option(name: str, value: str, todo: str) -> BadInput:
    """Return the error for a value that an option doesn't accept."""
    return BadInput(f"Invalid value for {name}: {one_line(value, 40)}.", todo=todo)


def _checked(wanted: str | None) -> str:
    """Return the folder in which to look for the plane.

    A missing folder that was named is never replaced by another.
    """
    if wanted is None or os.path.isdir(wanted):
        return wanted or "."
    todo = "Pass the path of an .agentplane directory, or run `agentplane init` to create one."
    raise BadInput(f"Directory not found: {one_line(wanted, 60)}", todo=todo)


class _WritingNotice:
    """Prints once in a command that another process has not completed its change."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._printed = False

    def __call__(self) -> None:
        if not self._printed:
            self._printed = True
            pid = lock.owner(self._plane.layout)
            output.note(
                f"Another process{f' (pid {pid})' if pid else ''} is writing a change. Until that process finishes, agentplane shows the memory without that change."
            )


def _print_settled(done: "Settled") -> None:
    from agentplane.memory.reconcile.settle_text import result_lines

    for text in result_lines(done):
        output.note(text)


def run_named(plane: Plane, named: str | None) -> str | None:
    """Return the ID of a sealed or open run, from its ID or the part after the dash.

    Return None if there is no run.
    """
    from agentplane.runs import events
    from agentplane.runs.open import open_run
    from agentplane.runs.query import compare

    if not named or named == "latest":
        return None
    for run in open_run.every(plane.layout):
        if named in (run.run_id, run.run_id.partition("-")[2]):
            return run.run_id
    if events.is_run_id(named):
        return named if events.is_logged(plane.layout, named) else None
    try:
        return compare.run_named(plane.layout, named).run_id
    except AgentplaneError:
        return None


def json_option(command: _Command) -> _Command:
    return click.option("--json", "as_json", is_flag=True, help="Output as JSON.")(command)


def ids_option(name: str, of: complete.Of, help_text: str) -> Callable[[_Command], _Command]:
    """Return an option for IDs that can be repeated. `of` selects the IDs that the shell completes."""
    return click.option(name, multiple=True, metavar="ID", shell_complete=complete.ids(of), help=help_text)


def ids_argument(of: complete.Of, *, required: bool = True) -> Callable[[_Command], _Command]:
    """Return an argument for IDs. `of` selects the IDs that the shell completes."""
    shown = "ID..." if required else "[ID]..."
    return click.argument("ids", nargs=-1, required=required, metavar=shown, shell_complete=complete.ids(of))
