"""The operations of a plane, and the history of one entry under all its ids."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from agentplane.plane.layout import Layout
from agentplane.plane.store import records
from agentplane.plane.store.records import Change, Record, Stored
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.store.undo import out_of_force


_FEW = 50
_REPLACE = "replace"
"""The verb of a proposal that takes the place of a candidate that was sent back."""


class _Act(msgspec.Struct, frozen=True, kw_only=True):
    """The actor, action, time and channel of an operation."""

    op: str
    ts: str
    verb: str
    actor: str
    channel: str
    program: str
    why: str | None
    confirmed: list[str] = []
    """The codes of the flags that a person confirmed with this operation."""


class OpView(_Act, frozen=True, kw_only=True):
    ids: list[str]
    undoes: str | None
    undone: bool


class Step(_Act, frozen=True, kw_only=True):
    """The change of one entry in one operation."""

    id: str
    file: str | None
    """None if the operation changed no text of the entry, for example a renewal."""
    before: str | None
    """The text in the file before the operation. None if there was none or it was pruned."""
    after: str | None
    pruned: bool


def ops(snapshot: Snapshot, limit: int | None = None) -> list[OpView]:
    """Return the operations, newest first."""
    notes = snapshot.ledger.ops
    undone = out_of_force(notes)
    wanted = notes[::-1] if limit is None else notes[::-1][:limit]
    found = _stored(snapshot.layout, {note.op for note in wanted})
    return [_view(found[note.op], note.op in undone) for note in wanted if note.op in found]


def in_force(snapshot: Snapshot) -> Iterator[Record]:
    """Yield the records of operations that are in effect, oldest first.

    Undo and redo themselves are left out.
    """
    out = out_of_force(snapshot.ledger.ops)
    wanted = {note.op for note in snapshot.ledger.ops if note.op not in out and note.undoes is None}
    for line in records.each(snapshot.layout):
        record = records.read_head(records.head_of(line))
        if record is not None and record.op in wanted:
            yield record


def of(snapshot: Snapshot, id_: str) -> list[Step]:
    """Return an entry's steps, oldest first, including those under its earlier ids.

    For a candidate that is gone, this includes its later entry, or the entry that absorbed it.
    """
    family, mine = _family(snapshot, id_)
    order = {note.op: place for place, note in enumerate(snapshot.ledger.ops)}
    mine.sort(key=lambda stored: order[stored.record.op])
    return [step for stored in mine for step in _steps(stored, family)]


def _family(snapshot: Snapshot, id_: str) -> tuple[set[str], list[Stored]]:
    """Return all ids that an entry ever had, and the committed operations that touched them."""
    committed = {note.op for note in snapshot.ledger.ops}
    family: set[str] = set()
    fresh = {id_}
    while fresh:
        family |= fresh
        marks = [_mark(name) for name in family]
        mine = [stored for stored in _each(snapshot.layout, marks) if stored.record.op in committed]
        mine = [stored for stored in mine if not family.isdisjoint(stored.record.ids)]
        changes = [change for stored in mine for change in stored.record.changes if change.id in family]
        fresh = {change.was for change in changes if change.was} - family
        replacing = (stored.record for stored in mine if stored.record.verb == _REPLACE)
        fresh |= {change.id for record in replacing for change in record.changes} - family
    return family, mine


def _mark(id_: str) -> bytes:
    return msgspec.json.encode(id_)


def _main_changes(stored: Stored, family: set[str]) -> list[Change]:
    """Return the changes to these ids.

    If a change only passes its text to another id, return that id's change.
    """
    taker = {change.was: change for change in stored.record.changes if change.was}
    if stored.record.verb == _REPLACE:
        new = next((change for change in stored.record.changes if change.left is not None), None)
        taker |= {change.id: new for change in stored.record.changes if new is not None}
    mine = [taker.get(change.id, change) for change in stored.record.changes if change.id in family]
    return list({change.id: change for change in mine}.values())


def _steps(stored: Stored, family: set[str]) -> Iterator[Step]:
    """Yield the changes of these ids. An operation such as a renewal is about them without changing a text."""
    changes = _main_changes(stored, family)
    yield from (_step(stored, change) for change in changes)
    for id_ in stored.record.ids:
        if id_ in family and not changes:
            yield Step(**_act(stored), id=id_, file=None, before=None, after=None, pruned=False)


def _act(stored: Stored) -> dict[str, Any]:
    record = stored.record
    names = ("op", "ts", "verb", "actor", "channel", "program", "confirmed")
    return {**{name: getattr(record, name) for name in names}, "why": stored.why}


def _view(stored: Stored, undone: bool) -> OpView:
    return OpView(**_act(stored), ids=stored.record.ids, undoes=stored.record.undoes, undone=undone)


def _stored(layout: Layout, wanted: set[str]) -> dict[str, Stored]:
    marks = [records.op_mark(op) for op in wanted] if len(wanted) < _FEW else [b""]
    return {stored.record.op: stored for stored in _each(layout, marks) if stored.record.op in wanted}


def _each(layout: Layout, marks: Sequence[bytes] = (b"",)) -> Iterator[Stored]:
    """Yield the records whose lines contain one of the marks."""
    for line in records.each(layout):
        if not any(mark in line for mark in marks):
            continue
        try:
            yield records.read_line(line)
        except (ValueError, msgspec.MsgspecError):
            continue


def _step(stored: Stored, change: Change) -> Step:
    before, after = stored.text(change.found), stored.text(change.left)
    return Step(
        **_act(stored),
        id=change.id,
        file=change.file,
        before=None if before is None else before.decode(errors="replace"),
        after=None if after is None else after.decode(errors="replace"),
        pruned=(before is None and change.found is not None) or (after is None and change.left is not None),
    )
