"""The command diff, which shows memory changes since a commit or a time."""

from typing import TYPE_CHECKING, Any

import click

from agentplane.api import summaries
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.memory.entry_rows import readable_text
from agentplane.cli.open import invalid_option, json_option, opened
from agentplane.memory.entry import Entry


if TYPE_CHECKING:
    from agentplane.api.memory_diff import EntryChange, MemoryDiff

_COLORS = {"added": "green", "removed": "red", "changed": "yellow"}


@command("diff", "diff --since 2026-11-01", "diff --since main", "diff --since 7d --json")
@click.option(
    "--since",
    metavar="REV|DATE",
    shell_complete=complete.since,
    help="Git revision, date or age to compare with, for example main, 2026-11-01 or 7d [default: the last Git commit].",
)
@click.option("--run", metavar="RUN", hidden=True, shell_complete=complete.runs)
@click.option("--against", metavar="RUN", hidden=True, shell_complete=complete.runs)
@json_option
@click.pass_context
def diff_command(
    ctx: click.Context, since: str | None, run: str | None, against: str | None, as_json: bool
) -> None:
    """Show memory changes since the last Git commit.

    Lists the approved entries that were added (+), changed (~) or removed (-). In a changed entry,
    removed words are in [- -] and added words are in {+ +}. Candidates and manual edits are not included.

    To compare two runs, use `agentplane run diff`.
    """
    if run is not None:
        from agentplane.cli.runs.runs import run_diff_command

        if not as_json:
            output.note("`agentplane diff --run` is now `agentplane run diff --run`.")
        ctx.invoke(run_diff_command, run=run, against=against, as_json=as_json)
        return
    from agentplane.api.memory_diff import BadBase

    plane = opened(doing="Comparing memory")
    memory = plane.memory.read()
    try:
        found = plane.memory.diff(memory, since)
    except BadBase as error:
        raise invalid_option("--since", since or "", error.todo or "") from None
    if as_json:
        output.emit("memory-diff", **_fields(found))
        return
    for entry in found.entries:
        _print(entry)
    for note in summaries.diff_notes(found, len(memory.hand_edits)):
        output.note(note)
    if found.missing == "repository":
        output.note("To compare with an earlier time, use --since DATE.")


def _fields(found: "MemoryDiff") -> dict[str, Any]:
    return {
        "since": {"commit": found.commit, "time": found.time, "missing": found.missing},
        "revision": found.revision,
        "entries": [
            {
                "id": entry.id,
                "change": entry.change,
                "statement": _statement(entry),
                "before": _as_json(entry.before),
                "after": _as_json(entry.after),
            }
            for entry in found.entries
        ],
    }


def _as_json(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {
        "type": entry.head.type,
        "status": entry.head.status,
        "body": readable_text(entry.body.strip("\r\n")),
        "pinned": entry.head.pinned,
    }


def _statement(entry: "EntryChange") -> str | None:
    shown = entry.after or entry.before
    return readable_text(shown.statement) if shown else None


def _print(entry: "EntryChange") -> None:
    for line in summaries.diff_lines(entry, _readable):
        output.line(*(output.Piece(one.text, {"fg": _COLORS[one.mark]} if one.mark else {}) for one in line))


def _readable(text: str) -> str:
    return readable_text(text) or ""
