"""One plane as a whole: how it stands, its history, and opening it."""

import os
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentplane.api.changes import Committed
from agentplane.api.tools import Tools
from agentplane.errors import BadInput
from agentplane.memory import ids
from agentplane.memory.shelf import Memory
from agentplane.plane import history, layout, lock, origin, prune, recover, trust_settings
from agentplane.plane.badges import Badge
from agentplane.plane.history import OpView
from agentplane.plane.store import (
    Clock,
    Plan,
    Snapshot,
    Store,
    Token,
    deliverable,
    random_token,
    utc_now,
)
from agentplane.retrieval.recalled import Recalled
from agentplane.retrieval.recalled import find as find_recalled
from agentplane.retrieval.scan import IN_FORCE, Result, Wanted
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
    """Accepted entries whose date has passed. Tools don't get them."""
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
        """Return the trusted entries that match a query best. By default, only accepted entries.

        Entries that look like they contain a secret are withheld. A query that is a task, a run or a path also finds
        its runs, the facts from those runs, and the files that they produced.
        """
        return list(self.recalled(query, limit=limit, wanted=wanted).results)

    def recalled(self, query: str, *, limit: int = 5, wanted: Wanted = IN_FORCE) -> Recalled:
        """The same, with the ids of entries that were found and are withheld."""
        _check_question(query, limit)
        return find_recalled(self.memory_for_tools(), query, limit, wanted, self.today())

    def recalled_in(self, memory: Memory, query: str, *, limit: int = 5) -> Recalled:
        """The same in a plane that was read or written a moment ago, without reading it again."""
        snapshot = deliverable(memory.snapshot)
        memory = memory if snapshot is memory.snapshot else Memory(snapshot)
        return find_recalled(memory, query, limit, IN_FORCE, self.today())

    def withheld(self) -> tuple[str, ...]:
        """Return the ids of accepted entries that tools don't get because they look like they contain a secret."""
        given = delivery.given(self.memory_for_tools())
        return tuple(entry.id for entry in given.withheld if entry.head.status == "accepted")

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

    def prune(self, needle: str, why: str | None = None) -> Committed:
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
        """Return how many candidates need a choice, and how many are unchecked. A few are checked now."""
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


def _check_question(query: object, limit: object) -> None:
    if not isinstance(query, str) or not isinstance(limit, int):
        raise BadInput(
            f"expected a text and a whole number, got {type(query).__name__} and {type(limit).__name__}",
            where="recall",
            todo='call it as recall("words", limit=5).',
        )


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
