"""The inbox as a reviewer sees it: each candidate with what it conflicts with and what is to be said of it."""

from collections.abc import Collection, Sequence
from datetime import date
from functools import cached_property

import msgspec

from agentplane.memory.entry import Entry
from agentplane.memory.shelf import Memory
from agentplane.plane import badges
from agentplane.plane.settings import Action
from agentplane.review import gate, gate_answers, hygiene, looked, tombstones
from agentplane.review.conflicts import Conflict, find, text_of
from agentplane.review.gate import Context
from agentplane.review.neighbours import Kept, Neighbours
from agentplane.review.resolve import ConflictsOf
from agentplane.text.bulk import uncollected


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

    def __init__(
        self,
        memory: Memory,
        beside: Sequence[Entry] | None = None,
        *,
        pairs: looked.Pairs | None = None,
        in_parts: bool = False,
    ) -> None:
        """`beside`: the candidates that count, where an op is about these only; else all of them.

        `in_parts`: many are asked for, a few at a time; what was found is kept when `keep` is called.
        """
        self.memory = memory
        self.kept = Kept(memory.snapshot.layout, memory.snapshot.ledger.head)
        self._beside = beside
        self._pairs = pairs or looked.Pairs(memory.snapshot.layout)
        self._in_parts = in_parts
        self._changed = False

    @property
    def missing(self) -> str | None:
        """What is missing for finding all that is near, in one line."""
        return self._shelf.missing or self._inbox.missing

    def of_each(
        self, wanted: Sequence[Entry], kinds: Collection[str] | None = None
    ) -> list[tuple[Conflict, ...]]:
        """For each of the wanted, the gravest first. `kinds`: of entry, where no other matters."""
        if self._beside is not None or kinds is not None:
            return self._found(wanted, kinds)
        known = self._known
        unknown = [entry for entry in wanted if entry.id not in known]
        if unknown:
            known.update(zip((entry.id for entry in unknown), self._found(unknown), strict=True))
            self._changed = True
        if not self._in_parts:
            self.keep()
        return [known[entry.id] for entry in wanted]

    def keep(self) -> None:
        """For the next time the same is asked, and for the badge."""
        snapshot, known = self.memory.snapshot, self._known
        if self._changed:
            self._pairs.save(snapshot)
            looked.save(snapshot, self._mark, known)
            self._changed = False
        partners = {id_: [conflict.id for conflict in found] for id_, found in known.items()}
        badges.keep_contested(snapshot.layout, partners)

    def of(self, entry: Entry) -> tuple[Conflict, ...]:
        return self.of_each([entry])[0]

    def _found(
        self, wanted: Sequence[Entry], kinds: Collection[str] | None = None
    ) -> list[tuple[Conflict, ...]]:
        texts = [text_of(entry) for entry in wanted]
        compare_each = self._pairs.comparing(texts)
        near = zip(texts, self._shelf.of_each(texts), self._inbox.of_each(texts), strict=True)
        found = []
        with uncollected():
            for text, shelf, inbox in near:
                others = [one for one in (*shelf, *inbox) if kinds is None or one.type in kinds]
                found.append(tuple(find(text, others, compare_each)))
        if self._beside is None and kinds is not None:
            self._pairs.save(self.memory.snapshot)
        return found

    @cached_property
    def _mark(self) -> str:
        return looked.mark(self.memory.snapshot)

    @cached_property
    def _known(self) -> dict[str, tuple[Conflict, ...]]:
        return looked.load(self.memory.snapshot.layout, self._mark)

    @cached_property
    def _shelf(self) -> Neighbours:
        in_force = [entry for entry in self.memory.shelf if entry.head.status == "accepted"]
        return Neighbours([text_of(entry) for entry in in_force], self.kept, "shelf")

    @cached_property
    def _inbox(self) -> Neighbours:
        counting = self.memory.inbox if self._beside is None else self._beside
        return Neighbours([text_of(entry) for entry in counting], self.kept, "inbox")


def deciding(memory: Memory) -> ConflictsOf:
    """What candidates conflict with that are decided about together: the shelf, and one another."""
    return lambda entries, kinds: Conflicts(memory, entries).of_each(entries, kinds)


class Alike(msgspec.Struct, frozen=True):
    """Candidates that say the same as those that are decided about."""

    same: tuple[str, ...]
    """One decision does for them too: of the same kind, for the same places, without links of their own."""
    other: tuple[str, ...]


def alike(memory: Memory, wanted: Sequence[str]) -> Alike:
    named = {entry.id: entry for entry in map(memory.get, wanted)}
    candidates = {entry.id: entry for entry in memory.inbox if entry.id not in named}
    same: dict[str, None] = {}
    other: dict[str, None] = {}
    for entry, conflicts in zip(named.values(), Conflicts(memory).of_each([*named.values()]), strict=True):
        said = entry.statement
        ids = [id_ for id_, candidate in candidates.items() if candidate.statement == said]
        ids += [conflict.id for conflict in conflicts if conflict.kind == "duplicate"]
        for candidate in (candidates[id_] for id_ in ids if id_ in candidates):
            (same if _decided_with(entry, candidate) else other)[candidate.id] = None
    return Alike(tuple(same), tuple(id_ for id_ in other if id_ not in same))


def _decided_with(entry: Entry, candidate: Entry) -> bool:
    one, two = entry.head, candidate.head
    return (one.type, sorted(one.scope)) == (two.type, sorted(two.scope)) and not two.supersedes


def gate_context(memory: Memory, today: date) -> Context:
    """What a new proposal is held against."""
    return gate.context(memory, today, _actions(memory), tombstones.kept(memory.snapshot))


def _actions(memory: Memory) -> dict[str, Action]:
    return msgspec.structs.asdict(memory.snapshot.settings.gate)


class Reviewer:
    """Looks at candidates as things are at one moment."""

    def __init__(
        self, memory: Memory, today: date, *, pairs: looked.Pairs | None = None, in_parts: bool = False
    ) -> None:
        """`pairs`: what was compared before; `in_parts`: see `Conflicts`."""
        self.memory = memory
        self.conflicts = Conflicts(memory, pairs=pairs, in_parts=in_parts)
        # Of what was approved since, the conflicts speak; the rest of the gate looks again.
        self._rejected = tombstones.kept(memory.snapshot, self.conflicts.kept)
        self._context = gate.context(memory, today, {**_actions(memory), "known": "off"}, self._rejected)
        self._places = {id_: place for place, id_ in enumerate(memory.inbox_ids)}

    def look(self, wanted: Sequence[str] = ()) -> list[Reviewed]:
        """The named candidates; none named: all, in the order of the file."""
        entries = [self.memory.get(name) for name in wanted] if wanted else self.memory.inbox
        found = self.conflicts.of_each(entries)
        self._rejected.look_up([text_of(entry) for entry in entries])
        return [self._reviewed(entry, conflicts) for entry, conflicts in zip(entries, found, strict=True)]

    def earlier(self, entry: Entry) -> gate_answers.Earlier | None:
        """A rejection that a candidate says again, or nearly."""
        found = self._rejected.find(entry.statement, scope=entry.head.scope, besides=entry.id)
        return gate_answers.shown_earlier(found.rejection) if found else None

    @property
    def context(self) -> Context:
        return self._context

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
