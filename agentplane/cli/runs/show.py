"""The output of `show` for one run, with its result, capsule, commands and permission decisions."""

from typing import Any

import msgspec

from agentplane.api import Plane
from agentplane.cli import output
from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.runs import events
from agentplane.runs.capsule import capsule, commands
from agentplane.runs.capsule.commands import Command, Permission, SessionRecord
from agentplane.runs.events import CapsuleFile, RunEvent
from agentplane.runs.open import open_run
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible


_NOT_PRINTED = ("tool_calls", "kind")
_FEW = 5
_WIDTH = 110


class Shown(msgspec.Struct, frozen=True):
    run_id: str
    run: RunEvent | None
    """None for an open run."""
    record: SessionRecord
    here: tuple[str, ...]
    """Files of its capsule that are on this machine."""


def look(plane: Plane, run_id: str) -> Shown:
    layout = plane.layout
    opened = open_run.load(layout, run_id)
    if opened is not None:
        return Shown(run_id, None, commands.of_open(layout, opened), ())
    run = events.load(layout, run_id)
    here = tuple(kept.path for kept in run.capsule if _is_here(layout, run, kept))
    return Shown(run_id, run, commands.of_sealed(layout, run), here)


def as_json(shown: Shown) -> dict[str, Any]:
    return {
        "run": shown.run_id,
        "event": _event_fields(shown.run),
        "here": shown.here,
        "commands": shown.record.commands,
        "permissions": shown.record.permissions,
    }


def _event_fields(run: RunEvent | None) -> dict[str, Any] | None:
    """Return the fields of an event without its calls, which `commands` and `permissions` list."""
    if run is None:
        return None
    fields = msgspec.structs.fields(run)
    return {field.encode_name: getattr(run, field.name) for field in fields if field.name not in _NOT_PRINTED}


def print_run(shown: Shown, *, in_full: bool) -> None:
    run = shown.run
    output.line(f"{shown.run_id}  {_outcome(run)}", bold=True)
    if run is not None:
        for name, value in (
            ("task", run.task),
            ("tool", run.tool),
            ("when", run.ts),
            ("summary", run.summary),
        ):
            if value:
                output.line(f"  {name}: {one_line(value, _WIDTH)}")
        if run.command:
            output.line(f"  command: {one_line(' '.join(run.command), _WIDTH)}")
        _print_files(run, shown.here)
    _print_commands(shown, in_full=in_full)
    _print_permissions(shown.record.permissions, in_full=in_full)


def _outcome(run: RunEvent | None) -> str:
    if run is None:
        return "open"
    return "ended" if run.exit_status is None else f"exit {run.exit_status}" if run.exit_status else "ok"


def _print_files(run: RunEvent, here: tuple[str, ...]) -> None:
    if run.capsule:
        output.line("  run record")
    for kept in run.capsule:
        size = kept.size if kept.full_size is None else kept.full_size
        notes = ["not on this machine"] if kept.path not in here else []
        notes += ["shortened"] if kept.left_out else []
        notes += ["secrets masked"] if kept.masked or kept.masked_more else []
        output.line(f"    {one_line(kept.name, 80)}  {size:,} bytes{''.join(f', {note}' for note in notes)}")


def _print_commands(shown: Shown, *, in_full: bool) -> None:
    rows = [row for row in shown.record.commands if row.command]
    if not rows:
        return
    bad = sum(row.is_bad for row in rows)
    output.line(f"  {counted(len(rows), 'command')}{f', {bad} failed' if bad else ''}")
    for row in rows if in_full else rows[-_FEW:]:
        output.line(
            f"    {_ended(row):<8}{visible(row.command) if in_full else one_line(row.command, _WIDTH)}{_cut(row)}"
        )
    if more := sum(row.more for row in shown.record.commands):
        output.line(f"    and {more:,} more commands that weren't recorded")
    if not in_full and len(rows) > _FEW:
        output.note(
            f"Only the last {_FEW} commands are shown. Run `agentplane show {shown.run_id} --commands` to show all of them."
        )


def _ended(row: Command) -> str:
    return f"exit {row.exit}" if row.exit else "failed" if row.failed else "-" if row.exit is None else "ok"


def _cut(row: Command) -> str:
    return f" … and {row.cut:,} more characters" if row.cut else ""


def _print_permissions(rows: tuple[Permission, ...], *, in_full: bool) -> None:
    rows = tuple(row for row in rows if row.decision)
    if not rows:
        return
    output.line("  permissions")
    single = [row for row in rows if row.decision != "allowed" or row.by != "settings"]
    for row in single if in_full else single[-_FEW:]:
        by = {"prompt": "after a prompt", "": "no answer"}.get(row.by, f"by {row.by}" if row.by else "")
        what = " ".join(filter(None, (row.tool, row.command or row.path)))
        reason = f" ({one_line(row.reason, 60)})" if row.reason else ""
        output.line(f"    {row.decision:<8}{one_line(what, _WIDTH - 30)}, {by}{reason}")
    for row in rows:
        if row not in single:
            calls = counted(row.times, "call")
            output.line(
                f"    {row.decision:<8}{calls} without a prompt, in mode {one_line(row.mode or '?', 40)}"
            )
    if not in_full and len(single) > _FEW:
        output.line(f"    and {len(single) - _FEW} more")


def _is_here(layout: Layout, run: RunEvent, kept: CapsuleFile) -> bool:
    try:
        return capsule.file(layout, run.run_id, kept.path).is_file()
    except AgentplaneError:
        return False
