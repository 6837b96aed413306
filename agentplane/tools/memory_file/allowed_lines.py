"""The lines that a file may present as approved memory.

Files that tools read have these lines in managed blocks. `context/active.md` contains only such lines.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Literal

import msgspec

from agentplane.context import active, notes, pack_text
from agentplane.context.choose import KINDS, PINNED
from agentplane.context.sources import Sources
from agentplane.memory.entry import Entry
from agentplane.plane.ledger import log_events, run_lookup
from agentplane.review.conflicts import assumptions
from agentplane.runs.events import RUN
from agentplane.tools.memory_file import block


Kind = Literal["entry", "frame", "title", "note", "unknown"]
"""The kind of a line.

- `entry` is a line of an entry.
- `frame` is a line that agentplane writes for every memory.
- `title` is the first line of a context pack for a task or for paths, which is free text.
- `note` is an unreviewed line from a run of the log.
- `unknown` is any other line.
"""


class Line(msgspec.Struct, frozen=True):
    """A line of a file, and its apparent place in a context pack."""

    number: int
    raw: str
    text: str
    """The line without the date of an entry and without trailing blanks."""
    id: str = ""
    """The entry that the line seems to be part of."""
    section: str = ""
    """The heading above it, or the line itself if it is a heading."""
    fenced: bool = False
    """Whether it is inside the fence around the notes of a run."""

    @property
    def key(self) -> tuple[str, str, bool]:
        """A key that is equal for lines with the same meaning."""
        return self.id, self.text, self.fenced


class Known(msgspec.Struct, frozen=True):
    """The lines that agentplane may have written."""

    entries: frozenset[tuple[str, str]]
    """Pairs of an id and a line."""
    frame: frozenset[str]
    notes: Mapping[str, frozenset[tuple[str, bool]]]
    """The lines of runs, by the id of the run, and whether each line is inside the fence."""
    assumptions: Mapping[str, tuple[Entry, ...]] = MappingProxyType({})
    """The texts of assumptions by id. A changed assumption can have several."""

    def kind(self, line: Line) -> Kind:
        if self._is_of_run(line):
            return "note"
        if line.fenced:
            return "unknown"
        if (line.id, line.text) in self.entries or self._is_mark(line):
            return "entry"
        if line.text in self.frame or pack_text.is_warning(line.text):
            return "frame"
        title = pack_text.read_title(line.text)
        if title is None:
            return "unknown"
        return "title" if title.about else "frame"

    def _is_mark(self, line: Line) -> bool:
        """True if a line states that two assumptions contradict each other, and they do."""
        other = pack_text.marked_in(line.text)
        if other is None:
            return False
        pairs = product(self.assumptions.get(line.id, ()), self.assumptions.get(other, ()))
        found = (assumptions.between(*pair) for pair in pairs)
        return any(one is not None and line.text == pack_text.mark(line.id, one) for one in found)

    def _is_of_run(self, line: Line) -> bool:
        run = pack_text.run_of(line.section)
        named = [run] if run else run_lookup.run_ids_in(line.text)
        return any((line.text, line.fenced) in self.notes.get(id_, ()) for id_ in named)


def known(
    entries: Iterable[Entry],
    plane: str,
    texts: Iterable[bytes] = (),
    log: Iterable[bytes] = (),
    edited: Iterable[str] = (),
) -> Known:
    """Return the lines of approved entries, and of the runs in the log that the texts name.

    `plane` is the name of the plane's folder. `edited` are the current ids of manual edits, which can have
    any form.
    """
    entries = tuple(entries)
    warnings = pack_text.warnings(Sources("", (), hand_edits=tuple(edited)), ())
    names = (*KINDS, PINNED, *(entry.head.type for entry in entries))
    frame = [
        *pack_text.INTRODUCTION,
        pack_text.NOT_IN_HERE,
        active.import_line(plane),
        *map(pack_text.heading, names),
    ]
    frame += [f"- {warning}" for warning in warnings]
    return Known(
        frozenset((line.id, line.text) for entry in entries for line in _of_entry(entry)),
        frozenset(frame),
        _of_runs(
            {run for text in texts for run in run_lookup.run_ids_in(text.decode(errors="replace"))}, log
        ),
        _by_id(entry for entry in entries if entry.head.type == assumptions.KIND),
    )


def _by_id(entries: Iterable[Entry]) -> dict[str, tuple[Entry, ...]]:
    found: dict[str, tuple[Entry, ...]] = {}
    for entry in entries:
        found[entry.id] = (*found.get(entry.id, ()), entry)
    return found


def blocks(data: bytes) -> Iterator[Line]:
    """Yield the nonempty lines of all managed blocks of a file."""
    at = 0
    while found := block.find(data[at:]):
        yield from lines(found.content(data[at:]), data.count(b"\n", 0, at + found.inside) + 1)
        at += found.end


def lines(data: bytes, first: int = 1) -> Iterator[Line]:
    """Yield the nonempty lines of a context pack. `first` is the number of the first line."""
    id_ = section = fence = ""
    for number, raw in enumerate(data.decode(errors="replace").splitlines(), first):
        text = raw.rstrip()
        if fence:
            fenced = text != fence
            fence = fence if fenced else ""
            if text:
                yield Line(number, raw, text, "", section, fenced)
            continue
        item = pack_text.read_item(raw)
        id_ = item.id if item else id_ if raw.startswith("  ") else ""
        section = text if raw.startswith("#") else section
        if text:
            yield Line(number, raw, item.undated.rstrip() if item else text, id_, section)
        if pack_text.run_of(section):
            fence = notes.fence_of(text)


def _of_entry(entry: Entry) -> Iterator[Line]:
    """Yield the lines of an entry, both as pinned and as unpinned."""
    for pinned in (False, True):
        head = msgspec.structs.replace(entry.head, pinned=pinned)
        yield from lines(pack_text.item(msgspec.structs.replace(entry, head=head), full=True).encode())


def _of_runs(ids: set[str], log: Iterable[bytes]) -> dict[str, frozenset[tuple[str, bool]]]:
    found: dict[str, frozenset[tuple[str, bool]]] = {}
    if not ids:
        return found
    marks = [id_.encode() for id_ in ids]
    for _, run in log_events.iterate(log_events.with_any(log, marks), kind=RUN):
        run_notes = notes.of(run) if run.run_id in ids else None
        if run_notes is not None:
            note_lines = lines(pack_text.of_run(run_notes).encode())
            # After a merge, a log may have two events of one run.
            found[run.run_id] = found.get(run.run_id, frozenset()) | {
                (one.text, one.fenced) for one in note_lines
            }
    return found
