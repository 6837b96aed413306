"""The conflicts of candidates with entries in force and with each other."""

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from agentplane.lazy import cached_property
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.derived import badge_counts, server_memory
from agentplane.review.conflicts import result_cache
from agentplane.review.conflicts.conflicts import Conflict, Text, find, text_of
from agentplane.review.conflicts.embeddings import VectorCache
from agentplane.review.conflicts.resolve import ConflictsOf
from agentplane.review.conflicts.shortlist import FEW, Neighbours, Reach
from agentplane.text.gc_pause import uncollected


AT_ONCE = 100
"""Maximum number of candidates to check before answering. More candidates are checked in the background."""
MOST_PAIRS = 5_000
"""Maximum number of pairs to compare before answering, to find out which candidates a change affects."""
_FEW = 50
"""Up to this number of texts, earlier results aren't read, because comparing the texts takes less time."""


class Conflicts:
    """Conflicts of candidates with entries in force and with the other candidates."""

    def __init__(
        self,
        memory: Memory,
        among: Sequence[Entry] | None = None,
        *,
        cache: result_cache.ResultCache | None = None,
        in_parts: bool = False,
    ) -> None:
        """`among` are the candidates that count if an operation is only about these. Otherwise, all of them
        count.

        With `in_parts`, the caller asks for many candidates in small groups, and `save` writes the results.
        """
        self.memory = memory
        self.vector_cache = VectorCache(memory.snapshot.layout, memory.snapshot.ledger.head)
        self._among = among
        self._cache = cache
        self._in_parts = in_parts
        self._is_current = False

    @property
    def missing(self) -> str | None:
        """One line about missing packages for finding neighbors, or None."""
        return self._sides.shelf.missing or self._sides.inbox.missing

    @cached_property
    def cache(self) -> result_cache.ResultCache:
        return self._cache or result_cache.of(self.memory.snapshot.layout)

    def of_each(
        self, wanted: Sequence[Entry], kinds: Collection[str] | None = None
    ) -> list[tuple[Conflict, ...]]:
        """Return the conflicts of each candidate, the most serious first. `kinds` limits the kinds
        of entry.
        """
        if self._among is not None or kinds is not None:
            return self._for_operation(wanted, kinds)
        if not self.drop_outdated(None if self._in_parts or len(wanted) > AT_ONCE else MOST_PAIRS):
            return [tuple(conflicts) for _, conflicts, _ in self._compared([text_of(one) for one in wanted])]
        unknown = [text_of(entry) for entry in wanted if entry.id not in self.cache.results]
        for text, (others, conflicts, reaches) in zip(unknown, self._compared(unknown), strict=True):
            self.cache.add(text, others, tuple(conflicts), reaches)
        self.save_if_whole()
        return [self.cache.results[entry.id].conflicts for entry in wanted]

    def known(self) -> dict[str, tuple[Conflict, ...]]:
        """Return the current conflicts of candidates by id, or nothing if finding out takes too long."""
        is_current = self.drop_outdated(MOST_PAIRS)
        return {id_: result.conflicts for id_, result in self.cache.results.items()} if is_current else {}

    def drop_outdated(self, most: int | None = None) -> bool:
        """Drop outdated results. Return False if that takes more than `most` comparisons."""
        self._is_current = self._is_current or self.cache.drop_outdated(self._sides, most)
        return self._is_current

    def save_if_whole(self) -> None:
        """Save the results, unless the caller asks in parts."""
        if not self._in_parts:
            self.save()

    def save(self) -> None:
        """Save the results for the next time, and for the badge."""
        snapshot = self.memory.snapshot
        self.cache.save(snapshot)
        if self._is_current:
            partners = {
                id_: [conflict.id for conflict in result.conflicts if conflict.needs_choice]
                for id_, result in self.cache.results.items()
            }
            badge_counts.keep_contested(snapshot.layout, partners)

    def of(self, entry: Entry) -> tuple[Conflict, ...]:
        return self.of_each([entry])[0]

    def _for_operation(
        self, wanted: Sequence[Entry], kinds: Collection[str] | None
    ) -> list[tuple[Conflict, ...]]:
        """Return the conflicts for an operation. Earlier results are used, and no new ones are saved."""
        texts = [text_of(entry) for entry in wanted]
        shelves, inboxes = self._compared_with(texts, kinds)
        if not any(shelves) and not any(inboxes):
            return [()] * len(wanted)
        compare = self.cache.comparing(texts) if self._cache or len(texts) > _FEW else None
        with uncollected():
            return [
                tuple(find(text, [*shelf, *inbox], compare))
                for text, shelf, inbox in zip(texts, shelves, inboxes, strict=True)
            ]

    def _compared_with(
        self, texts: Sequence[Text], kinds: Collection[str] | None
    ) -> tuple[list[list[Text]], list[list[Text]]]:
        """Return the texts to compare with each text, in memory and in the inbox.

        If only some kinds count and their entries are few, all of them are compared. Ranking a large memory
        would take far longer.
        """

        def of_side(side: int, entries: Iterable[Entry]) -> list[list[Text]]:
            if kinds is None:
                return self._sides.both[side].of_each(texts)
            of_kinds = [text_of(entry) for entry in entries if entry.head.type in kinds]
            if len(of_kinds) <= FEW:
                return [of_kinds] * len(texts)
            each = self._sides.both[side].of_each(texts)
            return [[one for one in near if one.type in kinds] for near in each]

        accepted = (entry for entry in self.memory.shelf_in_order if entry.head.status == "accepted")
        return of_side(0, accepted), of_side(1, self._others)

    def _compared(
        self, texts: Sequence[Text]
    ) -> Iterator[tuple[tuple[list[Text], list[Text]], list[Conflict], tuple[Reach | None, Reach | None]]]:
        """Yield for each text the compared texts, the conflicts, and the reach on both sides."""
        if not texts:
            return
        compare = self.cache.comparing(texts)
        sides = [self._near(texts, side, near) for side, near in enumerate(self._sides.both)]
        with uncollected():
            for text, (shelf, one), (inbox, other) in zip(texts, *sides, strict=True):
                yield (shelf, inbox), find(text, [*shelf, *inbox], compare), (one, other)

    def _near(
        self, texts: Sequence[Text], side: int, near: Neighbours
    ) -> list[tuple[list[Text], Reach | None]]:
        """Return the texts to compare with each text on one side. Unaffected earlier results are
        used again.
        """
        cached = [self.cache.near(text, side) for text in texts]
        found = iter(
            near.reached_each(
                [text for text, texts_and_reach in zip(texts, cached, strict=True) if texts_and_reach is None]
            )
        )
        return [texts_and_reach or next(found) for texts_and_reach in cached]

    @cached_property
    def _sides(self) -> result_cache.Sides:
        name = "inbox" if self._among is None else None
        return result_cache.Sides(
            in_force(self.memory, self.vector_cache),
            Neighbours([text_of(entry) for entry in self._others], self.vector_cache, name),
        )

    @property
    def _others(self) -> Sequence[Entry]:
        """The candidates that count."""
        return self.memory.inbox if self._among is None else self._among


def in_force(memory: Memory, vector_cache: VectorCache) -> Neighbours:
    """Return the accepted entries. The object stays the same until memory changes."""
    entries = memory.shelf_in_order

    def build() -> Neighbours:
        # The body of an entry isn't searched for claims, so it isn't stored a second time.
        texts = [_without_body(text_of(one)) for one in entries if one.head.status == "accepted"]
        return Neighbours(texts, vector_cache, "shelf")

    return server_memory.once(memory.snapshot.layout, "in force", (entries,), build).at_head(vector_cache)


def _without_body(text: Text) -> Text:
    return msgspec.structs.replace(text, body="")


def deciding(memory: Memory) -> ConflictsOf:
    """Return a function for the conflicts of candidates with entries in force and with each other."""
    return lambda entries, kinds: Conflicts(memory, entries).of_each(entries, kinds)


def alike(memory: Memory, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the other candidates that a decision covers too, because they say the same thing.

    They have the same kind and scope, and supersede nothing.
    """
    named = {entry.id: entry for entry in map(memory.get, wanted)}
    candidates = {entry.id: entry for entry in memory.inbox if entry.id not in named}
    found: dict[str, None] = {}
    for entry, conflicts in zip(named.values(), Conflicts(memory).of_each([*named.values()]), strict=True):
        statement = entry.statement
        ids = [id_ for id_, candidate in candidates.items() if candidate.statement == statement]
        ids += [conflict.id for conflict in conflicts if conflict.kind == "duplicate"]
        found |= {id_: None for id_ in ids if id_ in candidates and _decided_with(entry, candidates[id_])}
    return tuple(found)


def _decided_with(entry: Entry, candidate: Entry) -> bool:
    one, two = entry.head, candidate.head
    return (one.type, sorted(one.scope)) == (two.type, sorted(two.scope)) and not two.supersedes
