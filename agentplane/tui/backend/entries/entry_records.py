"""The candidates and approved entries of a view as records, which a query can filter and sort."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agentplane.query import records
from agentplane.query.records import Record
from agentplane.tui.backend.entries.inbox_rows import EDIT


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.memory.view import HandEdit
    from agentplane.tui.backend.model import PlaneView


class EntryRecords:
    """The records of a list. A record is made once for each text, because that takes longer than a filter."""

    def __init__(self, make: "Callable[[Entry], Record]") -> None:
        self._make = make
        self._made: dict[tuple[str, str], Record] = {}

    def of_inbox(self, view: "PlaneView") -> list[Record]:
        """Return the records of the candidates and of the manual edits, in the order of the view."""
        edited = {edit.id for edit in view.hand_edits}
        today = datetime.now(UTC).date()
        found = []
        for entry in view.inbox:
            reviewed = view.reviewed.get(entry.id)
            states = records.states_of_candidate(entry, reviewed, today, edited=entry.id in edited)
            found.append(records.with_states(self._of(entry), states))
        edits = [self._of_edit(view.memory.entries.get(edit.id), edit) for edit in view.shelf_edits]
        return self._keep(view.inbox, [*found, *edits])

    def of_memory(self, view: "PlaneView") -> list[Record]:
        """Return the records of the approved entries, and of those that are missing in their files."""
        edits = {edit.id: edit for edit in view.shelf_edits}
        found = []
        for entry in view.shelf:
            states = records.states_of_approved(
                entry, view.expiring.get(entry.id), edited=edits.pop(entry.id, None) is not None
            )
            found.append(records.with_states(self._of(entry), states))
        return self._keep(view.shelf, [*found, *(self._of_edit(None, edit) for edit in edits.values())])

    def _of(self, entry: "Entry") -> Record:
        key = (entry.id, entry.digest)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(entry)
        return made

    @staticmethod
    def _of_edit(entry: "Entry | None", edit: "HandEdit") -> Record:
        """Return the record of a row about a manual edit."""
        return records.replace(records.of_edit(edit, entry), key=f"{EDIT}{edit.id}")

    def _keep(self, entries: "tuple[Entry, ...]", found: list[Record]) -> list[Record]:
        """Return the records, and forget the records of texts that are gone."""
        if len(self._made) > 2 * len(entries):
            kept = {(entry.id, entry.digest) for entry in entries}
            self._made = {key: made for key, made in list(self._made.items()) if key in kept}
        return found
