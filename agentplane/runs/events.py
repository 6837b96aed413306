"""Run events: one execution of a tool, as a line of the log."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.plane.store import Store, timestamp
from agentplane.text import chain


_RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-[a-z0-9]{4,16}")
_SHA256 = r"^[0-9a-f]{64}$"


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    path: str
    sha256: str
    size: int | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a program may say of a run; what it leaves out is filled in where it can be known."""

    ts: str | None = None
    run_id: str | None = None
    parent_run_id: str | None = None
    tool: str | None = None
    layer: str | None = None
    systemic_scale: float | None = None
    task: str | None = None
    inputs: list[Any] = []
    tool_calls: list[Any] = []
    outputs: list[Output] = []
    exit_status: int | None = None
    output_sha256: str | None = None
    derived_facts: list[Any] = []
    next_actions: list[str] = []
    receipts: list[Any] = []
    summary: str | None = None


def new_run_id(store: Store) -> str:
    return f"{store.clock():%Y%m%dT%H%M%SZ}-{store.token(6)}"


def is_logged(store: Store, run_id: str | None) -> bool:
    """Whether the log has an event of this run."""
    if run_id is None or not _RUN_ID.fullmatch(run_id):
        return False
    mark = f'"run_id":"{run_id}"'.encode()
    return any(mark in line for _, line in chain.lines(store.layout.log))


def write(store: Store, event: Mapping[str, Any]) -> str:
    """Adds a run to the log. Returns its run id."""
    given = _read(event)
    run_id = given.run_id or new_run_id(store)
    filled = msgspec.structs.replace(given, run_id=run_id, ts=given.ts or timestamp(store.clock()))
    fields = {key: value for key, value in msgspec.to_builtins(filled).items() if value is not None}
    store.append_event({"kind": "run", **fields})
    return run_id


def _read(event: Mapping[str, Any]) -> Event:
    try:
        read = msgspec.convert(dict(event), Event)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `")
        field = place.rstrip("`").removeprefix("$").removeprefix(".")
        raise BadInput(
            f"{field + ': ' if field else ''}{what[:1].lower()}{what[1:]}",
            where="event",
            todo=f"the fields are {', '.join(Event.__struct_fields__)}.",
        ) from None
    if read.run_id is not None and not _RUN_ID.fullmatch(read.run_id):
        raise BadInput(
            f"run_id: not a run id: {read.run_id[:40]!r}", where="event", todo="leave it out to get one."
        )
    if read.ts is not None:
        _check_time(read.ts)
    for number, output in enumerate(read.outputs):
        if not re.match(_SHA256, output.sha256):
            raise BadInput(
                f"outputs[{number}].sha256: not 64 hex digits", where="event", todo="give the file's sha256."
            )
    return read


def _check_time(ts: str) -> None:
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BadInput(
            f"ts: not a time with its zone: {ts[:40]!r}", where="event", todo="leave it out for now."
        )
