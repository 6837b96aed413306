"""The command diff, which shows memory changes since a commit or a time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import msgspec

from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.memory.entry_rows import readable_text
from agentplane.cli.open import json_option, opened
from agentplane.memory.entry import Entry, Header
from agentplane.text.visible import one_line
from agentplane.text.word_changes import changes


if TYPE_CHECKING:
    from agentplane.api.memory_diff import EntryChange, MemoryDiff

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_COLORS = {"added": "green", "removed": "red", "changed": "yellow"}
_UNSHOWN = frozenset(("id", "updated"))
_NO_BASE = {
    "repository": "This project isn't in a Git repository, so every approved entry is listed. Use --since DATE to compare with an earlier time.",
    "commit": "No Git commit contains this memory yet, so every approved entry is listed.",
}


@command("diff", "diff --since 2026-11-01", "diff --since main", "diff --since 7d --json")
@click.option(
    "--since",
    metavar="REV|DATE",
    help="Git revision, date, or age such as 3h, 2d or 1w [default: the last Git commit].",
)
@click.option("--run", metavar="RUN", hidden=True, shell_complete=complete.runs)
@click.option("--against", metavar="RUN", hidden=True, shell_complete=complete.runs)
@json_option
@click.pass_context
def diff_command(
    ctx: click.Context, since: str | None, run: str | None, against: str | None, as_json: bool
) -> None:
    """Show memory changes since the last Git commit.

    Lists the approved entries that were added (+), changed (~) or removed (-). Removed words are in [- -], added words
    in {+ +}. Candidates and manual edits are not included.

    To compare two runs, use `agentplane run diff`.
    """
    if run is not None:
        from agentplane.cli.runs.runs import run_diff_command

        if not as_json:
            output.note("`agentplane diff --run` is now `agentplane run diff --run`.")
        ctx.invoke(run_diff_command, run=run, against=against, as_json=as_json)
        return
    plane = opened(doing="Comparing memory")
    memory = plane.memory.read()
    found = plane.memory.diff(memory, since)
    if as_json:
        output.emit("memory-diff", **_fields(found))
        return
    for entry in found.entries:
        _print(entry)
    if found.missing:
        output.note(_NO_BASE[found.missing])
    elif not found.entries:
        output.note(f"No approved entries changed since {_since(found)}.")
    if edits := len(memory.hand_edits):
        output.note(
            f"{output.count(edits, 'manual edit')} to review not included. Run `agentplane inbox` to list manual edits."
        )


def _since(found: "MemoryDiff") -> str:
    return f"commit {found.commit[:12]}" if found.commit else str(found.time)


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
    sign = output.Piece(f"{_SIGNS[entry.change]} {one_line(entry.id, 40)}", {"fg": _COLORS[entry.change]})
    text = _statement(entry)
    output.line(sign, f"  {one_line(text)}" if text else "  (text pruned)")
    if entry.before and entry.after:
        for name, before, after in _changed_fields(entry.before.head, entry.after.head):
            output.line(f"    {name}: {before or '-'} → {after or '-'}")
        before, after = _body(entry.before), _body(entry.after)
        lines = [*_changed_lines(before, after)]
        for pieces in lines:
            output.line("    ", *pieces)
        if before != after and not lines:
            output.line("    Only blanks and line breaks changed.", dim=True)


def _body(entry: Entry) -> str:
    return readable_text(entry.body.strip("\r\n")) or ""


def _changed_fields(before: Header, after: Header) -> Iterator[tuple[str, str, str]]:
    for field in msgspec.structs.fields(Header):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new and field.name not in _UNSHOWN:
            yield field.encode_name, _value(old), _value(new)


def _value(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
    return one_line(readable_text(text) or "", 60)


def _changed_lines(before: str, after: str) -> Iterator[list[output.Piece]]:
    """Yield the lines with changed words. Removed words are in `[-…-]` and added words in `{+…+}`."""
    line: list[output.Piece] = []
    differs = False
    for change in changes(before, after, exact=True):
        pieces = [(change.here, {})] if change.same else [*_marked(change.here, change.there)]
        for text, style in pieces:
            first, *rest = text.split("\n")
            line.append(output.Piece(first, style))
            differs |= bool(style) and bool(first.strip())
            for part in rest:
                if differs:
                    yield line
                line, differs = [output.Piece(part, style)], bool(style) and bool(part.strip())
    if differs:
        yield line


def _marked(old: str, new: str) -> Iterator[tuple[str, dict[str, Any]]]:
    lead = old[: len(old) - len(old.lstrip())] or new[: len(new) - len(new.lstrip())]
    end = old[len(old.rstrip()) :] or new[len(new.rstrip()) :]
    yield lead, {}
    if old.strip():
        yield f"[-{old.strip()}-]", {"fg": "red"}
    if new.strip():
        yield f"{{+{new.strip()}+}}", {"fg": "green"}
    yield end if old.strip() or new.strip() else "", {}
