"""The day on which a person last checked each entry, by approving, editing, merging or renewing it."""

from collections.abc import Mapping
from datetime import date

from agentplane.curate.subject import Subject
from agentplane.memory.entry import Entry
from agentplane.text import days


_LOOKS = frozenset(
    ("approve", "supersede", "merge", "edit", "adopt", "merge-entries", "split-entry", "change-kind")
)
"""The verbs of operations in which a person sees the whole text."""


def of(subject: Subject) -> dict[str, date]:
    """Return the days by id. An entry without a readable date is left out."""
    verbs = {note.op: note.verb for note in subject.memory.snapshot.ledger.ops}
    found = ((entry.id, _day(subject, entry, verbs)) for entry in subject.entries)
    return {id_: day for id_, day in found if day is not None}


def _day(subject: Subject, entry: Entry, verbs: Mapping[str, str]) -> date | None:
    observed = subject.recorded.observed.get(entry.id)
    updated = days.day_of(entry.head.updated) if entry.head.updated else None
    known = subject.memory.known(entry.id)
    changed = _day_of_op(known.op) if known and verbs.get(known.op) in _LOOKS else None
    recorded = observed.day if observed else None
    return max((day for day in (recorded, updated, changed) if day is not None), default=None)


def _day_of_op(op: str) -> date | None:
    """Return the day of an operation. Its id begins with its time in UTC."""
    try:
        return date(int(op[:4]), int(op[4:6]), int(op[6:8]))
    except ValueError:
        return None
