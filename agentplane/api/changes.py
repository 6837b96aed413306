"""How a plane is changed: one op at a time, and what follows each of them."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date
from typing import TYPE_CHECKING, TypeVar

import msgspec

from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.memory import expiry, verbs
from agentplane.memory.entry import Entry
from agentplane.memory.expiry import Expiry
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Stamp
from agentplane.plane import badges, git
from agentplane.plane.badges import Badge
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store import Done, Plan, Snapshot, Store


# What does the work is loaded when it is asked for: looking at the shelf needs little of it.
if TYPE_CHECKING:
    from agentplane.memory.settle import Settled
    from agentplane.tools.deliver import Delivered
    from agentplane.tools.sessions import Session


AnyDone = TypeVar("AnyDone", bound=Done)


class LeftContradiction(msgspec.Struct, frozen=True):
    """Two entries that contradict each other and are both approved."""

    id: str
    """The entry that was just approved."""
    other: str
    score: float


class Reached(msgspec.Struct, frozen=True):
    """How far the new memory got after a change."""

    delivered: "Delivered | None" = None
    """The files of tools that have it. None if there was nothing to bring."""
    restarting: "tuple[Session, ...]" = ()
    """The sessions that were asked to start again, if the settings say so."""


class Committed(Done, frozen=True):
    """A committed operation, and what followed it."""

    reached: Reached = Reached()
    left_contradicting: tuple[LeftContradiction, ...] = ()
    """What the approved entries contradict, where nothing had to be chosen."""


class Settlement(msgspec.Struct, frozen=True):
    """What settling did about branches that Git merged, and what followed."""

    done: "Settled"
    reached: Reached = Reached()


class Changes:
    """One plane. Every call reads what is on disk now; every change is one op."""

    def __init__(self, store: Store, by: Origin, settled: "Callable[[Settled], None] | None" = None) -> None:
        self.store = store
        self.origin = by
        self.settled = settled
        """Is told what a change had to settle first: what branches left that git merged."""
        self.step: Callable[[str], None] = _unheard
        """Is told what a proposal is at; what it raises stops it, before anything was written."""
        self.progress: Callable[[int, int], None] = _unwatched
        """Is told how many candidates are checked, and of how many, while many are checked."""

    @property
    def layout(self) -> Layout:
        return self.store.layout

    def memory(self) -> Memory:
        """The shelf, the inbox and the hand edits, as they are now."""
        return Memory(self.store.snapshot())

    def memory_for_tools(self) -> Memory:
        """Return the memory to give to a tool. If trust settings changed, the log has it before the tool has the text."""
        return Memory(self.store.for_delivery(self.origin))

    def settle(self, *, deep: bool = True) -> "Settlement":
        """Brings branches together that git merged; `deep`: and looks in git for what a merge brought back or left out."""
        from agentplane.memory import settle as settling
        from agentplane.memory.notes import FileRemoved
        from agentplane.plane import gitdriver
        from agentplane.tools import conflicts

        layout = self.layout
        is_merge = gitdriver.merging(layout)
        before = set(git.unstaged(layout.project)) if is_merge else set()
        solved = conflicts.solve(layout)
        changed = (*solved.merged, *solved.removed)
        done = settling.settle(self.store, deep=deep, stopped=bool(changed or solved.left))
        told = (*done.told, *map(FileRemoved, solved.removed))
        done = msgspec.structs.replace(
            done, told=told, merged=list(solved.merged), conflicts=list(solved.left)
        )
        reached = Reached()
        if done.op or done.joined or done.told or (done.merged and not done.picking and not done.left):
            reached = self._bring(self.memory())
        if solved.merged or (done.did and is_merge):
            self._add_to_merge(before if is_merge else None, solved.merged, reached)
        if done.did and self.settled:
            self.settled(done)
        return Settlement(done, reached)

    def _add_to_merge(self, before: set[str] | None, merged: tuple[str, ...], reached: Reached) -> None:
        """Stage the files that settling wrote. `before` lists the files that were unstaged before, during a merge."""
        wanted = set(merged)
        if before is not None:
            now = set(git.unstaged(self.layout.project)) - before
            brought = reached.delivered.brought if reached.delivered else ()
            wanted |= {
                path
                for path in now
                if path in brought or path.startswith(f"{self.layout.root.name}/context/")
            }
        if wanted:
            git.add(self.layout.project, sorted(wanted))

    def settle_merged(self) -> "Settlement | None":
        """Settle after a merge that ran no hook of agentplane, such as `git stash pop`. Only in a clone that `init`
        set up.
        """
        from agentplane.plane import gitdriver

        with suppress(AgentplaneError, OSError):  # `doctor` reports why it didn't settle
            ledger = self.store.snapshot().ledger
            is_open = ledger.unsettled and not ledger.gaps and gitdriver.is_set(self.layout)
            is_busy = is_open and (git.going_on(self.layout.root) or git.stages(self.layout.root))
            return self.settle(deep=False) if is_open and not is_busy else None
        return None

    def keep_badge(self, memory: Memory) -> Badge:
        """Keeps the counts of a memory that was just looked at."""
        waiting = memory.inbox_ids
        contested = badges.contested(self.layout, waiting, memory.is_in_files) if waiting else ()
        found = Badge(len(waiting), len(contested), len(memory.hand_edits))
        snapshot = memory.snapshot
        shas = {file: page.sha256 for file, page in snapshot.pages.items()}
        badges.keep(self.layout, found, shas, snapshot.ledger.size)
        return found

    def today(self) -> date:
        """The day that counts for dates of entries, in UTC."""
        return self.store.clock().astimezone(UTC).date()

    def expiry_of(self, entry: Entry) -> Expiry | None:
        """Return when an accepted entry expires, or None. The setting `warn_days` decides how early that is reported."""
        return expiry.of(entry, self.today(), self.store.settings().expiry.warn_days)

    def expiring(self, memory: Memory) -> dict[str, Expiry]:
        """Return the accepted entries that have expired or expire soon, by id."""
        return expiry.of_each(memory.shelf, self.today(), memory.snapshot.settings.expiry.warn_days)

    def _today(self) -> date:
        return self.today()

    def _stamp(self, actor: str) -> Stamp:
        return Stamp(self._today(), actor, git.head(self.layout.project))

    def _plain(self, plan: Callable[[Snapshot], Plan | None]) -> Committed:
        """An op of the plane itself, which needs no look at the entries."""
        if self.store.settings().trust.hand_edits == "accept":
            self._take_in_hand_edits()
        return self._followed(self._require(self._settled(plan, self.origin)))

    def _do(self, plan: Callable[[Memory], Plan]) -> Committed:
        return self._require(self._commit(plan, self.origin))

    def _commit(self, plan: Callable[[Memory], Plan | None], by: Origin) -> Committed | None:
        if self.store.settings().trust.hand_edits == "accept":
            self._take_in_hand_edits()
        done = self._settled(lambda snapshot: _with_receipts(plan, Memory(snapshot)), by)
        return None if done is None else self._followed(done)

    def _followed(self, done: Done) -> Committed:
        return Committed(**msgspec.structs.asdict(done), reached=self._bring(Memory(done.snapshot)))

    def _bring(self, memory: Memory) -> Reached:
        """Update what depends on the memory: the badge, and the files of tools that hold older memory."""
        from agentplane.tools import deliver

        self.keep_badge(memory)
        if memory.snapshot.ledger.unsettled:
            return Reached()
        settings = self.store.settings().tools
        delivered = deliver.deliver(memory, self._today, write=settings.deliver)
        return Reached(delivered, self._restart_old(memory) if settings.restart == "auto" else ())

    def _restart_old(self, memory: Memory) -> "tuple[Session, ...]":
        """Never raises: what it follows is done already."""
        from agentplane.tools import restart, sessions

        with suppress(AgentplaneError, OSError):
            revision = memory.snapshot.ledger.revision()
            found = sessions.here(self.layout, revision, os.environ, closely=False)
            wanted = [one for one in sessions.old(found) if one.hooked]
            return tuple(restart.ask(self.store, wanted, self.origin.actor, auto=True))
        return ()

    def _settled(self, plan: Callable[[Snapshot], Plan | None], by: Origin) -> Done | None:
        """Commits; where branches meet in the plane, brings them together first."""

        def checked(snapshot: Snapshot) -> Plan | None:
            if snapshot.ledger.unsettled and not snapshot.ledger.gaps:
                raise _BranchesMeet
            return plan(snapshot)

        try:
            return self.store.commit(checked, by)
        except _BranchesMeet:
            # What cannot be settled as its files are now stays open, and doctor names it.
            with suppress(BadInput, Refused):
                self.settle(deep=False)
            return self.store.commit(plan, by)

    def _take_in_hand_edits(self) -> None:
        """Where the settings accept hand edits, they get an op of their own before the next one."""
        by = msgspec.structs.replace(self.origin, channel="policy")
        # Where branches meet, what stands in the files may be nobody's edit.
        self._settled(lambda snapshot: verbs.adopt_what_counts(Memory(snapshot)), by)

    @staticmethod
    def _require(done: AnyDone | None) -> AnyDone:
        if done is None:
            raise BadInput("nothing to do")
        return done


def _with_receipts(plan: Callable[[Memory], Plan | None], memory: Memory) -> Plan | None:
    """Refuses a plan whose texts cite no receipts, where the settings require them."""
    from agentplane.review import receipts

    planned = plan(memory)
    if planned is not None:
        receipts.require(memory, planned)
    return planned


def _unheard(_doing: str) -> None:
    """Nobody wants to know."""


def _unwatched(_done: int, _total: int) -> None:
    """Nobody watches."""


class _BranchesMeet(Exception):
    """Raised under the lock, where nothing was written yet."""
