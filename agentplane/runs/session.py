"""Open runs: what is known of a run before it is sealed.

An open run has its capsule's folder already. In `work/` there lie `open.json`, which says who runs it, what was noted
meanwhile, and what is being recorded; sealing removes it.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.plane import processes
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store import Store, timestamp
from agentplane.runs import capsule, events, sharing, surroundings
from agentplane.runs.surroundings import Git
from agentplane.text import files


_MOST_NOTES = 4 << 20
_NEAR = 2.0
"""Seconds by which two readings of one process's start may differ."""

_COMMANDS = {"codex": "codex", "claude": "claude-code", "gemini": "gemini-cli", "cursor-agent": "cursor",
             "opencode": "opencode", "copilot": "copilot-cli", "qwen": "qwen-code", "goose": "goose", "aider": "aider"}  # fmt: skip


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What whoever starts a run says of it."""

    command: list[str] = []
    cwd: str = ""
    task: str | None = None
    tool: str | None = None
    prompt: str | None = None
    plan: str | None = None
    parent_run_id: str | None = None
    receipts: list[Any] = []


class OpenRun(msgspec.Struct, frozen=True):
    run_id: str
    started: str
    pid: int
    born: float
    """When the process started that runs it: another process may have its number by now."""
    asked: Asked
    actor: str
    revision: str
    environment: dict[str, str]
    before: Git


_codec = msgspec.json.Decoder(OpenRun)


def tool_of(command: Sequence[str]) -> str | None:
    """The coding tool that a command starts."""
    return _COMMANDS.get(Path(command[0]).name) if command else None


def begin(
    store: Store, asked: Asked, by: Origin, variables: Mapping[str, str], pid: int | None = None
) -> OpenRun:
    """Opens a run: makes its folder and writes down what it starts from."""
    run_id = events.new_run_id(store)
    layout, now = store.layout, store.clock()
    for folder in (layout.runs, capsule.folder(layout, run_id), work(layout, run_id)):
        files.make_folder(folder)
    settings = store.settings().runs
    sharing.keep(layout, settings)
    opened = OpenRun(
        run_id=run_id,
        started=timestamp(now),
        pid=pid or os.getpid(),
        born=processes.born(pid or os.getpid()),
        asked=asked,
        actor=by.actor,
        revision=store.snapshot().ledger.revision(),
        environment=surroundings.environment(variables, settings.environment),
        before=surroundings.look(layout.project, work(layout, run_id), layout.root.name),
    )
    files.write_atomic(_marker(layout, run_id), msgspec.json.encode(opened))
    return opened


def load(layout: Layout, run_id: str) -> OpenRun | None:
    """An open run; None where it is none, or is sealed."""
    if not events.is_run_id(run_id):
        return None
    data = files.read_if(_marker(layout, run_id)) if work(layout, run_id).is_dir() else None
    try:
        return _codec.decode(data) if data else None
    except msgspec.MsgspecError:
        return None


def every(layout: Layout) -> list[OpenRun]:
    """The open runs, oldest first; also those whose process is gone."""
    try:
        names = sorted(os.listdir(layout.runs))
    except OSError:
        return []
    marked = (name for name in names if os.path.lexists(layout.runs / name / capsule.WORK / capsule.OPEN))
    return [found for name in marked if (found := load(layout, name))]


def is_alive(run: OpenRun) -> bool:
    """Whether the process that runs it is still there."""
    born = processes.born(run.pid)
    return born > 0 and abs(born - run.born) < _NEAR


def note(layout: Layout, run_id: str, said: Mapping[str, Any]) -> None:
    """Adds to an open run what a program says of it: the fields of an event. Takes no lock."""
    if load(layout, run_id) is None:
        raise BadInput(f"no run {run_id[:40]} is open", todo="`agentplane timeline` lists the runs.")
    path = work(layout, run_id) / capsule.NOTES
    read = events.read(said)
    read = msgspec.structs.replace(read, outputs=events.outputs_of(layout, read.outputs))
    if not (path.exists() and path.stat().st_size > _MOST_NOTES):
        files.append(path, msgspec.json.encode(_said(read)) + b"\n")


def notes(layout: Layout, run_id: str) -> list[dict[str, Any]]:
    data = files.read_if(work(layout, run_id) / capsule.NOTES) or b""
    return [msgspec.json.decode(line) for line in data.split(b"\n")[:-1]]


def _said(event: events.Event) -> dict[str, Any]:
    """The fields that a program gave, without those it left out."""
    return {key: value for key, value in msgspec.to_builtins(event).items() if value not in (None, [])}


def work(layout: Layout, run_id: str) -> Path:
    """Where an open run keeps what it needs until it is sealed."""
    path = capsule.folder(layout, run_id) / capsule.WORK
    if os.path.lexists(path):
        files.plain_folder(path, layout.root)
    return path


def _marker(layout: Layout, run_id: str) -> Path:
    return work(layout, run_id) / capsule.OPEN
