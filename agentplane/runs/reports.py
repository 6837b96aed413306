"""Reports of runs, from programs and from the process that seals a run. Each report becomes a run event."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from agentplane.agents.catalog import tool_in
from agentplane.errors import AgentplaneError, BadInput
from agentplane.plane.git import git, git_files
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import ledger_cache
from agentplane.plane.store.store import Store, timestamp
from agentplane.runs import events
from agentplane.runs.activity import Activity
from agentplane.runs.capsule import capsule
from agentplane.runs.events import RUN, RunEvent
from agentplane.scan.secrets.mask import masked_value, masked_words
from agentplane.text import files
from agentplane.text.json import canonical, decode
from agentplane.text.log import times


_SEALED = frozenset({"kind", "hash_prev", "hash_self", "capsule", "made_at", times.WRITTEN})
"""Fields of a line that a program must not set."""

_REPLACED = frozenset({"hash_prev", "hash_self"})
"""Fields that a program may pass on from its own log. This log computes its own hashes."""

_OF_A_PLACE = frozenset(
    {"hash_prev", "hash_self", times.WRITTEN, "branch", "commit", "revision", "tool", "parent_run_id"}
)
"""Fields that depend on the place and time of logging. Agentplane can fill them in."""

_ELIDED = ("", "…")
"""Placeholders of some programs for a hash that they don't know."""

_NOWHERE = ".agentplane-nowhere"


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file that a run produced."""

    path: str
    sha256: str | None = None
    """Hash of the file. If missing, the current file is hashed."""
    size: int | None = None
    tracked: bool | None = None
    """True if Git tracks the file, or None without Git."""


class RunReport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program's report of a run. Missing fields are filled in if they can be determined."""

    ts: str | None = None
    run_id: str | None = None
    parent_run_id: str | None = None
    tool: str | None = None
    activity: Activity | None = None
    """The action of agentplane itself, or None for the run of a tool or a command."""
    layer: str | None = None
    systemic_scale: float | None = None
    impact: str | None = None
    task: str | None = None
    title: str | None = None
    """A short name for the run of a session."""
    branch: str | None = None
    commit: str | None = None
    """The commit that was checked out when the run ended."""
    command: list[str] = []
    started: str | None = None
    seconds: float | None = None
    inputs: list[Any] | dict[str, Any] = []
    tool_calls: list[Any] = []
    outputs: list[Output] | dict[str, Any] = []
    """Files that the run produced, or an object. The `summary` of an object counts as the summary of the run.
    It is stored unchanged.
    """
    exit_status: int | None = None
    output_sha256: str | None = None
    derived_facts: list[Any] = []
    next_actions: list[str] = []
    receipts: list[Any] = []
    summary: str | None = None
    revision: str | None = None
    """Revision of the memory that the run had."""

    @property
    def files(self) -> list[Output]:
        """The files that the run names as produced."""
        return self.outputs if isinstance(self.outputs, list) else []


_FIELDS = f"The valid fields are {', '.join(RunReport.__struct_fields__)}."


def write(store: Store, report: Mapping[str, Any], variables: Mapping[str, str] | None = None) -> RunEvent:
    """Add a run to the log and return its event."""
    given, now = read(report), timestamp(store.clock())
    filled = _filled(store, given, os.environ if variables is None else variables, now)
    line = append(store, filled, {times.WRITTEN: now}, is_new=given.run_id is None)
    if line is None:
        raise BadInput(
            f"run_id: run {filled.run_id} is already in the log",
            where="event",
            todo="Remove `run_id` to get a new ID.",
        )
    return RUN.decode(line)


def append(
    store: Store, report: RunReport, sealed: Mapping[str, Any] | None = None, *, is_new: bool = False
) -> bytes | None:
    """Add a complete report with the description of its capsule to the log. Return its line, or None if the
    log already has this run.

    Pass `is_new` for an id that was just created. Then a long log is not searched for it. The log is
    permanent, so secrets are masked first.
    """
    fields = {
        key: masked_value(value) for key, value in msgspec.to_builtins(report).items() if value is not None
    }
    fields["command"] = masked_words(report.command)
    event = {"kind": "run", **fields, **(sealed or {})}
    is_wanted = (lambda: True) if is_new else (lambda: not events.is_logged(store.layout, report.run_id))
    return store.append_event(event, is_wanted)


def read(event: Mapping[str, Any]) -> RunReport:
    """Return the report from a program's fields. Raise BadInput with the name of an invalid field.

    A field with the value null counts as missing.
    """
    if not isinstance(event, Mapping):
        raise BadInput(f"expected an object, got {type(event).__name__}", where="event", todo=_FIELDS)
    try:
        found = msgspec.convert(
            {key: value for key, value in event.items() if _is_given(key, value)}, RunReport
        )
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `")
        field = place.rstrip("`").removeprefix("$").removeprefix(".")
        raise BadInput(
            f"{field + ': ' if field else ''}{what[:1].lower()}{what[1:]}", where="event", todo=_FIELDS
        ) from None
    except UnicodeError as error:
        raise BadInput(
            f"A field isn't valid UTF-8: {error}", where="event", todo="Encode the field as UTF-8."
        ) from None
    for name in ("run_id", "parent_run_id"):
        value = getattr(found, name)
        if value is not None and not events.is_run_id(value):
            raise BadInput(
                f"{name}: invalid run ID: {value[:40]!r}",
                where="event",
                todo=f"Pass a valid run ID, or remove `{name}`.",
            )
    for name in ("ts", "started"):
        _check_time(name, getattr(found, name))
    for number, output in enumerate(found.files):
        _check_hash(f"outputs[{number}].sha256", output.sha256)
    _check_hash("output_sha256", found.output_sha256)
    return msgspec.structs.replace(
        found,
        summary=found.summary or _summary_in(found.outputs),
        output_sha256=_lower(found.output_sha256),
        outputs=[msgspec.structs.replace(output, sha256=_lower(output.sha256)) for output in found.files]
        or found.outputs,
    )


def _is_given(key: object, value: object) -> bool:
    """False for a field without information that a program includes only because its format requires the
    field.
    """
    if value is None and key in RunReport.__struct_fields__:
        return False
    return key not in _REPLACED and not (key == "output_sha256" and value in _ELIDED)


def _lower(sha256: str | None) -> str | None:
    return sha256.lower() if sha256 else sha256


def _summary_in(outputs: list[Output] | dict[str, Any]) -> str | None:
    """Return the summary of a run that gives its outputs as an object."""
    summary = outputs.get("summary") if isinstance(outputs, dict) else None
    if summary is not None and not isinstance(summary, str):
        what = f"outputs.summary: expected `str`, got `{type(summary).__name__}`"
        raise BadInput(what, where="event", todo="Pass the summary as text.")
    return summary or None


def event_of(line: bytes) -> RunEvent:
    """Return the event of a line. Raise BadInput or msgspec's errors for an event that could not have been
    logged.
    """
    run = RUN.decode(line)
    _report_in(line)
    if not events.is_run_id(run.run_id):
        raise BadInput("`run_id` is missing", where="event")
    return run


def _report_in(line: bytes) -> RunReport:
    """Return the fields of a line that a program could have reported."""
    fields = decode.Json(dict[str, Any]).decode(line)
    return read({key: value for key, value in fields.items() if key not in _SEALED})


def say_the_same(one: bytes, other: bytes) -> bool:
    """True if two lines are the same run of another program, logged on two branches.

    A run with a capsule has only one line.
    """
    fields = _comparable(one)
    return fields is not None and fields == _comparable(other)


def _comparable(line: bytes) -> dict[str, Any] | None:
    try:
        event_of(line)
        fields, files_of = decode.Json(dict[str, Any]).decode(line), _report_in(line).files
    except (BadInput, msgspec.MsgspecError, RecursionError):
        return None
    if "capsule" in fields:
        return None
    shared = {key: value for key, value in fields.items() if key not in _OF_A_PLACE}
    return shared | ({"outputs": [(output.path, output.sha256) for output in files_of]} if files_of else {})


def _filled(store: Store, given: RunReport, variables: Mapping[str, str], now: str) -> RunReport:
    layout = store.layout
    parent = variables.get(events.RUN_ID, "")
    run_id = given.run_id or events.new_run_id(store)
    ended = given.ts or now
    return msgspec.structs.replace(
        given,
        run_id=run_id,
        ts=ended,
        seconds=events.seconds(given.started, ended) if given.seconds is None else given.seconds,
        parent_run_id=given.parent_run_id
        or (parent if events.is_run_id(parent) and parent != run_id else None),
        tool=given.tool or tool_in(variables),
        task=given.task or variables.get(events.TASK) or None,
        outputs=outputs_of(layout, given.files) if given.files else given.outputs,
        revision=given.revision or ledger_cache.read(layout).revision(),
        branch=given.branch or git_files.branch_of(str(layout.project)),
        commit=given.commit or git.commit(layout.project, "HEAD"),
    )


def outputs_of(layout: Layout, outputs: list[Output]) -> list[Output]:
    """Return the outputs with their hashes. Raise BadInput for an unreadable file."""
    outputs = [from_the_top(layout, output) for output in outputs]
    tracked = tracked_files(layout, [output.path for output in outputs])
    return [_output(layout, output, number, tracked) for number, output in enumerate(outputs)]


def from_the_top(layout: Layout, output: Output) -> Output:
    """Return an output with its path from the top of the project, which Git and other clones use."""
    return msgspec.structs.replace(output, path=layout.in_project(output.path))


def _output(layout: Layout, output: Output, number: int, tracked: set[str] | None) -> Output:
    if tracked is not None:
        output = msgspec.structs.replace(output, tracked=output.path in tracked)
    if output.sha256 is not None:
        return output
    path = layout.project / output.path
    try:
        files.plain_folder(path.parent, layout.project)
        sha256, size = capsule.sha256_of(path)
    except AgentplaneError as error:
        raise BadInput(
            f"outputs[{number}]: {output.path[:80]!r} can't be read: {error.what}",
            where="event",
            todo="Pass a file in the project, or add the file's `sha256`.",
        ) from None
    return msgspec.structs.replace(output, sha256=sha256, size=size)


def tracked_files(layout: Layout, paths: list[str]) -> set[str] | None:
    """Return the paths that Git tracks, or None without Git."""
    if not paths:
        return set()
    inside = [path for path in paths if _is_inside(path)] or [_NOWHERE]
    return git.tracked(layout.project, inside)


def _is_inside(path: str) -> bool:
    """True if Git would accept the path as part of the project. A single invalid path makes Git reject all
    paths.
    """
    return path != "" and not path.startswith("/") and ".." not in path.split("/") and "\0" not in path


def _check_hash(field: str, value: str | None) -> None:
    if value is not None and not canonical.is_sha256(value.lower()):
        what = f"{field}: a SHA-256 hash must have 64 hexadecimal digits"
        raise BadInput(what, where="event", todo="Pass the SHA-256 hash of the file.")


def _check_time(field: str, ts: str | None) -> None:
    if ts is None:
        return
    moment = times.read(ts)
    if moment is None or moment.tzinfo is None:
        raise BadInput(
            f"{field}: invalid time: {ts[:40]!r}",
            where="event",
            todo=f"Pass a time with a time zone, such as 2026-09-01T12:00:00Z, or remove `{field}`.",
        )
