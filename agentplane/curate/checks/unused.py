"""Entries that no context has included since their approval, although tools got many contexts."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from agentplane.curate.finding import Finding, Lines
from agentplane.curate.remedies import Deprecate, EditEntry, Remedy, SetScope
from agentplane.curate.subject import Subject
from agentplane.errors import AgentplaneError
from agentplane.memory import expiry
from agentplane.memory.entry import Entry
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import log_events
from agentplane.runs import events
from agentplane.runs.events import RunEvent
from agentplane.text import files
from agentplane.text.json import decode
from agentplane.text.log import times
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


_LEAST_DAYS = 30
"""Minimum number of days in force for an entry to count as unused."""
_PACK = "pack"
_CURRENT = ("context/receipt.json", "context/files.json")
"""Receipts for the contexts that tools read from files."""
_MEMORY_CALLS = ("recall", "context", "show")
"""Tools of the MCP server that return entries. Receipts don't name these entries."""


_MARKS = (b'"kind":"pack"', b"agentplane")
_rows = decode.Json()


class Contexts(msgspec.Struct, frozen=True):
    """The contexts that tools got, according to their receipts."""

    moments: tuple[float, ...]
    """The times of the contexts, in order."""
    last_given: Mapping[str, float]
    """The time of the last context that included an entry, by its id."""
    last_unknown: float
    """The last time that a tool got entries that no receipt names."""
    in_files: frozenset[str]
    """The entries in the files that tools read now."""


def check(subject: Subject) -> Iterator[Finding]:
    least = subject.memory.snapshot.settings.curate.unused_contexts
    before = subject.today - timedelta(days=_LEAST_DAYS)
    since = {entry.id: _in_force_since(subject, entry) for entry in subject.entries}
    old = [
        entry
        for entry in subject.entries
        if (moment := since[entry.id]) is not None
        and moment.date() <= before
        and not expiry.is_over(entry.head, subject.today)
    ]
    if not least or not old:
        return
    contexts = read(subject.layout)
    for entry in old:
        moment = since[entry.id]
        if moment is not None:
            yield from _unused(subject, entry, moment, contexts, least)


def _unused(
    subject: Subject, entry: Entry, moment: datetime, contexts: Contexts, least: int
) -> Iterator[Finding]:
    begin = moment.timestamp()
    count = len(contexts.moments) - bisect_right(contexts.moments, begin)
    was_given = contexts.last_given.get(entry.id, 0.0) > begin or entry.id in contexts.in_files
    if count < least or was_given or contexts.last_unknown > begin:
        return
    where = subject.shown(entry)
    remedies: tuple[Remedy, ...] = (EditEntry(entry.id), Deprecate((entry.id,)))
    yield Finding(
        "unused",
        (entry.id,),
        where,
        f"No context has included {one_line(entry.id, 40)} since {moment.date()}",
        Lines(
            where,
            f"Tools have received {counted(count, 'context')} since {moment.date()}, and none of them included it.",
        ),
        (SetScope(entry.id), *remedies) if entry.head.scope else remedies,
        basis=moment.isoformat(),
    )


def _in_force_since(subject: Subject, entry: Entry) -> datetime | None:
    """Return the time of the last operation on an entry. Earlier contexts contain an earlier text."""
    known = subject.memory.known(entry.id)
    try:
        return datetime.strptime(known.op[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if known else None
    except ValueError:
        return None


def read(layout: Layout) -> Contexts:
    """Read the receipts of all runs, and of the files that tools read now."""
    moments: list[float] = []
    last_given: dict[str, float] = {}
    last_unknown = 0.0
    for run in _runs(layout):
        moment = times.seconds_of(run.started or run.ts) or 0.0
        for receipt in run.receipts:
            if not isinstance(receipt, dict) or receipt.get("kind") != _PACK:
                continue
            given = [id_ for id_ in _list(receipt.get("given")) if isinstance(id_, str)]
            moments.append(moment)
            for id_ in given:
                last_given[id_] = max(last_given.get(id_, 0.0), moment)
            if receipt.get("given_in_all") != len(given):
                last_unknown = max(last_unknown, moment)
        if _called_memory(run.tool_calls):
            last_unknown = max(last_unknown, moment)
    return Contexts(tuple(sorted(moments)), last_given, last_unknown, frozenset(_in_files(layout)))


def _runs(layout: Layout) -> Iterator[RunEvent]:
    """Yield the runs with receipts or tool calls. Other lines of the log aren't parsed."""
    lines = log_events.with_any(log_events.oldest_first(layout.log), _MARKS)
    return (run for _, run in log_events.iterate(lines, kind=events.RUN))


def _called_memory(calls: msgspec.Raw) -> bool:
    """True if a run asked the MCP server for entries, or if the list of its calls isn't complete."""
    try:
        rows = _rows.decode(bytes(calls))
    except msgspec.MsgspecError:
        return True
    return any(isinstance(row, dict) and ("more" in row or _asks(row.get("tool"))) for row in _list(rows))


def _asks(tool: object) -> bool:
    return isinstance(tool, str) and "agentplane" in tool and tool.rpartition("_")[2] in _MEMORY_CALLS


def _in_files(layout: Layout) -> Iterator[str]:
    """Yield the entries in the files that tools read now."""
    for name in _CURRENT:
        try:
            data = files.read_if(layout.root / name) or b"{}"
            found = _rows.decode(data)
        except (AgentplaneError, msgspec.MsgspecError):
            continue
        for receipt in (found, *_values(found)):
            for given in _list(receipt.get("given")) if isinstance(receipt, dict) else ():
                if isinstance(given, dict) and isinstance(given.get("id"), str):
                    yield given["id"]


def _values(found: object) -> list[object]:
    """Return the receipts in the file with several of them."""
    several = found.get("files") if isinstance(found, dict) else None
    return list(several.values()) if isinstance(several, dict) else []


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
