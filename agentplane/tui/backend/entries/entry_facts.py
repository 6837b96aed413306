"""The facts about an entry outside its text, such as evidence, runs, links, history and commits.

Threads call it, because it reads files.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.memory.entry import Entry, Header
from agentplane.memory.view import HandEdit, Memory
from agentplane.plane.git import git
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import log_events
from agentplane.plane.store import history
from agentplane.text import files


if TYPE_CHECKING:
    from agentplane.curate.kept import Mark
    from agentplane.review.inbox import Reviewed
    from agentplane.runs.events import RunEvent

Relation = Literal["supersedes", "superseded by", "names", "named in"]

_LINE = re.compile(r"(?P<path>.+?)(?::L?|#L)(?P<line>[0-9]{1,9})(?:[:-].*)?")
_ID = re.compile(r"\b[A-Z][A-Z0-9]{1,7}-[0-9]{1,9}\b")
_MOST = 20
_LARGEST = 4 << 20


class Evidence(msgspec.Struct, frozen=True):
    text: str
    state: Literal["there", "gone", "unknown"]
    """`unknown` means that the evidence can't be looked up in this project."""
    note: str = ""
    path: str | None = None
    """The file to open, or None if an editor can't open the evidence."""
    line: int | None = None


class Link(msgspec.Struct, frozen=True):
    relation: Relation
    id: str
    statement: str | None
    """The statement of the linked entry, or None if the entry does not exist."""
    status: str = ""


class Commit(msgspec.Struct, frozen=True):
    sha: str
    day: str
    author: str
    subject: str


class EntryFacts(msgspec.Struct, frozen=True):
    """The facts outside its own text that help to judge an entry."""

    evidence: tuple[Evidence, ...] = ()
    run: "RunEvent | None" = None
    used_by: "tuple[RunEvent, ...]" = ()
    """The runs that were given this entry."""
    links: tuple[Link, ...] = ()
    steps: tuple[history.Step, ...] = ()
    signed: Mapping[str, str] = {}
    """A sentence about the signer of each operation, by the operation's id."""
    commits: tuple[Commit, ...] = ()
    approved: str | None = None
    """The approved text, if the entry was edited by hand."""
    now: str | None = None
    """The text in the file, if the entry was edited by hand."""
    others: tuple[tuple[str, str], ...] = ()
    """The header keys that agentplane does not know, with their values."""


class Subject(msgspec.Struct, frozen=True):
    """An entry or a manual edit to look up, and the memory that it is part of."""

    entry: Entry | None
    """None if a person removed it from its file, or if it cannot be read there."""
    memory: Memory
    reviewed: "Reviewed | None" = None
    edit: HandEdit | None = None
    """The manual edit of it, if there is one."""
    marks: "tuple[Mark, ...]" = ()
    """The findings of the curator's last pass about it."""

    @property
    def id(self) -> str:
        return self.entry.id if self.entry else self.edit.id if self.edit else ""

    @property
    def key(self) -> tuple[str, ...]:
        """Cache key. Subjects with equal keys have the same facts."""
        size = str(self.memory.snapshot.ledger.size)
        return self.id, self.entry.digest if self.entry else "", self.edit.change if self.edit else "", size


def facts_of(subject: Subject) -> EntryFacts:
    """Look up the facts. This reads the log, files of the project and Git history."""
    entry, memory, edit = subject.entry, subject.memory, subject.edit
    snapshot = memory.snapshot
    layout = snapshot.layout
    file = entry.file if entry else edit.file if edit else ""
    source = entry.head.source if entry else None
    runs = list(_runs(layout, subject.id, source or ""))
    steps = _steps(memory, subject.id)
    return EntryFacts(
        evidence=evidence(entry, layout.project) if entry else (),
        run=next((run for run in runs if run.run_id == source), None),
        used_by=tuple(run for run in runs if run.run_id != source)[-_MOST:],
        links=links(entry, memory) if entry else (),
        steps=tuple(steps),
        signed=_signed(memory, steps),
        commits=tuple(_commits(layout, subject.id, file)),
        approved=_text(snapshot.approved_text(edit.id)) if edit else None,
        now=_text(snapshot.core(edit.file, edit.id)) if edit else None,
        others=tuple(_others(memory, entry)) if entry else (),
    )


def _others(memory: Memory, entry: Entry) -> Iterator[tuple[str, str]]:
    page = memory.snapshot.pages.get(entry.file)
    block = page.document.find(entry.id) if page else None
    if page is None or block is None:
        return
    for name, value in page.document.header(block).items():
        if name not in Header.__struct_fields__:
            yield str(name), value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _text(core: bytes | None) -> str | None:
    return None if core is None else core.decode(errors="replace")


def evidence(entry: Entry, project: Path) -> tuple[Evidence, ...]:
    """Return each piece of evidence with the finding of the gate, and with the file and line to open."""
    from agentplane.review.gate.evidence_lookup import lacks

    pieces = entry.head.evidence
    lacking = {lack.place: lack for lack in lacks(pieces, project)}
    result = []
    for place, text in enumerate(pieces):
        lack = lacking.get(place)
        if lack is not None:
            result.append(Evidence(text, "gone", lack.what))
            continue
        path, line = _place(text.strip(), project)
        if path is not None:
            result.append(Evidence(text, "there", path=path, line=line))
        else:
            is_commit = re.fullmatch(r"(?:commit[: ]|git:)?[0-9a-f]{7,40}", text.strip()) is not None
            name = re.split("[: ]", text.strip())[-1]
            known = is_commit and git.knows(project, name) == "commit"
            result.append(Evidence(text, "there" if known else "unknown", "a commit" if known else ""))
    return tuple(result)


def _place(text: str, project: Path) -> tuple[str | None, int | None]:
    """Return the project file that a piece of evidence names, and the line in it."""
    if os.path.isabs(text) or "\0" in text or "://" in text:
        return None, None
    numbered = _LINE.fullmatch(text)
    name, line, symbol = text, None, ""
    if not os.path.lexists(project / text):
        if numbered:
            name, line = numbered["path"], int(numbered["line"])
        name, _, symbol = name.replace("::", "#", 1).partition("#")
    root = os.path.realpath(project)
    path = os.path.realpath(os.path.join(root, name))
    if not path.startswith(root.rstrip("/") + "/") or not os.path.isfile(path):
        return None, None
    return path, line if line is not None else _line_of(path, symbol)


def _line_of(path: str, symbol: str) -> int | None:
    """Return the first line that seems to define the last word of a symbol, or else the first line with that word."""
    words = re.findall(r"\w+", symbol)
    if not words:
        return None
    try:
        if os.path.getsize(path) > _LARGEST:
            return None
        data = files.read(path).decode(errors="replace")
    except (AgentplaneError, OSError):
        return None
    word = re.escape(words[-1])
    defined = re.search(rf"(?m)^\s*(?:(?:async|pub|export|static|public)\s+)*\w+\s+{word}\b", data)
    hit = defined or re.search(rf"\b{word}\b", data)
    return data.count("\n", 0, hit.end()) + 1 if hit else None


def links(entry: Entry, memory: Memory) -> tuple[Link, ...]:
    """Return the links from and to an entry. They come from headers and from ids in texts."""
    relations: dict[str, Relation] = {}
    for id_ in entry.head.supersedes:
        relations.setdefault(id_, "supersedes")
    for id_ in entry.head.superseded_by:
        relations.setdefault(id_, "superseded by")
    mark = entry.id.encode()
    pattern = re.compile(rb"(?<![\w-])" + re.escape(mark) + rb"(?![\w-])")
    for other in memory.entries.values():
        if other.id == entry.id:
            continue
        if entry.id in other.head.supersedes:
            relations.setdefault(other.id, "superseded by")
        elif entry.id in other.head.superseded_by:
            relations.setdefault(other.id, "supersedes")
        elif mark in other.raw and pattern.search(other.raw):
            relations.setdefault(other.id, "named in")
    for id_ in _ID.findall(entry.body[:20_000]):
        if id_ in memory.entries and id_ != entry.id:
            relations.setdefault(id_, "names")
    order = ("supersedes", "superseded by", "names", "named in")
    ranked = sorted(relations.items(), key=lambda item: order.index(item[1]))
    return tuple(_link(memory, id_, relation) for id_, relation in ranked[: _MOST * 2])


def _link(memory: Memory, id_: str, relation: Relation) -> Link:
    other = memory.entries.get(id_)
    return Link(relation, id_, other.statement, other.head.status) if other else Link(relation, id_, None)


def _steps(memory: Memory, id_: str) -> list[history.Step]:
    try:
        return history.of(memory.snapshot, id_)
    except AgentplaneError:
        return []


def _signed(memory: Memory, steps: Sequence[history.Step]) -> dict[str, str]:
    from agentplane.plane.trust import signatures

    snapshot = memory.snapshot
    try:
        verdicts = signatures.signers_of(snapshot.layout, snapshot.settings, {step.op for step in steps})
    except (AgentplaneError, OSError):
        return {}
    return {op: verdict.text for op, verdict in verdicts.items()}


def _runs(layout: Layout, id_: str, source: str) -> "Iterator[RunEvent]":
    """Yield the run that an entry came from, and the runs that used the entry."""
    from agentplane.runs.events import RUN

    mark = msgspec.json.encode(id_)
    marks = [msgspec.json.encode(name) for name in (source, id_) if name]
    lines = log_events.with_any(filter(RUN.matches, log_events.oldest_first(layout.log)), marks)
    try:
        for _, run in log_events.iterate(lines, kind=RUN):
            used = mark in msgspec.json.encode([run.inputs, run.tool_calls])
            if used or run.run_id == source:
                yield run
    except (AgentplaneError, OSError):
        return


def _commits(layout: Layout, id_: str, file: str) -> Iterator[Commit]:
    """Yield the commits that added the id to its file or removed it."""
    for parts in git.with_text(layout.root, id_, file, _MOST):
        yield Commit(*parts)
