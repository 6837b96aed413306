"""The command list, which lists approved entries."""

import click

from agentplane.cli import complete, output, querying
from agentplane.cli.help import command
from agentplane.cli.memory import entry_rows
from agentplane.cli.open import json_option, opened
from agentplane.errors import BadInput
from agentplane.memory import expiry
from agentplane.memory.entry import SHELF_STATUSES
from agentplane.memory.kinds import kind_named
from agentplane.text.visible import one_line


@command("list", "list kind:fact older:4w", "list --kind decision --tag api", "list --status all")
@querying.query_argument("memory")
@click.option(
    "--kind", "--type", metavar="KIND", shell_complete=complete.kinds, help="List only entries of this kind."
)
@click.option(
    "--status",
    metavar="STATUS",
    help="List only entries with this status. Use `all` to list entries with any status.",
    default="accepted",
    show_default=True,
)
@click.option("--tag", metavar="TAG", shell_complete=complete.tags, help="List only entries with this tag.")
@json_option
def list_command(
    words: tuple[str, ...], kind: str | None, status: str, tag: str | None, as_json: bool
) -> None:
    """List approved entries.

    QUERY filters the list, for example `kind:fact older:4w`.
    """
    plane = opened()
    memory, today = plane.memory.read(), plane.today()
    name = kind_named(memory.kinds, kind).name if kind else None
    query = querying.of_words(words, "memory")
    asked = click.get_current_context().get_parameter_source("status")
    if query is not None and query.asks_for("status") and asked is click.core.ParameterSource.DEFAULT:
        status = "all"
    status = status.lower()
    if status not in (*SHELF_STATUSES, "all"):
        what = f"Unknown status: {one_line(status, 30)}."
        raise BadInput(what, todo=f"Use {', '.join(SHELF_STATUSES)} or all.")
    entries = [
        entry
        for entry in memory.shelf
        if name in (None, entry.head.type)
        and status in ("all", entry.head.status)
        and (tag is None or tag in entry.head.tags)
    ]
    if query is not None:
        entries = querying.entries_of(plane, memory, entries, query)
    entries = entry_rows.readable(memory, entries)
    if as_json:
        output.emit("list", entries=[entry_rows.as_entry(entry, today) for entry in entries])
        return
    size = max((len(entry.id) for entry in entries), default=0)
    for entry in entries:
        mark = " " if entry.trusted else "~"
        expired = expiry.of(entry, today)
        state = "" if entry.head.status == "accepted" else f"({entry.head.status}) "
        state = f"({expired.text}) " if expired else state
        output.line(output.row([(mark, 1), (entry.id, min(size, 20))], state + entry.statement))
    if not entries:
        output.note("No matching entries.")
