"""The command show, which prints entries, candidates and runs in full."""

from typing import TYPE_CHECKING

import click

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.memory import entry_rows
from agentplane.cli.open import ids_argument, json_option, opened, run_named
from agentplane.errors import AgentplaneError
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.review import streak


if TYPE_CHECKING:
    from agentplane.api import Plane


@command("show DEC-014 CAND-7F3K2Q", "show run_20261120T091530Z-k3f9 --commands")
@ids_argument("all")
@click.option("--commands", is_flag=True, help="Print all commands and permission decisions of a run.")
@json_option
def show_command(ids: tuple[str, ...], commands: bool, as_json: bool) -> None:
    """Show entries, candidates or runs in full."""
    plane = opened(doing="Reading memory")
    memory = plane.memory.read()
    runs = {name: run_id for name in ids if (run_id := _run_of(plane, memory, name))}
    if runs:
        _show_runs(plane, list(runs.values()), in_full=commands, as_json=as_json)
    if runs and not (ids := tuple(name for name in ids if name not in runs)):
        return
    entries = entry_rows.readable(memory, [memory.get(id_) for id_ in ids])
    candidates = [entry.id for entry in entries if entry.file == INBOX]
    found = plane.inbox.reviewer(memory).look(candidates) if candidates else []
    if candidates:
        streak.note_opened(plane.layout, plane.origin)
    reviewed = {each.entry.id: entry_rows.readable_candidate(memory, each) for each in found}
    if as_json:
        output.emit(
            "show",
            entries=[entry_rows.as_shown(entry, reviewed.get(entry.id), plane.today()) for entry in entries],
        )
        return
    for number, entry in enumerate(entries):
        if number:
            output.line()
        entry_rows.print_entry(memory, entry, reviewed.get(entry.id), plane.memory.expiry_of(entry))


def _run_of(plane: "Plane", memory: Memory, name: str) -> str | None:
    """Return the run that a name means, or None. Entries have priority."""
    from agentplane.plane.ledger.run_lookup import is_run_id

    if not is_run_id(name):
        try:
            memory.get(name)
        except AgentplaneError:
            return run_named(plane, name)
        return None
    return run_named(plane, name)


def _show_runs(plane: "Plane", run_ids: list[str], *, in_full: bool, as_json: bool) -> None:
    from agentplane.cli.runs import show

    for run_id in run_ids:
        shown = show.look(plane, run_id)
        if as_json:
            output.emit_line("run", **show.as_json(shown))
        else:
            show.print_run(shown, in_full=in_full)
