"""Pairs of entries that a person decided to keep, as found in operation records."""

from collections.abc import Iterator

import msgspec

from agentplane.errors import Damaged
from agentplane.lazy import cached_property
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store import history, records
from agentplane.plane.store.records import Record


class _Version(msgspec.Struct, frozen=True, gc=False):
    """The text that one operation approved for an entry."""

    place: int
    """The place of the operation in the order of all operations."""
    op: str
    digest: str | None
    file: str
    has_reason: bool
    """True if the operation approved a candidate, and the person gave a reason."""


class KeptPairs:
    """Approvals with a reason. To approve a candidate that contradicts an entry, and to keep both, a person must give one.

    A reason covers the statements of that moment. Nothing is read before the first question.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def has(self, one: Entry, other: Entry) -> bool:
        """True if a person approved one of the two next to the other, and gave a reason."""
        return self._approved_beside(one, other) or self._approved_beside(other, one)

    def _approved_beside(self, new: Entry, old: Entry) -> bool:
        return any(
            version.has_reason and self._says(version, new) and self._was_there(old, version.place)
            for version in self._versions.get(new.id, ())
        )

    def _was_there(self, entry: Entry, place: int) -> bool:
        """True if the entry had its current statement at this place in the order of operations."""
        before = [version for version in self._versions.get(entry.id, ()) if version.place <= place]
        return bool(before) and self._says(before[-1], entry)

    def _says(self, version: _Version, entry: Entry) -> bool:
        """True if a version has the current statement of the entry."""
        if version.digest is None or version.digest == entry.digest:
            return version.digest is not None
        try:
            text = records.load(self._memory.snapshot.layout, version.op, version.digest).text(version.digest)
        except Damaged:
            return False
        read = self._memory.entries_in(text, version.file) if text is not None else []
        return any(one.id == entry.id and one.statement == entry.statement for one in read)

    @cached_property
    def _versions(self) -> dict[str, list[_Version]]:
        found: dict[str, list[_Version]] = {}
        for place, record in enumerate(history.in_force(self._memory.snapshot)):
            for id_, version in _versions_in(record, place):
                found.setdefault(id_, []).append(version)
        return found


def _versions_in(record: Record, place: int) -> Iterator[tuple[str, _Version]]:
    # An approval that rejects another candidate has a reason for that choice.
    reasoned = record.verb == "approve" and record.why is not None and not record.rejected
    for change in record.changes:
        if change.file != INBOX and change.before != change.after:
            new = reasoned and change.before is None
            yield change.id, _Version(place, record.op, change.after, change.file, new)
