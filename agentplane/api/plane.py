"""`Plane`, which carries out commands and holds the facades, and `open_plane`."""

import os
import time
from collections.abc import Mapping
from datetime import date, datetime
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
    ChangeKind,
    Command,
    Deprecate,
    DismissFindings,
    Edit,
    Mask,
    MemoryCommand,
    Merge,
    MergeEntries,
    Pin,
    Propose,
    Redo,
    Reject,
    Renew,
    Revert,
    SendBack,
    SetFields,
    SetSetting,
    Snooze,
    SplitEntry,
    Supersede,
    Sync,
    Tag,
    ToolCommand,
    Undo,
    Unpin,
    Unwire,
    Wire,
)
from agentplane.lazy import cached_property
from agentplane.memory.proposing import Proposal
from agentplane.memory.view import Memory
from agentplane.plane import layout, origin
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store import lock, recovery
from agentplane.plane.store.store import Clock, Store, utc_now
from agentplane.plane.trust import rules
from agentplane.tools.foreign_file import Change


# These modules are loaded on use, because reading the memory needs few of them.
if TYPE_CHECKING:
    from agentplane.agents.model import Tool
    from agentplane.api.curator import Curator
    from agentplane.api.history import History
    from agentplane.api.inbox import Inbox
    from agentplane.api.memory import PlaneMemory
    from agentplane.api.recall import Recall
    from agentplane.api.runs import Runs
    from agentplane.api.settings import PlaneSettings
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
    """Number of places in the files that can't be read."""
    damaged: bool
    """True if the log and the files disagree. `doctor` reports the details."""
    weakened: list[str]
    """Trust settings that are weaker than their defaults."""
    next: str
    writing: bool = False
    """True if another process is writing a change. Its committed part already counts."""
    unchecked: int = 0
    """Number of candidates that have no current conflict check. `conflicts` doesn't include them."""
    expired: int = 0
    """Number of accepted entries whose date has passed. Tools don't get them."""
    expiring: int = 0
    """Number of entries that expire within `warn_days`."""
    warn_days: int = 0
    folded: int = 0
    """Number of candidates that don't ask for attention today. `waiting` doesn't include them."""
    findings: "LastPass | None" = None
    """The findings of the last pass of the curator, or None if there was none."""


class LastPass(msgspec.Struct, frozen=True):
    """The open findings of the curator's last pass."""

    at: datetime
    """The time of the pass."""
    current: bool
    """False if the memory has changed since then."""
    to_decide: int
    """Number of findings that need a decision."""
    total: int


class Plane:
    """One plane. Each call reads the current files. Each change is one operation.

    `do` and `preview` take a command of `agentplane.commands`. Everything else is in the facades.
    """

    def __init__(self, store: Store, by: Origin, listeners: Listeners | None = None) -> None:
        self._committer = Committer(store, by, listeners or Listeners())

    @cached_property
    def inbox(self) -> "Inbox":
        """The candidates, with methods to propose, check and decide."""
        from agentplane.api.inbox import Inbox

        return Inbox(self._committer)

    @cached_property
    def memory(self) -> "PlaneMemory":
        """The memory, with methods to read and change its entries."""
        from agentplane.api.memory import PlaneMemory

        return PlaneMemory(self._committer)

    @cached_property
    def history(self) -> "History":
        """The operations, with methods to list, undo, redo and prune."""
        from agentplane.api.history import History

        return History(self._committer)

    @cached_property
    def recall(self) -> "Recall":
        """The search for entries. `plane.recall("words", limit=5)` is the usual call."""
        from agentplane.api.recall import Recall

        return Recall(self._committer)

    @cached_property
    def curator(self) -> "Curator":
        """The curator, which finds entries that may no longer be true."""
        from agentplane.api.curator import Curator

        return Curator(self._committer)

    @cached_property
    def runs(self) -> "Runs":
        """The log and the capsules of runs."""
        from agentplane.api.runs import Runs

        return Runs(self._committer)

    @cached_property
    def tools(self) -> "Tools":
        """The coding tools, with their context, files and sessions."""
        from agentplane.api.tools import Tools

        return Tools(self._committer, self.inbox, self.runs)

    @cached_property
    def settings(self) -> "PlaneSettings":
        """The settings, with their values, and the files that set them."""
        from agentplane.api.settings import PlaneSettings

        return PlaneSettings(self.layout)

    @property
    def store(self) -> Store:
        return self._committer.store

    @property
    def origin(self) -> Origin:
        """The actor that uses the plane, and the door."""
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
    def do(self, command: SetSetting) -> bool: ...
    def do(self, command: Command) -> "Committed | Wired | SyncResult | bool | None":
        """Carry out a command.

        For a `MemoryCommand`, return None if there was nothing to change. For a `SetSetting`, return True if
        its file changed.
        """
        match command:
            case Propose():
                return self.inbox.put(command)
            case Approve() | ApproveClean() | Reject() | Merge() | Edit() | Mask():
                return self._committer.do(command)
            case SendBack() | Snooze() | Tag() | SetFields() | Renew() | DismissFindings():
                return self._committer.do(command)
            case Supersede() | MergeEntries() | SplitEntry() | ChangeKind():
                return self._committer.do(command)
            case Deprecate() | Pin() | Unpin() | Adopt() | Revert() | Undo() | Redo():
                return self._committer.do(command)
            case Wire():
                return self.tools.wire(_tools(command))
            case Unwire():
                return self.tools.unwire(_tools(command))
            case Sync():
                return self.tools.bring(command)
            case SetSetting():
                return self.settings.put(command)
            case _:
                assert_never(command)

    def preview(self, command: Command) -> tuple[Change, ...]:
        """Return the files that a command would change, without writing anything."""
        if isinstance(command, ToolCommand):
            return self.tools.preview(command)
        if isinstance(command, SetSetting):
            return self.settings.preview(command)
        return self._committer.preview(command)

    def propose(self, proposal: Proposal, *, again: bool = False) -> str:
        """Put a candidate into the inbox, unless the gate refuses it. Return its ID.

        `again` allows a statement that was rejected before. Only a person may set it.
        """
        return self.inbox.propose(proposal, again=again)

    def write_log(self, event: Mapping[str, Any]) -> str:
        """Add a run to the log. Return its run ID."""
        return self.runs.log(event).run_id

    def promote_fact(self, fact: Mapping[str, Any] | str) -> Promoted:
        """Propose a fact. Approve it if the policy allows that and nothing is flagged."""
        return self.inbox.promote_fact(fact)

    def settle(self, *, deep: bool = True) -> Settlement:
        """Reconcile branches that Git merged. `deep` also looks in Git for what a merge brought back or left out."""
        return self._committer.settle(deep=deep)

    def settle_merged(self, *, uncached: bool = False) -> Settlement | None:
        """Reconcile after a merge that ran no agentplane hook, such as `git stash pop`.

        This happens only in a clone that `init` set up. With `uncached`, the cache stays as it is if there is
        nothing to reconcile.
        """
        return self._committer.settle_merged(uncached=uncached)

    def today(self) -> date:
        """Return the current day in UTC. The dates of entries are compared with it."""
        return self._committer.today()

    def check(self, base: str) -> "Checked":
        """Return the problems with the changes on this checkout since it branched from the commit `base`."""
        from agentplane.guard import guard
        from agentplane.tools.memory_file import guard as guard_delivered

        return guard.check(self.layout, base, self.store.clock, (guard_delivered.findings,))

    def status(self) -> Status:
        memory = self.memory.read()
        writing = memory.snapshot.writing or lock.is_held(self.layout)
        damaged = not writing and self.is_damaged()
        # An incomplete change leaves differences in the files that are not manual edits.
        divided = self.inbox.attention(memory)
        waiting, edits = len(divided.asking), 0 if damaged else len(memory.hand_edits)
        conflicts, unchecked = self.inbox.contested(memory)
        dated = [expiry.state for expiry in self.memory.expiring(memory).values()]
        return Status(
            revision=memory.snapshot.ledger.revision(),
            waiting=waiting,
            conflicts=conflicts,
            hand_edits=edits,
            broken=memory.broken,
            damaged=damaged,
            weakened=rules.weakened(memory.snapshot.settings),
            next="agentplane doctor" if damaged else _next_step(memory, waiting),
            writing=writing,
            unchecked=unchecked,
            expired=dated.count("expired"),
            expiring=dated.count("soon"),
            warn_days=memory.snapshot.settings.expiry.warn_days,
            folded=len(divided.folded),
            findings=_last_pass(memory),
        )

    def is_damaged(self) -> bool:
        """True if opening the plane could not repair some damage."""
        for _ in range(_LOOKS):
            if not recovery.unfit(self.layout) or lock.is_held(self.layout):
                return False
            time.sleep(_LOOK_SECONDS)  # another process may be in the middle of an operation
        return True


def _last_pass(memory: Memory) -> LastPass | None:
    from agentplane.curate import kept

    found = kept.counts(memory.snapshot.layout)
    if found is None:
        return None
    current = found.state == kept.state_of(memory.snapshot.ledger)
    return LastPass(found.at, current, found.to_decide, sum(found.groups.values()))


def _tools(command: Wire | Unwire) -> "list[Tool]":
    from agentplane.tools import presence

    return presence.named(command.ids)


def _next_step(memory: Memory, waiting: int) -> str:
    if memory.snapshot.ledger.unsettled and not memory.snapshot.ledger.gaps:
        return "agentplane reconcile"
    if memory.broken:
        return "agentplane doctor"
    if memory.hand_edits or waiting:
        return "agentplane inbox"
    return "nothing to review" if memory.shelf else 'agentplane propose --type decision "…"'


def open_plane(
    path: str | os.PathLike[str] = ".",
    *,
    channel: str = "api",
    actor: str | None = None,
    clock: Clock = utc_now,
    listeners: Listeners | None = None,
) -> Plane:
    """Open the plane at `path`, or the plane of the project that contains `path`."""
    start = Path(path)
    found = layout.at(start) if layout.is_plane(start) else layout.find(start)
    return Plane(Store(found, clock), origin.here(channel, found.project, actor), listeners)
