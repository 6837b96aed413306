"""An operation's record and the history it could know, and their comparison with edits that are computed again."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from agentplane.guard.history import Past, recalled, tops_before
from agentplane.guard.plane_at_commit import shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.memory.entry import Header, read_header
from agentplane.memory.proposing import WRITTEN
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger.ledger import Known, Ledger
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.records import OBSERVING, Change, Record
from agentplane.review.gate import receipts
from agentplane.text.markdown import document
from agentplane.text.markdown.document import Block, Document


_DAY = timedelta(days=1)
_MOVE = ("adopt", "undo", "redo", "settle")
"""The verbs that can move an entry to another file. `guard.settle` checks the moves of settling."""
OF_A_CANDIDATE = {"id", "type", "status", "proposed_by", "updated", *WRITTEN}
"""The keys that proposing writes. Other keys would take effect on approval without anyone's decision."""


class Pruned(Exception):
    """A required text was removed from history."""


def in_force(record: Record, past: Past) -> bool:
    """True if a text that the operation left is still in force."""
    known = past.side.ledger.known
    met = past.side.ledger.met
    return any(
        change.after is not None
        and change.after in {mark.digest for mark in (known.get(change.id), *met.get(change.id, ())) if mark}
        for change in record.changes
    )


def wrong_facts(record: Record, past: Past, place: int) -> str | None:
    """Return a problem with the facts that every operation must state correctly, or None.

    These are the text that was approved before, its file, and the ids of the texts.
    """
    if odd := _not_of_its_verb(record):
        return odd
    for change in record.changes:
        name = shown(change.id, 40)
        state = past.state(change.id, place)
        if change.before != (state.digest if state else None):
            return f"names an earlier approved text of {name} that doesn't match its history"
        stays = state is not None and state.digest is not None and record.verb not in _MOVE
        if stays and change.file != state.file:  # type: ignore[union-attr]
            return f"moves {name} to a different file, which `{shown(record.verb, 20)}` never does"
        text = past.text(record.op, change.left, change.file, change.id)
        if text is not None:
            block = past.block(text)
            if block is None or block.id != change.id:
                return f"is incomplete: the text recorded for {name} isn't the entry {name}"
    return None


def _not_of_its_verb(record: Record) -> str | None:
    """Return a problem with record fields that the verb must not set, or None.

    Readers of history trust these fields for every verb.
    """
    if record.undoes is not None and record.verb not in ("undo", "redo"):
        return f"is recorded as undoing an operation, which `{shown(record.verb, 20)}` never does"
    if (record.prunes or record.redacted) and record.verb != "prune":
        return f"removes text from history, which `{shown(record.verb, 20)}` never does"
    if record.rejected and record.verb not in ("approve", "supersede"):
        return f"is recorded as rejecting candidates, which `{shown(record.verb, 20)}` never does"
    if record.confirmed and record.verb not in receipts.BRINGING:
        return f"is recorded as confirming flags, which `{shown(record.verb, 20)}` never does"
    if record.observed and record.verb not in OBSERVING:
        return f"records the state of evidence, which `{shown(record.verb, 20)}` never does"
    if record.dismissed and record.verb != "dismiss":
        return f"dismisses findings, which `{shown(record.verb, 20)}` never does"
    if record.settings:
        return f"records trust settings, which `{shown(record.verb, 20)}` never does"
    return None


class Case(msgspec.Struct, frozen=True):
    """An operation with the history that it could know."""

    record: Record
    place: int
    done: Mapping[str, LoggedOp]
    past: Past

    def text(self, change: Change, digest: str | None) -> bytes:
        text = self.past.text(self.record.op, digest, change.file, change.id)
        if text is None:
            raise Pruned
        return text

    def head(self, change: Change) -> Header:
        """Return the header of the text that a change left."""
        block = self.past.block(self.text(change, change.left))
        if block is None:
            raise Pruned
        return read_header(block.packed)[0]

    def is_pruned(self, change: Change) -> bool:
        """True if the text that a change had found is gone. A person's own words need no comparison with
        it.
        """
        found = self.past.text(self.record.op, change.found, change.file, change.id)
        return change.found is not None and found is None

    def moved(self, change: Change) -> str | None:
        state = self.past.state(change.id, self.place)
        if state is not None and state.file == change.file:
            return None
        return f"moves {shown(change.id, 40)} to a different file"

    def memory(self) -> Memory:
        """Return the entries that the operation names, in the state that it found."""
        known: dict[str, Known] = {}
        files: dict[str, list[bytes]] = {}
        for change in self.record.changes:
            if state := self.past.state(change.id, self.place):
                known[change.id] = state
            if change.found is not None:
                files.setdefault(change.file, []).append(self.text(change, change.found))
        fresh = [change for change in self.record.changes if change.id not in known and change.file != INBOX]
        return recalled(self.past, Ledger(known=known, tops=tops_before(fresh)), files)

    def compared(self, plan: Plan | None) -> str | None:
        return self.compared_edits(plan.edits if plan else ())

    def compared_edits(self, edits: Iterable[Edit]) -> str | None:
        return differing(self.record, edits, self.text)

    def stamped_day(self, text: str | None) -> date:
        """Return the day that is stamped into an entry.

        Because of time zones and midnight it may be one day before or after the operation. Raise `ValueError`
        for any other day.
        """
        return self.near(date.fromisoformat((text or "")[:10]))

    def near(self, day: date) -> date:
        """Return a day that is at most one day before or after the operation. Raise `ValueError` for any other
        day.
        """
        if abs(day - datetime.fromisoformat(self.record.ts).date()) > _DAY:
            raise ValueError
        return day


def differing(
    record: Record, edits: Iterable[Edit], text: Callable[[Change, str | None], bytes]
) -> str | None:
    """Return how the recorded changes differ from the recomputed edits, or None if they match."""
    wanted = {(edit.id, edit.file): edit for edit in edits}
    for change in record.changes:
        edit = wanted.pop((change.id, change.file), None)
        if edit is None:
            return f"changes {shown(change.id, 40)}, but `{record.verb}` wouldn't change that entry"
        if not same(change, edit):
            differs = unexpected_fields(change, edit, text)
            return f"changes {shown(change.id, 40)} differently than `{record.verb}` would{differs}"
    if wanted:
        id_, _ = next(iter(wanted))
        return f"doesn't change {shown(id_, 40)}, but `{record.verb}` would change that entry"
    return None


def same(change: Change, edit: Edit) -> bool:
    left = None if edit.text is None else document.digest(edit.text)
    after = left if edit.after is msgspec.UNSET else edit.after
    return (change.left, change.after, change.was) == (left, after, edit.was)


def unexpected_fields(change: Change, edit: Edit, text: Callable[[Change, str | None], bytes]) -> str:
    """Return the fields of a changed entry that differ from the recomputed edit, for example ` (evidence, text)`."""
    if edit.text is None or change.left is None:
        return ""
    one, other = document.parse(text(change, change.left)), document.parse(edit.text)
    if len(one.blocks) != 1 or len(other.blocks) != 1:
        return ""
    return differing_fields((one, one.blocks[0]), (other, other.blocks[0]))


def differing_fields(one: tuple[Document, Block], other: tuple[Document, Block]) -> str:
    """Return the fields that differ between two texts of an entry, for example ` (status, text)`."""
    (page, block), (other_page, other_block) = one, other
    fields, other_fields = page.header(block), other_page.header(other_block)
    names = [str(name) for name in {**fields, **other_fields} if fields.get(name) != other_fields.get(name)]
    names += ["text"] if page.body(block) != other_page.body(other_block) else []
    return f" ({', '.join(shown(name, 30) for name in names[:5])})" if names else ""


def fields_of(packed: bytes) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.msgpack.decode(packed)
    return fields
