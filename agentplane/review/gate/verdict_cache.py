"""Cached verdicts of the gate about candidates, with a hash of the checked content as key."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import date

import msgspec

from agentplane.lazy import cached_property
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.settings import Action
from agentplane.review.conflicts.conflicts import text_of
from agentplane.review.conflicts.result_cache import CachedVerdict, ResultCache, meeting
from agentplane.review.gate import evidence_lookup, gate, past_rejections, verbatim
from agentplane.review.gate.gate import DEFAULTS, Context
from agentplane.review.gate.past_rejections import Tombstones
from agentplane.review.gate.verdicts import Flag, Verdict


class Gate:
    """The gate with cached verdicts. It checks a candidate again only if the checked content has changed."""

    def __init__(self, memory: Memory, context: Context, cache: ResultCache) -> None:
        self._memory = memory
        self._context = context
        self._cache = cache

    def look_up(self, entries: Sequence[Entry]) -> None:
        """Prepare the checks of many candidates at once."""
        results = self._cache.results
        self.drop_outdated()
        new = [entry for entry in entries if entry.id not in results or not results[entry.id].verdict]
        if self._rejected and new:
            self._rejected.look_up([text_of(entry) for entry in new])

    def cached_flags(self, entry: Entry) -> tuple[Flag, ...]:
        """Return the flags of the last check, plus the current repeats of instruction files."""
        result = self._cache.results.get(entry.id)
        return self._all_flags(entry, result.verdict) if result and result.verdict else ()

    def knows(self, entry: Entry) -> bool:
        """True if a verdict about the candidate with exactly these bytes is cached."""
        result = self._cache.results.get(entry.id)
        return result is not None and result.verdict is not None and result.verdict.digest == entry.digest

    def cached_own_flags(self, entry: Entry) -> tuple[Flag, ...] | None:
        """Return the cached flags of this text under these settings, without repeats, or None if it wasn't checked."""
        result = self._cache.results.get(entry.id)
        verdict = result.verdict if result else None
        if verdict is None or verdict.mark != self._mark(entry):
            return None
        return (*verdict.refused, *verdict.flags)

    def of(self, entry: Entry) -> tuple[Flag, ...]:
        """Return the current flags of a candidate."""
        result = self._cache.results.get(entry.id)
        verdict = result.verdict if result else None
        mark = self._mark(entry)
        if verdict is None or verdict.mark != mark:
            verdict = self._checked(entry, mark)
            self._cache.set_verdict(entry.id, verdict)
        return self._all_flags(entry, verdict)

    def _all_flags(self, entry: Entry, verdict: CachedVerdict) -> tuple[Flag, ...]:
        refused, flags = self._restated(entry)
        first = (*verdict.refused, *refused, *verdict.repeat_refused)
        return (*first, *verdict.flags, *flags, *verdict.repeat_flags)

    def _checked(self, entry: Entry, mark: bytes) -> CachedVerdict:
        proposal = gate.proposal_of(entry)
        context_without_repeats = msgspec.structs.replace(self._context, instructions={}, tombstones=None)
        verdict = gate.check_again(entry, context_without_repeats)
        repeat = None
        repeat_verdict = Verdict()
        if self._rejected and self._context.looks_for("repeat"):
            text = proposal.statement
            repeat = self._rejected.find(text, scope=proposal.scope, ignoring=entry.id)
            only = self._only("repeat", tombstones=self._rejected, candidate=entry.id)
            repeat_verdict = gate.check(proposal, only) if repeat else repeat_verdict
        return CachedVerdict(
            mark,
            entry.digest,
            verdict.refused,
            verdict.flags,
            past_rejections.name_of(repeat),
            repeat_verdict.refused,
            repeat_verdict.flags,
        )

    def _mark(self, entry: Entry) -> bytes:
        """Return a hash of the content that the gate checks, except past rejections and instruction files."""
        context = self._context
        digest = hashlib.blake2b(self._settings, digest_size=16)
        digest.update(f"{entry.digest} {entry.label} ".encode(errors="surrogateescape"))
        if entry.head.expires_at:
            digest.update(f"{context.today} ".encode())
        if context.project is not None and entry.head.evidence and context.looks_for("gone", "outside"):
            digest.update(msgspec.msgpack.encode(evidence_lookup.lacks(entry.head.evidence, context.project)))
        return digest.digest()

    @cached_property
    def _settings(self) -> bytes:
        return msgspec.json.encode(self._context.actions, order="sorted")

    def _restated(self, entry: Entry) -> tuple[tuple[Flag, ...], tuple[Flag, ...]]:
        context = self._context
        if not context.instructions or not context.looks_for("restated"):
            return (), ()
        if not verbatim.in_instructions(gate.proposal_of(entry).statement, context.instructions):
            return (), ()
        verdict = gate.check(
            gate.proposal_of(entry), self._only("restated", instructions=context.instructions)
        )
        return verdict.refused, verdict.flags

    def _only(self, code: str, **more: object) -> Context:
        """Return a context in which the gate looks only for this code."""
        off: dict[str, Action] = dict.fromkeys(DEFAULTS, "off")
        actions = {**off, code: self._context.action(code)}
        return Context(today=self._context.today, actions=actions, **more)  # type: ignore[arg-type]

    @property
    def _rejected(self) -> Tombstones | None:
        return self._context.tombstones

    def drop_outdated(self, most: int | None = None) -> bool:
        """Forget the verdicts about repeats if the rejections have changed.

        Return False, and forget nothing, if finding out takes more than `most` comparisons.
        """
        rejected = self._rejected
        if rejected is None:
            return True

        def related_to(ids: list[str], names: list[str]) -> set[str]:
            entries = self._memory.entries
            candidates = [entries[id_] for id_ in ids if id_ in entries]
            new = rejected.only(names)
            found = {one.id for one in candidates if new.find(one.statement, scope=one.head.scope)}
            return found | meeting(new.texts, [text_of(one) for one in candidates])

        return self._cache.forget_repeats(rejected.names, related_to, most)


def cached_high(memory: Memory) -> Callable[[Entry], tuple[Flag, ...]]:
    """Return a function for the high-severity flags of a candidate. It asks the gate only about new texts."""
    cache = ResultCache(memory.snapshot.layout)
    cache.load()
    actions = msgspec.structs.asdict(memory.snapshot.settings.gate)
    # The inbox is checked with the same settings, so the marks are the same.
    asked = Context(
        today=date.min, actions={**actions, "known": "off"}, project=memory.snapshot.layout.project
    )
    gate_cache = Gate(memory, asked, cache)

    def high(entry: Entry) -> tuple[Flag, ...]:
        found = gate_cache.cached_own_flags(entry) if not entry.head.expires_at else None
        flags = gate.high_flags(entry, actions) if found is None else found
        return tuple(flag for flag in flags if flag.high)

    return high
