"""How a plane is changed: one op at a time, and what follows each of them."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING

import msgspec

from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.memory import verbs
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


class Beside(msgspec.Struct, frozen=True):
    """Two that contradict each other and are both there."""

    id: str
    """The one that was approved."""
    other: str
    score: float


class Changes:
    """One plane. Every call reads what is on disk now; every change is one op."""

    def __init__(self, store: Store, by: Origin, settled: "Callable[[Settled], None] | None" = None) -> None:
        self.store = store
        self.origin = by
        self.settled = settled
        """Is told what a change had to settle first: what branches left that git merged."""
        self.delivered: Delivered | None = None
        """What the last change brought to the files of tools; None where there was nothing to bring."""
        self.restarting: tuple[Session, ...] = ()
        """The sessions that were asked after the last change to start again, where the settings say so."""
        self.beside: tuple[Beside, ...] = ()
        """What the last approval let stand beside what it contradicts: of that nothing had to be chosen."""
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

    def settle(self, *, deep: bool = True) -> "Settled":
        """Brings branches together that git merged; `deep`: and back what git took out of the log."""
        from agentplane.memory import settle as settling

        done = settling.settle(self.store, deep=deep)
        if done.op or done.joined or done.told:
            self._bring(self.memory())
        if done.did and self.settled:
            self.settled(done)
        return done

    def keep_badge(self, memory: Memory) -> Badge:
        """Keeps the counts of a memory that was just looked at."""
        waiting = memory.inbox_ids
        contested = badges.contested(self.layout, waiting, memory.is_in_files) if waiting else ()
        found = Badge(len(waiting), len(contested), len(memory.hand_edits))
        snapshot = memory.snapshot
        shas = {file: page.sha256 for file, page in snapshot.pages.items()}
        badges.keep(self.layout, found, shas, snapshot.ledger.size)
        return found

    def _today(self) -> date:
        return self.store.clock().date()

    def _stamp(self, actor: str) -> Stamp:
        return Stamp(self._today(), actor, git.head(self.layout.project))

    def _plain(self, plan: Callable[[Snapshot], Plan]) -> Done:
        """An op of the plane itself, which needs no look at the entries."""
        if self.store.settings().trust.hand_edits == "accept":
            self._take_in_hand_edits()
        done = self._require(self._settled(plan, self.origin))
        self._bring(Memory(done.snapshot))
        return done

    def _do(self, plan: Callable[[Memory], Plan]) -> Done:
        return self._require(self._commit(plan, self.origin))

    def _commit(self, plan: Callable[[Memory], Plan | None], by: Origin) -> Done | None:
        if self.store.settings().trust.hand_edits == "accept":
            self._take_in_hand_edits()
        done = self._settled(lambda snapshot: plan(Memory(snapshot)), by)
        if done is not None:
            self._bring(Memory(done.snapshot))
        return done

    def _bring(self, memory: Memory) -> None:
        """What everybody should know after an op: the badge, and the files of tools that hold older memory."""
        from agentplane.tools import deliver

        self.keep_badge(memory)
        self.delivered, self.beside = None, ()
        if not memory.snapshot.ledger.unsettled:
            settings = self.store.settings().tools
            self.delivered = deliver.deliver(memory, self._today, write=settings.deliver)
            self.restarting = self._restart_old(memory) if settings.restart == "auto" else ()

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
    def _require(done: Done | None) -> Done:
        if done is None:
            raise BadInput("nothing to do")
        return done


def _unheard(_doing: str) -> None:
    """Nobody wants to know."""


def _unwatched(_done: int, _total: int) -> None:
    """Nobody watches."""


class _BranchesMeet(Exception):
    """Raised under the lock, where nothing was written yet."""
