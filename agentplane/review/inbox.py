"""The inbox as a reviewer sees it: each candidate with what it conflicts with and what is to be said of it."""

from collections.abc import Sequence
from datetime import date
from functools import cached_property

import msgspec

from agentplane.memory.entry import Entry
from agentplane.memory.shelf import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.settings import Action
from agentplane.review import gate, hygiene
from agentplane.review.conflicts import Conflict, Text, find, text_of
from agentplane.review.gate import Context
from agentplane.review.tombstones import Tombstones, rejections


class Reviewed(msgspec.Struct, frozen=True):
    """A candidate as things are now."""

    entry: Entry
    conflicts: tuple[Conflict, ...]
    flags: tuple[str, ...]
    age: int | None
    """In days."""
    because: str
    """Who proposed it, and from which run."""
    like: str | None
    """An earlier candidate that says the same: one decision for both."""

    @property
    def clean(self) -> bool:
        return not self.conflicts and not self.flags


class Conflicts:
    """What candidates conflict with: the shelf as far as it is in force, and the rest of the inbox."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @cached_property
    def _texts(self) -> list[Text]:
        in_force = [entry for entry in self.memory.shelf if entry.head.status == "accepted"]
        return [text_of(entry) for entry in (*in_force, *self.memory.inbox)]

    def of(self, entry: Entry) -> list[Conflict]:
        return find(text_of(entry), self._texts)

    def on_the_shelf(self, entry: Entry) -> list[Conflict]:
        """Only those with what was approved: two candidates that conflict are decided one after the other."""
        return [conflict for conflict in self.of(entry) if self.memory.entries[conflict.id].file != INBOX]


def gate_context(memory: Memory, today: date) -> Context:
    """What a new proposal is held against."""
    return gate.context(memory, today, _actions(memory), Tombstones(rejections(memory.snapshot)))


def _actions(memory: Memory) -> dict[str, Action]:
    return msgspec.structs.asdict(memory.snapshot.settings.gate)


def look(memory: Memory, today: date, wanted: Sequence[Entry] | None = None) -> list[Reviewed]:
    """The candidates, in the order of the file; only those that are `wanted`, if any are named."""
    conflicts = Conflicts(memory)
    # Of what was approved or rejected since, the conflicts speak; the rest of the gate looks again.
    context = gate.context(memory, today, {**_actions(memory), "known": "off", "repeat": "off"})
    places = {entry.id: place for place, entry in enumerate(memory.inbox)}
    return [
        _reviewed(memory, entry, conflicts.of(entry), places, context) for entry in wanted or memory.inbox
    ]


def _reviewed(
    memory: Memory, entry: Entry, conflicts: Sequence[Conflict], places: dict[str, int], context: Context
) -> Reviewed:
    earlier = [
        conflict.id
        for conflict in conflicts
        if conflict.kind == "duplicate" and places.get(conflict.id, len(places)) < places.get(entry.id, 0)
    ]
    return Reviewed(
        entry=entry,
        conflicts=tuple(conflicts),
        flags=tuple(hygiene.flags(memory, entry, context)),
        age=hygiene.age_in_days(entry, context.today),
        because=hygiene.provenance(entry),
        like=min(earlier, key=lambda id_: places[id_]) if earlier else None,
    )
