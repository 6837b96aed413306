"""The inbox as a reviewer sees it: each candidate with what it conflicts with and what is to be said of it."""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property

import msgspec

from agentplane.memory.entry import Entry
from agentplane.memory.shelf import Memory
from agentplane.plane import badges
from agentplane.plane.settings import Action
from agentplane.review import gate, hygiene, looked, tombstones
from agentplane.review.conflicts import Conflict, find, text_of
from agentplane.review.gate import Context
from agentplane.review.neighbours import Kept, Neighbours


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

    def __init__(self, memory: Memory, beside: Sequence[Entry] | None = None) -> None:
        """`beside`: the candidates that count, where an op is about these only; else all of them."""
        self.memory = memory
        self._beside = beside

    @cached_property
    def missing(self) -> str | None:
        """What is missing for finding all that is near, in one line; None: nothing that matters here."""
        return self._shelf.missing or self._inbox.missing

    def of_each(self, wanted: Sequence[Entry]) -> list[tuple[Conflict, ...]]:
        """For each of the wanted, the gravest first. What was found before for the same files is kept."""
        layout, mark = self.memory.snapshot.layout, self._mark
        known = looked.load(layout, mark)
        unknown = [entry for entry in wanted if entry.id not in known]
        if unknown:
            known.update(zip((entry.id for entry in unknown), self._found(unknown), strict=True))
            if self._beside is None:
                looked.save(self.memory.snapshot, mark, known)
        if self._beside is None:
            badges.keep_contested(layout, {id_: bool(found) for id_, found in known.items()}, self._waiting)
        return [known[entry.id] for entry in wanted]

    @cached_property
    def _waiting(self) -> frozenset[str]:
        return frozenset(self.memory.inbox_ids)

    def of(self, entry: Entry) -> tuple[Conflict, ...]:
        return self.of_each([entry])[0]

    def _found(self, wanted: Sequence[Entry]) -> Iterator[tuple[Conflict, ...]]:
        texts = [text_of(entry) for entry in wanted]
        for text, approved, waiting in zip(
            texts, self._shelf.of_each(texts), self._inbox.of_each(texts), strict=True
        ):
            yield tuple(find(text, [*approved, *waiting]))

    @cached_property
    def _mark(self) -> str:
        return looked.mark(self.memory.snapshot)

    @cached_property
    def _kept(self) -> Kept:
        snapshot = self.memory.snapshot
        return Kept(snapshot.layout, snapshot.ledger.head)

    @cached_property
    def _shelf(self) -> Neighbours:
        in_force = [entry for entry in self.memory.shelf if entry.head.status == "accepted"]
        return Neighbours([text_of(entry) for entry in in_force], self._kept, "shelf")

    @cached_property
    def _inbox(self) -> Neighbours:
        if self._beside is not None:
            return Neighbours([text_of(entry) for entry in self._beside], self._kept, "beside")
        return Neighbours([text_of(entry) for entry in self.memory.inbox], self._kept, "inbox")


def gate_context(memory: Memory, today: date) -> Context:
    """What a new proposal is held against."""
    return gate.context(memory, today, _actions(memory), tombstones.kept(memory.snapshot))


def _actions(memory: Memory) -> dict[str, Action]:
    return msgspec.structs.asdict(memory.snapshot.settings.gate)


class Reviewer:
    """Looks at candidates as things are at one moment."""

    def __init__(self, memory: Memory, today: date) -> None:
        self.memory = memory
        self.conflicts = Conflicts(memory)
        # Of what was approved since, the conflicts speak; the rest of the gate looks again.
        self._context = gate.context(
            memory, today, {**_actions(memory), "known": "off"}, tombstones.kept(memory.snapshot)
        )
        self._places = {id_: place for place, id_ in enumerate(memory.inbox_ids)}

    def look(self, wanted: Sequence[str] = ()) -> list[Reviewed]:
        """The named candidates; none named: all, in the order of the file."""
        entries = [self.memory.get(name) for name in wanted] if wanted else self.memory.inbox
        found = self.conflicts.of_each(entries)
        return [self._reviewed(entry, conflicts) for entry, conflicts in zip(entries, found, strict=True)]

    def alike(self, wanted: Sequence[str]) -> list[str]:
        """The other candidates that say the same as one of these, or the same as one that does."""
        found = dict.fromkeys(self.memory.get(name).id for name in wanted)
        asked = list(found)
        while asked:
            each = self.conflicts.of_each([self.memory.get(name) for name in asked])
            same = [
                c.id
                for conflicts in each
                for c in conflicts
                if c.kind == "duplicate" and c.id in self._places
            ]
            asked = [id_ for id_ in dict.fromkeys(same) if id_ not in found]
            found.update(dict.fromkeys(asked))
        return list(found)[len(set(wanted)) :]

    def _reviewed(self, entry: Entry, conflicts: Sequence[Conflict]) -> Reviewed:
        return Reviewed(
            entry=entry,
            conflicts=tuple(conflicts),
            flags=tuple(hygiene.flags(self.memory, entry, self._context)),
            age=hygiene.age_in_days(entry, self._context.today),
            because=hygiene.provenance(entry),
            like=self._earlier_like(entry, conflicts),
        )

    def _earlier_like(self, entry: Entry, conflicts: Sequence[Conflict]) -> str | None:
        places = self._places
        own = places.get(entry.id, len(places))
        same = [c.id for c in conflicts if c.kind == "duplicate" and places.get(c.id, own) < own]
        return min(same, key=places.__getitem__, default=None)
