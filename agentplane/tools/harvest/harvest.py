"""Proposals from tool memories, instruction files and decision records, each offered once."""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from types import MappingProxyType

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.errors import BadInput
from agentplane.jobs import Report, ignore
from agentplane.memory.entry import Entry
from agentplane.memory.proposing import Proposal
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store import records
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.store.undo import out_of_force
from agentplane.text.visible import one_line
from agentplane.tools.harvest import project_files, tool_memories
from agentplane.tools.harvest.haul import Haul, Statement, mark_of


_MARK = re.compile(rb"harvested: [\\\"']{0,2}([0-9a-f]{16})")

Reader = Callable[[Path, Path, Mapping[str, str]], Haul]

_COLLECTING = [tool for tool in TOOLS if tool.memories]
"""The tools whose own memories can be imported."""

SOURCES: dict[str, Reader] = {
    **{tool.name: partial(tool_memories.read, tool) for tool in _COLLECTING},
    "instructions": lambda project, _home, _environ: project_files.instructions(project),
    "adr": lambda project, _home, _environ: project_files.records(project),
}
"""Readers of sources, by the name that a person gives."""

TITLES = {
    **{tool.name: tool.memories for tool in _COLLECTING},
    "instructions": "from instruction files",
    "adr": "from decision records",
}


class Offer(msgspec.Struct, frozen=True):
    """A proposal from a source."""

    source: str
    proposal: Proposal
    by: str | None
    """The tool that remembered it, or None for the person who imports."""
    successors: tuple[str, ...] = ()
    """The marks of other offers that superseded it."""


class Harvest(msgspec.Struct, frozen=True):
    offers: tuple[Offer, ...]
    hauls: tuple[Haul, ...]
    known: Counter[str]
    """Number of statements of each source that were offered before or are in the plane already."""


def named(names: Sequence[str]) -> list[str]:
    """Return the sources that a person names. A tool's command also counts. No names mean all sources."""
    by_command = {program: tool.name for tool in _COLLECTING for program in tool.programs}
    wanted = []
    for name in names:
        source = by_command.get(name.lower(), name.lower())
        if source not in SOURCES:
            raise BadInput(
                f"Unknown source for --from: {one_line(name, 40)}.",
                todo=f"The available sources are {', '.join(SOURCES)}.",
            )
        wanted.append(source)
    return list(dict.fromkeys(wanted)) or list(SOURCES)


def look(
    memory: Memory,
    sources: Sequence[str],
    home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    report: Report = ignore,
) -> Harvest:
    """Return the statements that weren't offered yet."""
    existing = {mark_of(entry.statement): entry for entry in memory.entries.values()}
    existing |= {entry.head.harvested: entry for entry in memory.entries.values() if entry.head.harvested}
    known_marks = offered(memory.snapshot) | existing.keys()
    return _found(memory.snapshot.layout.project, sources, known_marks, home, environ, existing, report)


def look_before(project: Path, sources: Sequence[str]) -> Harvest:
    """Return the statements for a project without a plane."""
    return _found(project, sources, set(), None, os.environ)


def _found(
    project: Path,
    sources: Sequence[str],
    known_marks: AbstractSet[str],
    home: Path | None,
    environ: Mapping[str, str],
    existing: Mapping[str, Entry] = MappingProxyType({}),
    report: Report = ignore,
) -> Harvest:
    """Return the statements to offer.

    `known_marks` are the marks of statements that aren't offered again. `existing` has the plane's entries by
    their marks.
    """
    home_folder = home or Path(os.path.expanduser("~"))
    hauls = []
    for number, source in enumerate(sources):
        report(number, len(sources), "Reading sources")
        hauls.append(SOURCES[source](project, home_folder, environ))
    found: dict[str, tuple[str, Statement]] = {}
    places: dict[str, list[str]] = {}
    known: Counter[str] = Counter()
    replaced: dict[str, list[str]] = {}
    for haul in hauls:
        for statement in haul.statements:
            if statement.mark in known_marks:
                known[haul.source] += 1
                entry = existing.get(statement.mark)
                if entry is not None and entry.file != INBOX and entry.head.status == "accepted":
                    for mark in statement.successors:
                        replaced.setdefault(mark, []).append(entry.id)
                continue
            found.setdefault(statement.mark, (haul.source, statement))
            places.setdefault(statement.mark, []).append(statement.place)
    offers = [
        _offer(source, statement, places[mark], replaced.get(mark, ()), existing)
        for mark, (source, statement) in found.items()
    ]
    return Harvest(tuple(offers), tuple(hauls), known)


def offered(snapshot: Snapshot) -> set[str]:
    """Return the marks of all earlier offers, whatever their outcome, except offers of an undone import."""
    out = out_of_force(snapshot.ledger.ops)
    wanted = {note.op for note in snapshot.ledger.ops if note.op not in out and note.undoes is None}
    found: set[str] = set()
    for line in records.each(snapshot.layout):
        marks = _MARK.findall(line)
        if marks and records.op_in(line) in wanted:
            found.update(mark.decode() for mark in marks)
    return found


def _offer(
    source: str,
    statement: Statement,
    places: Sequence[str],
    replaced: Sequence[str],
    existing: Mapping[str, Entry],
) -> Offer:
    """Return an offer. `replaced` are the accepted entries that it superseded, by their own records."""
    proposal = Proposal(
        type=statement.kind,
        statement=statement.text,
        rationale=statement.why or None,
        evidence=list(dict.fromkeys(places))[:8],
        tags=list(statement.tags),
        scope=list(statement.scope),
        harvested=statement.mark,
        supersedes=list(replaced),
        arrives=statement.arrives or None,
        superseded_by=[existing[mark].id for mark in statement.successors if mark in existing],
    )
    return Offer(source, proposal, None if statement.tool == "adr" else statement.tool, statement.successors)
