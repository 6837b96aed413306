"""One plane as a whole: how it stands, its history, and opening it."""

import os
import time
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentplane.api.tools import Tools
from agentplane.memory import expiry, ids
from agentplane.memory.entry import Entry
from agentplane.memory.kinds import kind_named
from agentplane.memory.shelf import Memory
from agentplane.plane import held, history, layout, lock, origin, prune, recover, trust_settings, undo
from agentplane.plane.badges import Badge
from agentplane.plane.history import OpView
from agentplane.plane.store import Clock, Done, Plan, Snapshot, Store, Token, random_token, utc_now
from agentplane.retrieval import traces
from agentplane.retrieval.scan import IN_FORCE, Result, Wanted, scan
from agentplane.review import delivery


# What does the work is loaded when it is asked for: looking at the shelf needs little of it.
if TYPE_CHECKING:
    from agentplane.plane.ssh_keygen import Verdict
    from agentplane.runs.guard import Checked


_LOOKS = 4
_LOOK_SECONDS = 0.05


class Status(msgspec.Struct, frozen=True):
    revision: str
    waiting: int
    conflicts: int
    hand_edits: int
    broken: int
    """Pieces of the files that cannot be read."""
    damaged: bool
    """The log and the files do not fit together; doctor says how."""
    weakened: list[str]
    """Trust settings that are weaker than their defaults."""
    next: str
    writing: bool = False
    """Another process is in the middle of a change. What it has committed counts already."""
    unchecked: int = 0
    """So many candidates were not checked for conflicts as things are now; `conflicts` counts the others."""
    expired: int = 0
    """Entries in force whose date is over: tools don't get them."""
    expiring: int = 0
    """Entries that expire within `warn_days`."""
    warn_days: int = 0


class Plane(Tools):
    """One plane. Every call reads what is on disk now; every change is one op."""

    def status(self) -> Status:
        memory = self.memory()
        writing = memory.snapshot.writing or lock.is_held(self.layout)
        damaged = not writing and self.is_damaged()
        # What a change that is not completed left in the files is nobody's edit.
        waiting, edits = len(memory.inbox), 0 if damaged else len(memory.hand_edits)
        conflicts, unchecked = self._contested(memory)
        dated = [told.state for told in self.expiring(memory).values()]
        return Status(
            revision=memory.snapshot.ledger.revision(),
            waiting=waiting,
            conflicts=conflicts,
            hand_edits=edits,
            broken=memory.broken,
            damaged=damaged,
            weakened=trust_settings.weakened(memory.snapshot.settings),
            next="agentplane doctor" if damaged else _next_step(memory),
            writing=writing,
            unchecked=unchecked,
            expired=dated.count("expired"),
            expiring=dated.count("soon"),
            warn_days=memory.snapshot.settings.expiry.warn_days,
        )

    def is_damaged(self) -> bool:
        """Whether something is left that opening the plane could not mend."""
        for _ in range(_LOOKS):
            if not recover.unfit(self.layout) or lock.is_held(self.layout):
                return False
            time.sleep(_LOOK_SECONDS)  # another process may be in the middle of an op
        return True

    def badge(self) -> Badge:
        """What waits, counted anew and kept for `agentplane badge`."""
        return self.keep_badge(self.memory())

    def recall(self, query: str, *, limit: int = 5, wanted: Wanted = IN_FORCE) -> list[Result]:
        """The trusted entries that are nearest to a query; unless asked for others, those in force.

        Entries that look like they contain a secret are withheld from everybody who asks. A query that is a task, a run or a
        path also finds its runs, the facts from them, and the files they produced.
        """
        memory = self.memory_for_tools()
        of_runs = wanted.tag is None and wanted.path is None and wanted.status == IN_FORCE.status
        if wanted.kind in (traces.RUN, traces.ARTIFACT):
            found = traces.find(self.layout, query, limit, tuple) if of_runs else traces.Found()
            return traces.joined(found, (), limit, wanted.kind)
        if wanted.kind is not None:
            wanted = msgspec.structs.replace(wanted, kind=kind_named(memory.kinds, wanted.kind).name)
        found = traces.find(self.layout, query, limit, lambda: self._recallable(memory, wanted))
        if not of_runs:
            found = traces.Found(found.entries)
        results = traces.joined(found, self._by_words(memory, wanted, query, limit), limit, wanted.kind)
        told = (memory.entries[result.id] for result in results if result.id in memory.entries)
        expired = expiry.of_each(told, self.today())
        return [msgspec.structs.replace(result, expired=result.id in expired) for result in results]

    def withheld(self) -> tuple[str, ...]:
        """Return the ids of entries in force that tools are not given, because they look like they contain a secret."""
        given = delivery.given(self.memory_for_tools())
        return tuple(entry.id for entry in given.withheld if entry.head.status == "accepted")

    def _recallable(self, memory: Memory, wanted: Wanted) -> list[Entry]:
        looked_at = [*memory.shelf, *(memory.inbox if wanted.unreviewed else ())]
        return _without_danger(memory, [entry for entry in looked_at if wanted.takes(entry)])

    def _by_words(self, memory: Memory, wanted: Wanted, query: str, limit: int) -> list[Result]:
        """What is nearest to the words of a query. A process that serves for long looks it up in an index."""
        if not held.is_on() or wanted.unreviewed:
            return scan(self._recallable(memory, wanted), query, limit)
        from agentplane.memory import lookup
        from agentplane.retrieval.indexed import look_up

        index, many = lookup.of_shelf(memory), limit
        while True:
            found = look_up(index, wanted, query, many)
            settings = memory.snapshot.settings
            kept = [one for one in found if delivery.may_be_delivered(memory.entries[one.id], settings)]
            if len(kept) >= limit or len(found) < many:
                return kept[:limit]
            many *= 2

    def undo(self, op: str | None = None) -> Done:
        return self._plain(partial(undo.plan_undo, actor=self.origin.actor, op=op))

    def redo(self) -> Done:
        return self._plain(partial(undo.plan_redo, actor=self.origin.actor))

    def ops(self, limit: int | None = None) -> list[OpView]:
        """The ops, newest first."""
        return history.ops(self.store.snapshot(), limit)

    def history(self, wanted: str) -> tuple[str, list[history.Step]]:
        """An entry's id, and what happened to it, oldest first, also under the ids that it had before."""
        memory = self.memory()
        id_ = ids.match(wanted, memory.snapshot.ledger.known.keys() | memory.ids_in_files)
        return id_, history.of(memory.snapshot, id_)

    def signed_by(self, ops: Collection[str]) -> "dict[str, Verdict]":
        """Return who signed each of these ops. An op that is not signed is left out."""
        from agentplane.plane import signatures

        return signatures.signers_of(self.layout, self.store.settings(), ops)

    def check(self, base: str) -> "Checked":
        """What is wrong with what the checkout does to the plane, compared with where it left the commit `base`."""
        from agentplane.runs import guard
        from agentplane.tools import guard_delivered

        return guard.check(self.layout, base, self.store.clock, (guard_delivered.findings,))

    def check_prune(self, needle: str) -> prune.Found:
        """Raises what `prune` would raise, says where the text stands, and changes nothing."""
        from agentplane.runs import pruned

        snapshot = self.store.snapshot()
        found = prune.search(snapshot, needle)
        prune.plan(found, pruned.elsewhere(self.layout, needle, pruned.search(self.layout, needle)), None)
        return found

    def prune(self, needle: str, why: str | None = None) -> Done:
        """Takes a text out of history, and out of the capsules of runs."""
        from agentplane.runs import pruned

        hits: list[pruned.Hit] = []

        def plan(snapshot: Snapshot) -> Plan:
            hits[:] = pruned.search(self.layout, needle)
            found = prune.search(snapshot, needle)
            return prune.plan(found, pruned.elsewhere(self.layout, needle, hits), why)

        done = self._plain(plan)
        pruned.write(self.layout, hits)
        return done

    def _contested(self, memory: Memory) -> tuple[int, int]:
        """Of how many candidates a person must choose, and how many were not checked. A few are checked now."""
        if not memory.inbox_ids:
            return 0, 0
        from agentplane.review import inbox

        conflicts = inbox.Conflicts(memory)
        known = conflicts.known()
        left = [entry for entry in memory.inbox if entry.id not in known]
        if 0 < len(left) <= inbox.AT_ONCE:
            found = conflicts.of_each(left)
            known.update(zip((entry.id for entry in left), found, strict=True))
            left = []
        self.keep_badge(memory)
        contested = (any(one.needs_choice for one in found) for found in known.values())
        return sum(contested), len(left)


def _next_step(memory: Memory) -> str:
    if memory.snapshot.ledger.unsettled and not memory.snapshot.ledger.gaps:
        return "agentplane settle"
    if memory.broken:
        return "agentplane doctor"
    if memory.hand_edits or memory.inbox_ids:
        return "agentplane inbox"
    return "nothing waits" if memory.shelf else 'agentplane propose --type decision "…"'


def open_plane(
    path: str | os.PathLike[str] = ".",
    *,
    channel: str = "api",
    actor: str | None = None,
    clock: Clock = utc_now,
    token: Token = random_token,
) -> Plane:
    """The plane that `path` is in, or that `path` is."""
    start = Path(path)
    found = layout.at(start) if layout.is_plane(start) else layout.find(start)
    return Plane(Store(found, clock, token), origin.here(channel, found.project, actor))


def _without_danger(memory: Memory, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that hold no likely secret and, of those that nobody approved, no flag of high severity."""
    from agentplane.review import gate  # takes long to load

    given = delivery.divided(memory.snapshot, entries).entries
    return [entry for entry in given if entry.trusted or not gate.has_high_flag(entry, {})]
