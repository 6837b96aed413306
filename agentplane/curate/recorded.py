"""The data that operations record for the curator: the state of evidence at each approval, and dismissed findings."""

from collections.abc import Mapping, Sequence
from datetime import date

import msgspec

from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import ledger_cache, log_events
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.store import records
from agentplane.plane.store.records import (
    OBSERVING,
    PARTLY_OBSERVING,
    SUCCEEDING,
    Dismissed,
    Observation,
    Record,
)
from agentplane.plane.store.undo import out_of_force
from agentplane.text import days
from agentplane.text.json import decode
from agentplane.text.log import chain


DISMISS = "dismiss"
KEPT = cache.CacheFile("curate-records.mp")
"""Cache file with the rows of the log's operations."""

_STAMPING = ("approve", "supersede", *SUCCEEDING)
"""The verbs whose operations record the commit that their entries have."""
_FEW = 20


class Observed(msgspec.Struct, frozen=True):
    """The state of an entry's evidence when a person last approved or renewed the entry."""

    day: date | None
    """The day on which the person checked the entry. None if the header doesn't contain it."""
    commit: str | None
    """The commit that was checked out then."""
    evidence: tuple[Observation, ...] | None
    """None if no operation recorded the state, as in earlier versions. Then the commit has it, also of single
    pieces that aren't here.
    """


class Dismissal(msgspec.Struct, frozen=True):
    """A finding that a person put aside."""

    ids: tuple[str, ...]
    until: date | None
    """The day on which the finding returns. None means that it returns only if its proof changes."""
    op: str
    """The operation that dismissed it, which has the reason."""


class Recorded(msgspec.Struct, frozen=True):
    """The records that are in force. Undone operations don't count."""

    observed: Mapping[str, Observed] = {}
    """Every accepted entry, by its id."""
    dismissed: Mapping[str, Dismissal] = {}
    """By the key of the finding."""


class _Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of an operation's record that the curator needs."""

    ts: str
    verb: str
    observed: dict[str, list[Observation]] = {}
    commit: str | None = None
    dismissed: dict[str, Dismissed] = {}


class _Rows(msgspec.Struct, frozen=True):
    """The rows of the operations in the first `size` bytes of the log, by operation."""

    size: int = 0
    head: str | None = None
    """The hash of the last line within `size`."""
    rows: dict[str, _Row] = {}


_codec = decode.Pack(_Rows)


def of(memory: Memory) -> Recorded:
    """Return what is recorded about the accepted entries of a memory."""
    ledger = memory.snapshot.ledger
    rows = _rows(memory.snapshot.layout, ledger)
    undone = out_of_force(ledger.ops)
    observed: dict[str, list[_Row]] = {}
    dismissed: dict[str, Dismissal] = {}
    for note in ledger.ops:
        row = rows.get(note.op)
        if row is None or note.op in undone:
            continue
        for id_ in row.observed:
            observed.setdefault(id_, []).append(row)
        for key, found in row.dismissed.items():
            dismissed[key] = Dismissal(tuple(found.ids), days.day_of(found.until), note.op)
    accepted = (entry for entry in memory.shelf if entry.head.status == "accepted")
    return Recorded({entry.id: _observed(entry, observed.get(entry.id, ())) for entry in accepted}, dismissed)


def _observed(entry: Entry, rows: Sequence[_Row]) -> Observed:
    head = entry.head
    updated = days.day_of(head.updated) if head.updated else None
    at = next((at for at in reversed(range(len(rows))) if _is_look(entry, rows[at])), None)
    row = None if at is None else rows[at]
    # Setting fields records only the pieces of evidence that it brings. The others keep their earlier state.
    since = rows if at is None else rows[at + 1 :]
    added = {
        found.evidence: found
        for later in since
        if later.verb == PARTLY_OBSERVING
        for found in later.observed[entry.id]
    }
    if row is None and not added:
        return Observed(updated, head.anchor, None)
    by_text = {found.evidence: found for found in row.observed[entry.id]} if row else {}
    by_text |= added
    looked = days.day_of(row.ts[:10]) if row else None
    day = max((day for day in (updated, looked) if day), default=None)
    commit = row.commit if row else None
    if not added and not by_text.keys() >= set(head.evidence):
        return Observed(day, commit or head.anchor, None)
    return Observed(
        day, commit or head.anchor, tuple(by_text[text] for text in head.evidence if text in by_text)
    )


def _is_look(entry: Entry, row: _Row) -> bool:
    """True if a person saw the whole entry in the operation of a row."""
    return row.verb != PARTLY_OBSERVING and _is_about(entry, row)


def _is_about(entry: Entry, row: _Row) -> bool:
    """True if a row is about this entry. Two branches can give one id to two entries, until a merge."""
    return row.verb not in _STAMPING or not entry.head.anchor or row.commit == entry.head.anchor


def _rows(layout: Layout, ledger: Ledger) -> Mapping[str, _Row]:
    kept = _kept(layout)
    if kept.size == ledger.size and kept.head == ledger.head:
        return kept.rows
    rows = dict(kept.rows)
    wanted: dict[str, str] = {}
    for _, line in chain.lines(layout.log, kept.size):
        event = log_events.OP.read(line)
        if event is not None:
            wanted[event.op_sha256] = event.op
    for sha256, record in _proved(layout, wanted).items():
        if (record.verb in OBSERVING and record.observed) or (record.verb == DISMISS and record.dismissed):
            rows[wanted[sha256]] = _row(record)
    cache.save_as_of(layout, ledger.head, KEPT, msgspec.msgpack.encode(_Rows(ledger.size, ledger.head, rows)))
    return rows


def _row(record: Record) -> _Row:
    dismissed = record.dismissed if record.verb == DISMISS else {}
    observed = record.observed if record.verb in OBSERVING else {}
    return _Row(record.ts, record.verb, observed, record.commit, dismissed)


def _proved(layout: Layout, wanted: Mapping[str, str]) -> Mapping[str, Record]:
    """Return the records of these events, by the hash that each event has of its record."""
    if len(wanted) <= _FEW:
        lines = [line for op in wanted.values() if (line := records.find(layout, op)) is not None]
        found = records.heads_in(lines)
        heads = found if found.keys() >= wanted.keys() else records.by_hash(layout)
    else:
        heads = records.by_hash(layout)
    read = {sha256: records.read_head(heads.get(sha256), op) for sha256, op in wanted.items()}
    return {sha256: record for sha256, record in read.items() if record is not None}


def _kept(layout: Layout) -> _Rows:
    data = cache.load(layout, KEPT)
    try:
        kept = _codec.decode(data) if data else _Rows()
    except msgspec.MsgspecError:
        return _Rows()
    return kept if ledger_cache.still_there(layout, kept) else _Rows()
