"""The commands of a session and its tool's permission decisions, from the notes of hooks and the tool's session file.

A session file has exit codes and the calls that failed or were rejected. Hooks have the calls of subagents,
questions, and tools without a known session file. Sealing joins both by the tool's own id of a call, or by the
command.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.runs.capsule import capsule, preview, transcripts
from agentplane.runs.capsule.transcripts import ToolCall
from agentplane.runs.events import RunEvent
from agentplane.runs.open import hook_notes, open_run
from agentplane.runs.open.open_run import OpenRun
from agentplane.scan.secrets.mask import masked_text
from agentplane.text import files
from agentplane.text.json import decode


COMMANDS, PERMISSIONS = f"{capsule.OUTPUTS}/commands.jsonl", f"{capsule.OUTPUTS}/permissions.jsonl"
_LARGEST = 16 << 20

T = TypeVar("T")


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that a session executed."""

    command: str = ""
    tool: str = ""
    """The tool's own name of the tool that executes commands."""
    at: str = ""
    exit: int | None = None
    """None if no source reports the exit code."""
    seconds: float | None = None
    failed: bool = False
    mode: str = ""
    """The permission mode, or approval policy, at that time."""
    cut: int = 0
    """Number of characters that were cut off at the end."""
    more: int = 0
    """Number of omitted rows. Only the last row has it."""

    @property
    def is_bad(self) -> bool:
        return self.failed or bool(self.exit)


class Permission(msgspec.Struct, frozen=True, omit_defaults=True):
    """A decision of the tool, or of its person, about a call."""

    decision: str = ""
    """`allowed`, `denied`, or `asked` if no answer was seen."""
    by: str = ""
    """`person`, `classifier`, `settings` or `prompt`. The last one means that the call ran after the tool
    asked, so a person or a hook allowed it.
    """
    tool: str = ""
    command: str = ""
    path: str = ""
    at: str = ""
    mode: str = ""
    reason: str = ""
    times: int = 1
    """Number of calls. Calls that ran without a question are counted by mode."""


class SessionRecord(msgspec.Struct, frozen=True):
    commands: tuple[Command, ...] = ()
    permissions: tuple[Permission, ...] = ()


def of_open(layout: Layout, run: OpenRun) -> SessionRecord:
    """Return the commands and permissions of a session that is open or about to be sealed."""
    if run.session is None:
        return SessionRecord()
    reported = transcripts.read(run.asked.tool, run.session.transcript, run.started)
    hooks, files_of = (
        [_shown(layout, run.asked.cwd, row) for row in rows]
        for rows in (_noted(layout, run.run_id), reported)
    )
    return of_rows(list(joined(hooks, files_of)))


def of_sealed(layout: Layout, run: RunEvent) -> SessionRecord:
    """Return the content of the capsule. It is empty for older versions and for a capsule on another
    machine.
    """
    return SessionRecord(
        tuple(_read(layout, run, COMMANDS, _command)),
        tuple(_read(layout, run, PERMISSIONS, _permission)),
    )


def of_rows(rows: Sequence[ToolCall]) -> SessionRecord:
    ran = [row for row in rows if row.event in ("ran", "failed")]
    commands = [
        Command(
            row.command,
            row.tool,
            row.at,
            row.exit,
            row.seconds,
            row.event == "failed",
            row.mode,
            row.cut,
        )
        for row in ran
        if row.command
    ]
    return SessionRecord(tuple(commands), tuple(_decisions(rows)))


def encoded(rows: Sequence[Command] | Sequence[Permission], most: int) -> bytes:
    """Return the rows as lines of JSON, up to a size. If rows are missing, the last line says how many."""
    lines, size = list[bytes](), 0
    for number, row in enumerate(rows):
        line = msgspec.json.encode(row) + b"\n"
        size += len(line)
        if size > most or number >= transcripts.MOST_ROWS:
            return b"".join(lines) + msgspec.json.encode({"more": len(rows) - number}) + b"\n"
        lines.append(line)
    return b"".join(lines)


def joined(hooks: Sequence[ToolCall], reported: Sequence[ToolCall]) -> Iterator[ToolCall]:
    """Yield every call once, ordered by time. The session file has priority, and a hook adds the fields that it
    lacks.
    """
    by_use = {row.use: row for row in hooks if row.use and row.event in ("ran", "failed")}
    known = {row.use for row in reported if row.use}
    spare = Counter((row.command, row.path) for row in reported)
    rows = [_completed(row, by_use.get(row.use)) for row in reported]
    for row in hooks:
        if row.event == "asked":
            rows.append(row)
        elif row.use and row.use in known:
            continue
        elif not row.use and spare[row.command, row.path] > 0:
            spare[row.command, row.path] -= 1
        else:
            rows.append(row)
    yield from sorted(rows, key=lambda row: row.at)


def _shown(layout: Layout, folder: str, row: ToolCall) -> ToolCall:
    """Return a call without secrets. A path outside of the project is reduced to its name."""
    path = row.path
    for project in (str(layout.project), folder):
        path = path.removeprefix(os.path.join(project, ""))
    path = f"…/{os.path.basename(path)}" if os.path.isabs(path) else path
    reason = masked_text(row.reason)
    return msgspec.structs.replace(
        row, command=masked_text(row.command), path=masked_text(path), reason=reason
    )


def _completed(row: ToolCall, hook: ToolCall | None) -> ToolCall:
    if hook is None:
        return row
    return msgspec.structs.replace(
        row,
        mode=row.mode or hook.mode,
        exit=hook.exit if row.exit is None else row.exit,
        seconds=row.seconds if hook.seconds is None else hook.seconds,
    )


def _decisions(rows: Sequence[ToolCall]) -> Iterator[Permission]:
    open_ones: dict[str, list[Permission]] = {}
    found: list[Permission] = []
    quietly: Counter[str] = Counter()
    # A session file states when a call was made. The question about the call comes later.
    for row in reversed(rows):
        if row.event == "asked":
            open_ones.setdefault(_what(row), []).append(_permission_of(row, "asked", ""))
    for row in rows:
        if row.event == "asked":
            continue
        asked = [waiting.pop()] if (waiting := open_ones.get(_what(row))) else []
        if row.event == "denied":
            found.append(_permission_of(row, "denied", row.by or "classifier"))
        elif asked:
            found.append(msgspec.structs.replace(asked[-1], decision="allowed", by="prompt"))
        elif row.mode:
            quietly[row.mode] += 1
    found += [permission for waiting in open_ones.values() for permission in waiting]
    yield from sorted(found, key=lambda one: one.at)
    for mode, times in quietly.items():
        yield Permission("allowed", "settings", mode=mode, times=times)


def _what(row: ToolCall) -> str:
    """Return the content of a call. A question about a call doesn't state its id."""
    return row.command or f"{row.tool} {row.path}"


def _permission_of(row: ToolCall, decision: str, by: str) -> Permission:
    return Permission(decision, by, row.tool, row.command, row.path, row.at, row.mode, row.reason)


_row = decode.Json(ToolCall)


def _noted(layout: Layout, run_id: str) -> Iterator[ToolCall]:
    """Yield the notes of hooks. Invalid lines are skipped."""
    try:
        data = files.read_if(open_run.work(layout, run_id) / hook_notes.DID, most=_LARGEST) or b""
    except AgentplaneError:
        return
    yield from _each(data.split(b"\n"), _row)


_command, _permission = decode.Json(Command), decode.Json(Permission)


def _read(layout: Layout, run: RunEvent, name: str, form: decode.Json[T]) -> Iterator[T]:
    try:
        piece = preview.start(layout, run, name, _LARGEST)
    except (AgentplaneError, OSError):
        return
    yield from _each((piece.data if piece else b"").split(b"\n"), form)


def _each(lines: Iterable[bytes], form: decode.Json[T]) -> Iterator[T]:
    for line in lines:
        try:
            if line:
                yield form.decode(line)
        except msgspec.MsgspecError:
            continue
