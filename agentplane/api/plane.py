"""One plane as a whole: opening it, carrying out commands, and the facades over it."""

import os
import time
from collections.abc import Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never, overload

import msgspec

from agentplane.api.committer import Committer
from agentplane.api.listeners import Listeners
from agentplane.api.results import Committed, Promoted, Settlement, SyncResult
from agentplane.commands import (
    Adopt,
    Approve,
    ApproveClean,
    Command,
    Deprecate,
    Edit,
    Mask,
    MemoryCommand,
    Merge,
    Pin,
    Propose,
    Redo,
    Reject,
    Revert,
    SetRestart,
    Sync,
    ToolCommand,
    Undo,
    Unpin,
    Unwire,
    Wire,
)
from agentplane.memory.operations import Proposal
from agentplane.memory.view import Memory
from agentplane.plane import layout, origin
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store import lock, recovery
from agentplane.plane.store.store import Clock, Store, Token, random_token, utc_now
from agentplane.plane.trust import rules
from agentplane.tools.foreign_file import Change


# These modules are loaded when they are used: reading the memory needs few of them.
if TYPE_CHECKING:
    from agentplane.agents.model import Tool
    from agentplane.api.history import History
    from agentplane.api.inbox import Inbox
    from agentplane.api.memory import PlaneMemory
    from agentplane.api.recall import Recall
    from agentplane.api.runs import Runs
    from agentplane.api.tools import Tools
    from agentplane.guard.guard import Checked
    from agentplane.tools.connections import Wired


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


class Plane:
    """One plane. Each call reads what is on disk now. Each change is one operation.

    `do` and `preview` take a command of `agentplane.commands`. The facades hold everything else.
    """

    def __init__(self, store: Store, by: Origin, listeners: Listeners | None = None) -> None:
        self._committer = Committer(store, by, listeners or Listeners())

    @cached_property
    def inbox(self) -> "Inbox":
        """The candidates: proposing, checking and deciding."""
        from agentplane.api.inbox import Inbox

        return Inbox(self._committer)

    @cached_property
    def memory(self) -> "PlaneMemory":
        """The memory: reading it, and changing its entries."""
        from agentplane.api.memory import PlaneMemory

        return PlaneMemory(self._committer)

    @cached_property
    def history(self) -> "History":
        """The operations: listing, undoing, redoing and pruning."""
        from agentplane.api.history import History

        return History(self._committer)

    @cached_property
    def recall(self) -> "Recall":
        """Finding entries: `plane.recall("words", limit=5)`."""
        from agentplane.api.recall import Recall

        return Recall(self._committer)

    @cached_property
    def runs(self) -> "Runs":
        """The log and the capsules."""
        from agentplane.api.runs import Runs

        return Runs(self._committer)

    @cached_property
    def tools(self) -> "Tools":
        """The coding tools: their context, files and sessions."""
        from agentplane.api.tools import Tools

        return Tools(self._committer, self.inbox, self.runs)

    @property
    def store(self) -> Store:
        return self._committer.store

    @property
    def origin(self) -> Origin:
        """Who uses the plane, and through which door."""
        return self._committer.origin

    @property
    def listeners(self) -> Listeners:
        return self._committer.listeners

    @property
    def layout(self) -> Layout:
        return self.store.layout

    def with_listeners(self, listeners: Listeners) -> "Plane":
        """Return the same plane with other callbacks."""
        return Plane(self.store, self.origin, listeners)

    @overload
    def do(self, command: MemoryCommand) -> Committed | None: ...
    @overload
    def do(self, command: Wire | Unwire) -> "Wired": ...
    @overload
    def do(self, command: Sync) -> SyncResult: ...
    @overload
    def do(self, command: SetRestart) -> None: ...
    def do(self, command: Command) -> "Committed | Wired | SyncResult | None":
        """Carry out a command. For a `MemoryCommand`, return None if there was nothing to change."""
        match command:
            case Propose():
                return self.inbox.put(command)
            case Approve() | ApproveClean() | Reject() | Merge() | Edit() | Mask():
                return self._committer.do(command)
            case Deprecate() | Pin() | Unpin() | Adopt() | Revert() | Undo() | Redo():
                return self._committer.do(command)
            case Wire():
                return self.tools.wire(_tools(command))
            case Unwire():
                return self.tools.unwire(_tools(command))
            case Sync():
                return self.tools.bring(command)
            case SetRestart():
                self.tools.set_restart(command)
                return None
            case _:
                assert_never(command)

    def preview(self, command: Command) -> tuple[Change, ...]:
        """Return the files that a command would change, without writing anything."""
        if isinstance(command, ToolCommand):
            return self.tools.preview(command)
        return self._committer.preview(command)

    def propose(self, proposal: Proposal, *, again: bool = False) -> str:
        """Put a candidate into the inbox, unless the gate refuses it. Return its ID.

        `again` lets in what was rejected before. Only a person may ask for that.
        """
        return self.inbox.propose(proposal, again=again)

    def write_log(self, event: Mapping[str, Any]) -> str:
        """Add a run to the log. Return its run ID."""
        return self.runs.log(event).run_id

    def promote_fact(self, fact: Mapping[str, Any] | str) -> Promoted:
        """Propose a fact, and approve it if the policy allows that and nothing is flagged."""
        return self.inbox.promote_fact(fact)

    def settle(self, *, deep: bool = True) -> Settlement:
        """Bring branches together that Git merged. `deep` also restores what Git took out of the log."""
        return self._committer.settle(deep=deep)

    def settle_merged(self) -> Settlement | None:
        """Settle after a merge that ran no hook of agentplane, such as `git stash pop`. Only in a clone that `init`
        set up.
        """
        return self._committer.settle_merged()

    def today(self) -> date:
        """Return the current day in UTC, which decides about the dates of entries."""
        return self._committer.today()

    def check(self, base: str) -> "Checked":
        """Return the problems with what the checkout changes, compared with where it left the commit `base`."""
        from agentplane.guard import guard
        from agentplane.tools.memory_file import guard as guard_delivered

        return guard.check(self.layout, base, self.store.clock, (guard_delivered.findings,))

    def status(self) -> Status:
        memory = self.memory.read()
        writing = memory.snapshot.writing or lock.is_held(self.layout)
        damaged = not writing and self.is_damaged()
        # What a change that is not completed left in the files is nobody's edit.
        waiting, edits = len(memory.inbox), 0 if damaged else len(memory.hand_edits)
        conflicts, unchecked = self.inbox.contested(memory)
        dated = [told.state for told in self.memory.expiring(memory).values()]
        return Status(
            revision=memory.snapshot.ledger.revision(),
            waiting=waiting,
            conflicts=conflicts,
            hand_edits=edits,
            broken=memory.broken,
            damaged=damaged,
            weakened=rules.weakened(memory.snapshot.settings),
            next="agentplane doctor" if damaged else _next_step(memory),
            writing=writing,
            unchecked=unchecked,
            expired=dated.count("expired"),
            expiring=dated.count("soon"),
            warn_days=memory.snapshot.settings.expiry.warn_days,
        )

    def is_damaged(self) -> bool:
        """True if something is left that opening the plane could not repair."""
        for _ in range(_LOOKS):
            if not recovery.unfit(self.layout) or lock.is_held(self.layout):
                return False
            time.sleep(_LOOK_SECONDS)  # another process may be in the middle of an op
        return True


def _tools(command: Wire | Unwire) -> "list[Tool]":
    from agentplane.tools import presence as found

    return found.named(command.ids)


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
    listeners: Listeners | None = None,
) -> Plane:
    """Open the plane that `path` is in, or that `path` is."""
    start = Path(path)
    found = layout.at(start) if layout.is_plane(start) else layout.find(start)
    return Plane(Store(found, clock, token), origin.here(channel, found.project, actor), listeners)
