"""The candidates and approved entries of a view as records, which a query can filter and sort."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentplane.query import records
from agentplane.query.records import QueryRecord
from agentplane.tui.backend.entries.inbox_rows import EDIT


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.memory.view import HandEdit
    from agentplane.query.fields import Target
    from agentplane.tui.backend.model import PlaneView


class EntryRecords:
    """The records of a list. A record is made once for each text, because that takes longer than a filter."""

    def __init__(self, target: "Target", make: "Callable[[Entry], QueryRecord] | None" = None) -> None:
        """`target` is `inbox` for candidates, or `memory` for approved entries. `make` replaces their usual record."""
        self._target = target
        self._make = make or (records.of_candidate if target == "inbox" else records.of_approved)
        self._made: dict[tuple[str, str], QueryRecord] = {}
        self._listed: tuple[object, list[QueryRecord]] = (None, [])
        """The entries of the last view, and their records without states."""

    def of(self, view: "PlaneView", *, states: bool) -> list[QueryRecord]:
        """Return the records of the list, in the order of the view. With `states`, they have the values of `is:`."""
        return (self._of_inbox if self._target == "inbox" else self._of_memory)(view, states=states)

    def _of_inbox(self, view: "PlaneView", *, states: bool) -> list[QueryRecord]:
        """Return the records of the candidates and of the manual edits, in the order of the view.

        Finding the `states` of all candidates takes longer than a filter, so it is done only if they are needed.
        """
        found = self._of_each(view.inbox)
        if states:
            edited = {edit.id for edit in view.hand_edits}
            reviewed = view.reviewed
            found = [
                records.with_states(
                    record,
                    records.states_of_candidate(
                        entry, reviewed.get(entry.id), view.today, edited=entry.id in edited
                    ),
                )
                for entry, record in zip(view.inbox, found, strict=True)
            ]
        return [
            *found,
            *(self._of_edit(view.memory.entries.get(edit.id), edit) for edit in view.shelf_edits),
        ]

    def _of_memory(self, view: "PlaneView", *, states: bool) -> list[QueryRecord]:
        """Return the records of the approved entries, and of those that are missing in their files."""
        edits = {edit.id: edit for edit in view.shelf_edits}
        found = self._of_each(view.shelf)
        if states:
            expiring = view.expiring
            found = [
                records.with_states(
                    record,
                    records.states_of_approved(entry, expiring.get(entry.id), edited=entry.id in edits),
                )
                for entry, record in zip(view.shelf, found, strict=True)
            ]
        for entry in view.shelf:
            edits.pop(entry.id, None)
        return [*found, *(self._of_edit(None, edit) for edit in edits.values())]

    def _of_each(self, entries: "tuple[Entry, ...]") -> list[QueryRecord]:
        """Return the records of these entries, without states."""
        listed, found = self._listed
        if listed is not entries:
            found = [self._of(entry) for entry in entries]
            # Records of texts that are gone are forgotten.
            self._made = {(entry.id, entry.digest): one for entry, one in zip(entries, found, strict=True)}
            self._listed = (entries, found)
        return found

    def _of(self, entry: "Entry") -> QueryRecord:
        key = (entry.id, entry.digest)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(entry)
        return made

    @staticmethod
    def _of_edit(entry: "Entry | None", edit: "HandEdit") -> QueryRecord:
        """Return the record of a row about a manual edit."""
        return records.replace(records.of_edit(edit, entry), key=f"{EDIT}{edit.id}")
