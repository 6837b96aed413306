"""The comparison of two runs by their endings, files, facts, memories, outputs and commands."""

import difflib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

import msgspec

from agentplane.errors import AgentplaneError, BadInput
from agentplane.plane.layout import INBOX, Layout
from agentplane.plane.ledger import log_events, summing
from agentplane.plane.ledger.ledger import Known
from agentplane.plane.store import records
from agentplane.runs import events
from agentplane.runs.capsule import capsule, commands, preview
from agentplane.runs.capsule.file_copies import Copy
from agentplane.runs.events import RUN, RunEvent
from agentplane.text.json import decode
from agentplane.text.log import chain
from agentplane.text.visible import one_line


_FIELDS = ("task", "tool", "command", "exit_status", "summary", "revision", "parent_run_id")
_MOST_BYTES = 16 << 20
_MOST_LINES = 20_000
"""Maximum number of lines of an output. Comparing takes quadratic time."""

Change = Literal["added", "removed", "changed"]


class Field(msgspec.Struct, frozen=True):
    """A field that differs between the events."""

    name: str
    a: Any
    b: Any


class File(msgspec.Struct, frozen=True):
    """A produced file that differs between the runs or that only one run produced."""

    path: str
    change: Change


class Remembered(msgspec.Struct, frozen=True):
    """An entry that differs between the memories of the two runs or that only one memory had."""

    id: str
    change: Change
    a: str | None
    b: str | None


class Report(msgspec.Struct, frozen=True):
    a: str
    b: str
    fields: list[Field]
    seconds: tuple[float | None, float | None]
    files: list[File]
    facts: list[Field]
    entries: list[Remembered]
    output: list[str]
    """A unified diff of the outputs and of the commands of their sessions, or empty if they are the same."""
    missing: list[str]
    """The parts that could not be compared, with the reason."""

    @property
    def same(self) -> bool:
        return not (self.fields or self.files or self.facts or self.entries or self.output)


def of(layout: Layout, a: str, b: str | None = None) -> Report:
    """Return the differences of run `b` from run `a`.

    Without `b`, compare `a` with the last run. If `a` is the last run, compare it with the run before.
    """
    first, second = run_named(layout, a), run_named(layout, "latest" if b is None else b)
    if b is None and first.run_id == second.run_id:
        first = next(
            (run for run in _backwards(layout) if run.run_id != second.run_id and not run.activity), first
        )
    missing: list[str] = []
    return Report(
        a=first.run_id,
        b=second.run_id,
        fields=[
            Field(name, getattr(first, name), getattr(second, name))
            for name in _FIELDS
            if getattr(first, name) != getattr(second, name)
        ]
        + _inputs(first, second),
        seconds=(first.seconds, second.seconds),
        files=_changed_files(_produced(layout, first), _produced(layout, second)),
        facts=_facts(first, second),
        entries=_entries(layout, first, second),
        output=[*_output(layout, first, second, missing), *_commands(layout, first, second)],
        missing=missing,
    )


def run_named(layout: Layout, wanted: str) -> RunEvent:
    """Return a run by its id, by the part after the dash, or the last run for `latest`."""
    if events.is_run_id(wanted):
        return events.load(layout, wanted)
    ending = f'-{wanted}"'.encode(errors="backslashreplace")
    for run in _backwards(layout, b"" if wanted == "latest" else ending):
        if run.run_id.endswith(f"-{wanted}") or (wanted == "latest" and not run.activity):
            return run
    if wanted == "latest":
        raise BadInput("The log has no runs.", todo="Run `agentplane run -- COMMAND` to record one.")
    raise BadInput(f"Run not found: {one_line(wanted, 40)}.", todo="Run `agentplane timeline` to list runs.")


def _backwards(layout: Layout, mark: bytes = b"") -> Iterator[RunEvent]:
    """Yield the runs of the log whose lines contain `mark`, the latest first."""
    return (run for _, run in events.newest_first(layout, mark))


def _changed_files(before: Mapping[str, object], after: Mapping[str, object]) -> list[File]:
    return [
        File(path, _change(path in before, path in after))
        for path in sorted(before.keys() | after.keys())
        if before.get(path, "") != after.get(path, "")
    ]


class _Context(msgspec.Struct, frozen=True):
    produced: list[Copy] = []


_context = decode.Json(_Context)


def _produced(layout: Layout, run: RunEvent) -> dict[str, object]:
    """Return the hashes of produced files by path. Untracked files are included if context.json is on this machine."""
    found: dict[str, object] = {}
    with suppress(AgentplaneError, OSError, msgspec.MsgspecError):
        data = capsule.content(layout, run, capsule.CONTEXT)
        found = {copy.path: copy.sha256 for copy in _context.decode(data).produced} if data else {}
    return found | {str(output.get("path")): output.get("sha256") for output in run.outputs}


def _inputs(a: RunEvent, b: RunEvent) -> list[Field]:
    """Return the difference of the files that were passed with `--input`, if any."""
    before, after = _given(a), _given(b)
    return [Field("inputs", before, after)] if before != after else []


def _given(run: RunEvent) -> list[str]:
    rows = [one for one in _listed(run.inputs) if isinstance(one, dict) and {"path", "sha256"} <= one.keys()]
    return [f"{row['path']} ({str(row['sha256'])[:12]})" for row in rows]


def _listed(given: object) -> list[object]:
    """Return the inputs if they are a list. Programs may log any value as inputs."""
    return given if isinstance(given, list) else []


def _commands(layout: Layout, a: RunEvent, b: RunEvent) -> list[str]:
    before, after = _executed(layout, a), _executed(layout, b)
    if before == after:
        return []
    one, other = (f"{run.run_id}/{commands.COMMANDS}" for run in (a, b))
    return list(difflib.unified_diff(before, after, one, other, lineterm=""))


def _executed(layout: Layout, run: RunEvent) -> list[str]:
    rows = commands.of_sealed(layout, run).commands
    return [line for row in rows for line in row.command.splitlines()][:_MOST_LINES]


def _facts(a: RunEvent, b: RunEvent) -> list[Field]:
    before, after = [_fact(fact) for fact in a.derived_facts], [_fact(fact) for fact in b.derived_facts]
    return [
        *(Field("removed", fact, None) for fact in before if fact not in after),
        *(Field("added", None, fact) for fact in after if fact not in before),
    ]


def _fact(fact: object) -> str:
    return str(fact.get("statement", fact)) if isinstance(fact, dict) else str(fact)


def _entries(layout: Layout, a: RunEvent, b: RunEvent) -> list[Remembered]:
    """Return the entries that differ between the memories of the two runs."""
    if a.revision == b.revision:
        return []
    before, after = _known(layout, a), _known(layout, b)
    return [
        Remembered(
            id_,
            _change(id_ in before, id_ in after),
            _text(layout, before.get(id_)),
            _text(layout, after.get(id_)),
        )
        for id_ in sorted(before.keys() | after.keys())
        if _digest(before.get(id_)) != _digest(after.get(id_))
    ]


def _known(layout: Layout, run: RunEvent) -> dict[str, Known]:
    """Return the approved entries at the start of a run.

    They come from the last operation before the run that resulted in the run's memory revision.
    """
    mark = f'"revision":"{run.revision}"'.encode()
    own = f'"run_id":"{run.run_id}"'.encode()
    end = size = 0
    for offset, line in chain.lines(layout.log):
        if own in line and RUN.matches(line):
            end = end or offset
            break
        if mark in line and log_events.OP.matches(line):
            size = offset + len(line)
    known = summing.as_of(layout, size or end).known
    return {id_: mark for id_, mark in known.items() if mark.digest and mark.file != INBOX}


def _digest(known: Known | None) -> str | None:
    return known.digest if known else None


def _text(layout: Layout, known: Known | None) -> str | None:
    """Return an approved text from the record of the operation that approved it."""
    if known is None:
        return None
    try:
        text = records.load(layout, known.op, known.digest).text(known.digest)
    except AgentplaneError:
        return None
    return None if text is None else text.decode(errors="replace")


def _output(layout: Layout, a: RunEvent, b: RunEvent, missing: list[str]) -> list[str]:
    lines: list[str] = []
    for name in ("outputs/stdout", "outputs/stderr"):
        if _whole(a, name) == _whole(b, name):
            continue
        texts = [_lines(layout, run, name, missing) for run in (a, b)]
        if texts[0] is not None and texts[1] is not None:
            lines += difflib.unified_diff(
                texts[0], texts[1], f"{a.run_id}/{name}", f"{b.run_id}/{name}", lineterm=""
            )
    return lines


def _whole(run: RunEvent, name: str) -> str | None:
    kept = run.file(name)
    return (kept.full_sha256 or kept.sha256) if kept else None


def _lines(layout: Layout, run: RunEvent, name: str, missing: list[str]) -> list[str] | None:
    """Return the lines of an output. If it is not on this machine, return None and add a message to
    `missing`.
    """
    if run.file(name) is None:
        return []
    piece = preview.start(layout, run, name, _MOST_BYTES)
    if piece is None:
        missing.append(f"The file {name} from run {run.run_id} is not on this machine")
        return None
    found = piece.data.decode(errors="replace").splitlines()
    if piece.after:
        missing.append(
            f"The file {name} from run {run.run_id} is large. Only the first {_MOST_LINES} lines"
            f" of its first {_MOST_BYTES >> 20} MiB were compared"
        )
    elif len(found) > _MOST_LINES:
        missing.append(
            f"The file {name} from run {run.run_id} has {len(found)} lines."
            f" Only the first {_MOST_LINES} were compared"
        )
    return found[:_MOST_LINES]


def _change(before: bool, after: bool) -> Change:
    return "changed" if before and after else "added" if after else "removed"
