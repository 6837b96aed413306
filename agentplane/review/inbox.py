"""The inbox as a reviewer sees it: each candidate with what it conflicts with and what is to be said of it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property

import msgspec

from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.derived import badge_counts, server_memory
from agentplane.plane.settings import Action
from agentplane.review import inbox_flags
from agentplane.review.conflicts import result_cache
from agentplane.review.conflicts.conflicts import Conflict, Text, find, text_of
from agentplane.review.conflicts.resolve import ConflictsOf
from agentplane.review.conflicts.shortlist import FEW, Kept, Neighbours, Reach
from agentplane.review.gate import gate, past_rejections, verdict_cache, verdicts
from agentplane.review.gate.gate import Context
from agentplane.review.gate.verdicts import Flag
from agentplane.text.gc_pause import uncollected


class Reviewed(msgspec.Struct, frozen=True):
    """A candidate as things are now."""

    entry: Entry
    conflicts: tuple[Conflict, ...]
    """The conflicts to show, the most serious first. Only those with `blocks` prevent an approval."""
    flags: tuple[str, ...]
    age: int | None
    """In days."""
    because: str
    """Who proposed it, and from which run."""
    like: str | None
    """An earlier candidate that says the same: one decision for both."""

    near: tuple[Conflict, ...] = ()
    """Entries about the same things, the nearest first. Only the details show them."""
    checked: bool = True
    """False: not all of it was looked at as things are now."""
    noticed: tuple[Flag, ...] = ()
    """The flags that the gate raised, with code and severity."""

    @property
    def contested(self) -> bool:
        """Whether a person must choose between it and an entry or another candidate."""
        return any(conflict.needs_choice for conflict in self.conflicts)

    @property
    def clean(self) -> bool:
        """True if it can be approved together with other clean candidates. Advice doesn't prevent that."""
        return self.checked and not self.contested and not self.flags

    @property
    def high(self) -> tuple[Flag, ...]:
        """The flags that a person must confirm individually."""
        return tuple(flag for flag in self.noticed if flag.high)


AT_ONCE = 100
"""So many candidates are looked at before anybody is answered; more are looked at behind their back."""
MOST_PAIRS = 5_000
"""So many pairs may be compared to tell what a change has touched, before anybody is answered."""
_FRESH = 500
"""Of so many, what the gate looks up outside of the plane is looked up each time; of more, what was found last counts."""
_MOST_NEAR = 3
_FEW = 50
"""Of so few, what was found before is not read: comparing them takes less."""


class Conflicts:
    """What candidates conflict with: the shelf as far as it is in force, and the rest of the inbox."""

    def __init__(
        self,
        memory: Memory,
        beside: Sequence[Entry] | None = None,
        *,
        looks: result_cache.Looks | None = None,
        in_parts: bool = False,
    ) -> None:
        """`beside`: the candidates that count, where an op is about these only; else all of them.

        `in_parts`: many are asked for, a few at a time; what was found is kept when `keep` is called.
        """
        self.memory = memory
        self.kept = Kept(memory.snapshot.layout, memory.snapshot.ledger.head)
        self._beside = beside
        self._looks = looks
        self._in_parts = in_parts
        self._brought = False

    @property
    def missing(self) -> str | None:
        """What is missing for finding all that is near, in one line."""
        return self._sides.shelf.missing or self._sides.inbox.missing

    @cached_property
    def looks(self) -> result_cache.Looks:
        return self._looks or result_cache.of(self.memory.snapshot.layout)

    def of_each(
        self, wanted: Sequence[Entry], kinds: Collection[str] | None = None
    ) -> list[tuple[Conflict, ...]]:
        """For each of the wanted, the gravest first. `kinds`: of entry, where no other matters."""
        if self._beside is not None or kinds is not None:
            return self._some(wanted, kinds)
        if not self.bring(None if self._in_parts or len(wanted) > AT_ONCE else MOST_PAIRS):
            return [tuple(found) for _, found, _ in self._compared([text_of(one) for one in wanted])]
        unknown = [text_of(entry) for entry in wanted if entry.id not in self.looks.seen]
        for text, (others, found, reaches) in zip(unknown, self._compared(unknown), strict=True):
            self.looks.add(text, others, tuple(found), reaches)
        self.keep_if_whole()
        return [self.looks.seen[entry.id].found for entry in wanted]

    def known(self) -> dict[str, tuple[Conflict, ...]]:
        """What was found about candidates as things are now, as far as that can be told at once."""
        brought = self.bring(MOST_PAIRS)
        return {id_: seen.found for id_, seen in self.looks.seen.items()} if brought else {}

    def bring(self, most: int | None = None) -> bool:
        """Drops what does not hold any more. `most`: False where that takes more comparisons."""
        self._brought = self._brought or self.looks.bring(self._sides, most)
        return self._brought

    def keep_if_whole(self) -> None:
        """Keeps what was found, unless it is asked for in parts."""
        if not self._in_parts:
            self.keep()

    def keep(self) -> None:
        """For the next time the same is asked, and for the badge."""
        snapshot = self.memory.snapshot
        self.looks.save(snapshot)
        if self._brought:
            partners = {
                id_: [conflict.id for conflict in seen.found if conflict.needs_choice]
                for id_, seen in self.looks.seen.items()
            }
            badge_counts.keep_contested(snapshot.layout, partners)

    def of(self, entry: Entry) -> tuple[Conflict, ...]:
        return self.of_each([entry])[0]

    def _some(self, wanted: Sequence[Entry], kinds: Collection[str] | None) -> list[tuple[Conflict, ...]]:
        """What an op must know. What was found before is used, and nothing is added to it."""
        texts = [text_of(entry) for entry in wanted]
        shelves, inboxes = self._compared_with(texts, kinds)
        if not any(shelves) and not any(inboxes):
            return [()] * len(wanted)
        how = self.looks.comparing(texts) if self._looks or len(texts) > _FEW else None
        with uncollected():
            return [
                tuple(find(text, [*shelf, *inbox], how))
                for text, shelf, inbox in zip(texts, shelves, inboxes, strict=True)
            ]

    def _compared_with(
        self, texts: Sequence[Text], kinds: Collection[str] | None
    ) -> tuple[list[list[Text]], list[list[Text]]]:
        """Return the texts to compare with each text, on the shelf and in the inbox.

        If only some kinds count and their entries are few, all of them are compared. Ranking a large shelf would take
        far longer.
        """

        def of_side(side: int, entries: Iterable[Entry]) -> list[list[Text]]:
            if kinds is None:
                return self._sides.both[side].of_each(texts)
            few = [text_of(entry) for entry in entries if entry.head.type in kinds]
            if len(few) <= FEW:
                return [few] * len(texts)
            each = self._sides.both[side].of_each(texts)
            return [[one for one in near if one.type in kinds] for near in each]

        accepted = (entry for entry in self.memory.shelf_in_order if entry.head.status == "accepted")
        return of_side(0, accepted), of_side(1, self._counting)

    def _compared(
        self, texts: Sequence[Text]
    ) -> Iterator[tuple[tuple[list[Text], list[Text]], list[Conflict], tuple[Reach | None, Reach | None]]]:
        """For each text, what it was compared with, what was found, and how near others had to be."""
        if not texts:
            return
        how = self.looks.comparing(texts)
        sides = [self._near(texts, side, near) for side, near in enumerate(self._sides.both)]
        with uncollected():
            for text, (shelf, one), (inbox, other) in zip(texts, *sides, strict=True):
                yield (shelf, inbox), find(text, [*shelf, *inbox], how), (one, other)

    def _near(
        self, texts: Sequence[Text], side: int, near: Neighbours
    ) -> list[tuple[list[Text], Reach | None]]:
        """What each text is compared with on one side: as before, where nothing has touched that."""
        kept = [self.looks.near(text, side) for text in texts]
        found = iter(near.reached_each([text for text, one in zip(texts, kept, strict=True) if one is None]))
        return [one or next(found) for one in kept]

    @cached_property
    def _sides(self) -> result_cache.Sides:
        name = "inbox" if self._beside is None else None
        return result_cache.Sides(
            in_force(self.memory, self.kept),
            Neighbours([text_of(entry) for entry in self._counting], self.kept, name),
        )

    @property
    def _counting(self) -> Sequence[Entry]:
        """The candidates that count."""
        return self.memory.inbox if self._beside is None else self._beside


def in_force(memory: Memory, kept: Kept) -> Neighbours:
    """Return the entries of the shelf that count. The object stays the same until the shelf changes."""
    entries = memory.shelf_in_order

    def made() -> Neighbours:
        # Of an entry no claims are read, so its body is not kept a second time.
        texts = [_without_body(text_of(one)) for one in entries if one.head.status == "accepted"]
        return Neighbours(texts, kept, "shelf")

    return server_memory.once(memory.snapshot.layout, "in force", (entries,), made).at(kept)


def _without_body(text: Text) -> Text:
    return msgspec.structs.replace(text, body="")


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
    return gate.context(memory, today, _actions(memory), past_rejections.kept(memory.snapshot))


def same_for_gate(before: Memory, after: Memory) -> bool:
    """True if only proposals were added in between, so that the gate would look at the same rejections and settings."""
    old, new = before.snapshot, after.snapshot
    count = len(old.ledger.ops)
    added = new.ledger.ops[count:]
    return (
        old.settings == new.settings
        and old.ledger.ops[-1:] == new.ledger.ops[:count][-1:]
        and all(note.verb == "propose" for note in added)
    )


def _actions(memory: Memory) -> dict[str, Action]:
    return msgspec.structs.asdict(memory.snapshot.settings.gate)


class Reviewer:
    """Looks at candidates as things are at one moment."""

    def __init__(
        self,
        memory: Memory,
        today: date,
        *,
        looks: result_cache.Looks | None = None,
        in_parts: bool = False,
        judged: Context | None = None,
    ) -> None:
        """`looks` are the earlier results. For `in_parts`, see `Conflicts`. `judged` is the context that a new candidate
        was held against, if the same rejections and settings are in force in `memory`.
        """
        self.memory = memory
        self.conflicts = Conflicts(memory, looks=looks, in_parts=in_parts)
        # Of what was approved since, the conflicts speak; the rest of the gate looks again.
        actions: dict[str, Action] = {**_actions(memory), "known": "off"}
        rejected = judged.tombstones if judged else None
        self._rejected = rejected or past_rejections.kept(memory.snapshot, self.conflicts.kept)
        self._context = (
            msgspec.structs.replace(judged, actions=actions, shelf=(), words=None, tombstones=self._rejected)
            if judged
            else gate.context(memory, today, actions, self._rejected)
        )
        self._gate = verdict_cache.Gate(memory, self._context, self.conflicts.looks)
        self._places = {id_: place for place, id_ in enumerate(memory.inbox_ids)}

    def look(self, wanted: Sequence[str] = ()) -> list[Reviewed]:
        """The named candidates; none named: all, in the order of the file."""
        entries = [self.memory.get(name) for name in wanted] if wanted else self.memory.inbox
        return self._look(entries)

    def first_answer(self) -> list[Reviewed]:
        """All candidates, with what can be told of them at once; where much is to be looked at, it is left out."""
        if len(self.memory.inbox) <= _FRESH:
            if len(self.unchecked()) <= AT_ONCE:
                return self.look()
        elif 0 < len(left := self.unchecked()) <= AT_ONCE:
            self._look([entry for entry in self.memory.inbox if entry.id in left])
        return self._known()

    def _known(self) -> list[Reviewed]:
        unchecked = self.unchecked()
        seen = self.conflicts.looks.seen
        return [
            self._reviewed(
                entry, seen[entry.id].found if entry.id in seen else (), known=entry.id not in unchecked
            )
            for entry in self.memory.inbox
        ]

    def unchecked(self) -> frozenset[str]:
        """The candidates of which not all is known as things are now, as far as that can be told at once."""
        return self._unknown(MOST_PAIRS)

    def touched(self) -> frozenset[str]:
        """The same, however long it takes to tell."""
        return self._unknown(None)

    def _unknown(self, most: int | None) -> frozenset[str]:
        brought = self.conflicts.bring(most) and self._gate.bring(most)
        return frozenset(entry.id for entry in self.memory.inbox if not (brought and self._gate.knows(entry)))

    def _look(self, entries: Sequence[Entry]) -> list[Reviewed]:
        found = self.conflicts.of_each(entries)
        self._gate.look_up(entries)
        reviewed = [self._reviewed(entry, met) for entry, met in zip(entries, found, strict=True)]
        self.conflicts.keep_if_whole()
        return reviewed

    def earlier(self, entry: Entry) -> verdicts.Earlier | None:
        """A rejection that a candidate says again, or nearly."""
        found = self._rejected.find(entry.statement, scope=entry.head.scope, besides=entry.id)
        return verdicts.shown_earlier(found.rejection) if found else None

    @property
    def context(self) -> Context:
        return self._context

    @cached_property
    def _edits(self) -> dict[str, list[str]]:
        """How candidates were edited by hand, by id."""
        found: dict[str, list[str]] = {}
        for edit in self.memory.hand_edits:
            found.setdefault(edit.id, []).append(edit.change)
        return found

    def _reviewed(
        self, entry: Entry, conflicts: Sequence[Conflict], *, known: bool | None = None
    ) -> Reviewed:
        """`known`: whether all of it is; None: to be found now."""
        said = self._gate.of(entry) if known is None else self._gate.kept(entry)
        return Reviewed(
            entry=entry,
            conflicts=tuple(conflict for conflict in conflicts if not conflict.is_quiet),
            flags=(
                *inbox_flags.standing(self.memory, entry, self._context, self._edits),
                *(flag.said for flag in said),
            ),
            age=inbox_flags.age_in_days(entry, self._context.today),
            because=inbox_flags.provenance(entry),
            like=self._earlier_like(entry, conflicts),
            near=tuple(conflict for conflict in conflicts if conflict.is_quiet)[:_MOST_NEAR],
            checked=known is not False,
            noticed=said,
        )

    def _earlier_like(self, entry: Entry, conflicts: Sequence[Conflict]) -> str | None:
        places = self._places
        own = places.get(entry.id, len(places))
        same = [c.id for c in conflicts if c.kind == "duplicate" and places.get(c.id, own) < own]
        return min(same, key=places.__getitem__, default=None)
