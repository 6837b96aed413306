"""The inbox for reviewers, with the conflicts and flags of each candidate."""

import time
from collections.abc import Sequence
from datetime import date
from typing import Literal

import msgspec

from agentplane.lazy import cached_property
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.settings import Action
from agentplane.review import inbox_conflicts, inbox_flags
from agentplane.review.conflicts import result_cache
from agentplane.review.conflicts.conflicts import Conflict
from agentplane.review.gate import gate, past_rejections, verdict_cache, verdicts
from agentplane.review.gate.gate import Context
from agentplane.review.gate.verdicts import Flag
from agentplane.review.inbox_conflicts import Conflicts


State = Literal["conflict", "flagged", "unchecked", "advice", "ready"]
"""What a candidate needs most. One with `advice` is ready too, and has something to read."""


class Reviewed(msgspec.Struct, frozen=True):
    """A candidate with its current conflicts and flags."""

    entry: Entry
    conflicts: tuple[Conflict, ...]
    """The conflicts to show, the most serious first. Only those with `blocks` prevent an approval."""
    flags: tuple[str, ...]
    age: int | None
    """Age in days."""
    because: str
    """The proposer and the run."""
    like: str | None
    """An earlier candidate that says the same, so that one decision covers both."""

    near: tuple[Conflict, ...] = ()
    """Entries about the same things, the nearest first. Only the details show them."""
    checked: bool = True
    """False if the checks aren't complete for the current memory."""
    noticed: tuple[Flag, ...] = ()
    """The flags that the gate raised, with code and severity."""

    @property
    def contested(self) -> bool:
        """True if a person must choose between it and an entry or another candidate."""
        return any(conflict.needs_choice for conflict in self.conflicts)

    @property
    def clean(self) -> bool:
        """True if it can be approved together with other clean candidates. Advice doesn't prevent that."""
        return self.state in ("advice", "ready")

    @property
    def state(self) -> State:
        """The state that lists show. A candidate with a conflict can also have flags or be unchecked."""
        if self.contested:
            return "conflict"
        if self.flags:
            return "flagged"
        if not self.checked:
            return "unchecked"
        return "advice" if self.conflicts else "ready"


_MOST_NEAR = 3
_SAVE_SECONDS = 5.0
_SAVE_SHARE = 20
"""Results are saved so rarely that saving takes at most one twentieth of the time."""
_FRESH = 500
"""Up to this number of candidates, the gate looks up files and commits each time. For more, its last result
counts.
"""


def gate_context(memory: Memory, today: date) -> Context:
    """Return the context that a new proposal is checked against."""
    return gate.context(memory, today, _actions(memory), past_rejections.tombstones(memory.snapshot))


def same_for_gate(before: Memory, after: Memory) -> bool:
    """True if only proposals were added in between, so that the gate would use the same rejections and
    settings.
    """
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
    """Reviews candidates against the memory of one moment."""

    def __init__(
        self,
        memory: Memory,
        today: date,
        *,
        cache: result_cache.ResultCache | None = None,
        in_parts: bool = False,
        judged: Context | None = None,
    ) -> None:
        """`cache` contains the earlier results. For `in_parts`, see `Conflicts`. `judged` is the context that a
        new candidate was checked against, if the same rejections and settings are in force in `memory`.
        """
        self.memory = memory
        self.conflicts = Conflicts(memory, cache=cache, in_parts=in_parts)
        # Conflicts already report entries that were approved since, so the gate doesn't look for `known`.
        actions: dict[str, Action] = {**_actions(memory), "known": "off"}
        rejected = judged.tombstones if judged else None
        self._rejected = rejected or past_rejections.tombstones(memory.snapshot, self.conflicts.vector_cache)
        self._context = (
            msgspec.structs.replace(judged, actions=actions, shelf=(), words=None, tombstones=self._rejected)
            if judged
            else gate.context(memory, today, actions, self._rejected)
        )
        self._gate = verdict_cache.Gate(memory, self._context, self.conflicts.cache)
        self._places = {id_: place for place, id_ in enumerate(memory.inbox_ids)}
        self._save_at = time.monotonic() + _SAVE_SECONDS

    def look(self, wanted: Sequence[str] = ()) -> list[Reviewed]:
        """Return the named candidates, or all of them in the order of the file if none is named."""
        entries = [self.memory.get(name) for name in wanted] if wanted else self.memory.inbox
        return self._look(entries)

    def first_answer(self) -> list[Reviewed]:
        """Return all candidates with the results that are available at once. Slow checks are left out."""
        if len(self.memory.inbox) <= _FRESH:
            if len(self.unchecked()) <= inbox_conflicts.AT_ONCE:
                return self.look()
        elif 0 < len(left := self.unchecked()) <= inbox_conflicts.AT_ONCE:
            self._look([entry for entry in self.memory.inbox if entry.id in left])
        return self._known()

    def _known(self) -> list[Reviewed]:
        unchecked = self.unchecked()
        results = self.conflicts.cache.results
        return [
            self._reviewed(
                entry,
                results[entry.id].conflicts if entry.id in results else (),
                known=entry.id not in unchecked,
            )
            for entry in self.memory.inbox
        ]

    def unchecked(self) -> frozenset[str]:
        """Return the candidates without complete current results, or all if finding out takes too long."""
        return self._unknown(inbox_conflicts.MOST_PAIRS)

    def touched(self) -> frozenset[str]:
        """Return the candidates without complete current results, however long finding out takes."""
        return self._unknown(None)

    def _unknown(self, most: int | None) -> frozenset[str]:
        is_current = self.conflicts.drop_outdated(most) and self._gate.drop_outdated(most)
        return frozenset(
            entry.id for entry in self.memory.inbox if not (is_current and self._gate.knows(entry))
        )

    def _look(self, entries: Sequence[Entry]) -> list[Reviewed]:
        conflicts = self.conflicts.of_each(entries)
        self._gate.look_up(entries)
        reviewed = [self._reviewed(entry, found) for entry, found in zip(entries, conflicts, strict=True)]
        self.conflicts.save_if_whole()
        return reviewed

    def save_now_and_then(self) -> None:
        """Save the results of the checks so far, unless the last save was only a moment ago."""
        if time.monotonic() >= self._save_at:
            self.save()

    def save(self) -> None:
        """Save the results of the checks, for the next time and for the badge."""
        began = time.monotonic()
        self.conflicts.save()
        now = time.monotonic()
        self._save_at = now + max(_SAVE_SECONDS, _SAVE_SHARE * (now - began))

    def earlier(self, entry: Entry) -> verdicts.Earlier | None:
        """Return the rejection that a candidate repeats, exactly or nearly, or None."""
        repeat = self._rejected.find(entry.statement, scope=entry.head.scope, ignoring=entry.id)
        return verdicts.shown_earlier(repeat.rejection) if repeat else None

    @cached_property
    def _edits(self) -> dict[str, list[str]]:
        """The manual edits of candidates by id."""
        found: dict[str, list[str]] = {}
        for edit in self.memory.hand_edits:
            found.setdefault(edit.id, []).append(edit.change)
        return found

    def _reviewed(
        self, entry: Entry, conflicts: Sequence[Conflict], *, known: bool | None = None
    ) -> Reviewed:
        """With `known` as None, the gate checks the candidate now. Otherwise, `known` is True if all results
        are available.
        """
        gate_flags = self._gate.of(entry) if known is None else self._gate.cached_flags(entry)
        return Reviewed(
            entry=entry,
            conflicts=tuple(conflict for conflict in conflicts if not conflict.is_quiet),
            flags=(
                *inbox_flags.own_flags(self.memory, entry, self._context, self._edits),
                *(flag.text for flag in gate_flags),
            ),
            age=inbox_flags.age_in_days(entry, self._context.today),
            because=inbox_flags.provenance(entry),
            like=self._earlier_like(entry, conflicts),
            near=tuple(conflict for conflict in conflicts if conflict.is_quiet)[:_MOST_NEAR],
            checked=known is not False,
            noticed=gate_flags,
        )

    def _earlier_like(self, entry: Entry, conflicts: Sequence[Conflict]) -> str | None:
        places = self._places
        own = places.get(entry.id, len(places))
        same = [c.id for c in conflicts if c.kind == "duplicate" and places.get(c.id, own) < own]
        return min(same, key=places.__getitem__, default=None)
