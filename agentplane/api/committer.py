"""The committer, which turns a plan into one operation and updates everything that depends on the memory."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING

import msgspec

from agentplane.api import plans
from agentplane.api.listeners import Listeners
from agentplane.api.results import Committed, LeftBeside, Reached, Settlement
from agentplane.commands import Approve, ApproveClean, Decision, Edit, MemoryCommand, Merge, Redo, Undo
from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.memory import manual_edits
from agentplane.memory.operations import Stamp
from agentplane.memory.view import Memory
from agentplane.plane.derived import badge_counts
from agentplane.plane.derived.badge_counts import Badge
from agentplane.plane.git import git
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store import records
from agentplane.plane.store.plan import Done, Plan
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.store.store import Rebuilt, Store
from agentplane.review import attention
from agentplane.tools.foreign_file import Change


# These modules are loaded on use, because reading the memory needs few of them.
if TYPE_CHECKING:
    from agentplane.review.conflicts.conflicts import Conflict
    from agentplane.tools.sessions.sessions import Session


class Committer:
    """Makes every change of one plane.

    It takes a plan, commits it as one operation, updates everything that depends on the memory, and returns a
    `Committed`. It keeps no state, so each call reads the plane from disk.
    """

    def __init__(self, store: Store, origin: Origin, listeners: Listeners) -> None:
        self.store = store
        self.origin = origin
        self.listeners = listeners

    @property
    def layout(self) -> Layout:
        return self.store.layout

    def acting_as(self, actor: str) -> "Committer":
        """Return a committer for the same plane that records another actor and has no listeners."""
        return Committer(self.store, msgspec.structs.replace(self.origin, actor=actor), Listeners())

    def read(self) -> Memory:
        """Read the approved entries, the inbox and the manual edits."""
        return Memory(self.store.snapshot())

    def read_for_tools(self) -> Memory:
        """Read the memory that tools may get, after the log has recorded changed trust settings."""
        return Memory(self.store.for_delivery(self.origin))

    def today(self) -> date:
        """Return the current day in UTC. The dates of entries are compared with it."""
        return self.store.today()

    def stamp(self, actor: str) -> Stamp:
        return Stamp(self.today(), actor, git.head(self.layout.project))

    def keep_badge(self, memory: Memory) -> Badge:
        """Store the counts of a memory for `agentplane badge`."""
        divided = attention.divide(memory, self.today())
        waiting = divided.asking
        contested = badge_counts.contested(self.layout, waiting, memory.is_in_files) if waiting else ()
        badge = Badge(len(waiting), len(contested), len(memory.hand_edits))
        snapshot = memory.snapshot
        shas = {file: page.sha256 for file, page in snapshot.pages.items()}
        badge_counts.keep(self.layout, badge, shas, snapshot.ledger.size, divided.changes_on)
        return badge

    def do(self, command: Decision | Undo | Redo) -> Committed | None:
        """Carry out a command as one operation. Return None if there was nothing to change."""
        by = self._by()
        if isinstance(command, Undo | Redo):
            return self.commit_snapshot(lambda snapshot: plans.of(command, Memory(snapshot), by).plan)
        if isinstance(command, ApproveClean):
            from agentplane.api import checking

            # Most of the checking happens before the lock is taken.
            checking.check_all(self)
        met: dict[str, Sequence[Conflict]] = {}

        def plan(memory: Memory) -> Plan | None:
            planned = plans.of(command, memory, by)
            met.update(planned.conflicts)
            return planned.plan

        done = self.commit(plan)
        if done is not None:
            self._note_streak(command, done)
        left = _left_beside(done, met) if done else ()
        return msgspec.structs.replace(done, left_beside=left) if done else None

    def _note_streak(self, command: Decision, done: Committed) -> None:
        """Count the approvals of a person. Editing or merging a candidate means opening it."""
        from agentplane.review import streak

        if isinstance(command, Approve | ApproveClean):
            streak.note_approved(self.layout, self.origin, len(done.renamed))
        elif isinstance(command, Edit | Merge):
            streak.note_opened(self.layout, self.origin)

    def preview(self, command: MemoryCommand) -> tuple[Change, ...]:
        """Return the memory files that a command would change, without writing anything."""
        memory = self.read()
        plan = plans.of(command, memory, self._by()).plan
        if plan is None:
            return ()
        snapshot = memory.snapshot
        before = {file: page.document.data for file, page in snapshot.pages.items()}
        after = self.store.preview(plan, snapshot)
        return tuple(
            Change(snapshot.layout.shown(file), before.get(file), data)
            for file, data in after.items()
            if before.get(file) != data
        )

    def commit(
        self, plan: Callable[[Memory], Plan | None], by: Origin | None = None, *, badge: bool = True
    ) -> Committed | None:
        """Commit the plan that `plan` computes under the lock. Return None if there was nothing to change.

        `by` is the origin to record in the log [default: the committer's]. Without `badge`, the caller calls
        `keep_badge` when it knows the conflicts.
        """
        return self._commit(
            lambda snapshot: _checked_and_observed(plan, Memory(snapshot)), by or self.origin, badge=badge
        )

    def commit_snapshot(self, plan: Callable[[Snapshot], Plan | None]) -> Committed:
        """Commit a plan that needs no entries, such as an undo."""
        done = required(self._commit(plan, self.origin))
        return done if done.ids else msgspec.structs.replace(done, ids=self._ids_of_undone(done))

    def _ids_of_undone(self, done: Committed) -> list[str]:
        """Return the ids of an undone operation that changed no text, such as a renewal."""
        root = done.snapshot.ledger.roots()[done.op]
        return records.load(self.layout, root.op).record.ids

    def settle(self, *, deep: bool = True) -> Settlement:
        """Reconcile branches that Git merged.

        `deep` also looks in Git for text that a merge restored or dropped.
        """
        from agentplane.memory.reconcile import settle as settling
        from agentplane.memory.reconcile.notes import FileRemoved
        from agentplane.plane.git import merge_driver
        from agentplane.tools.memory_file import git_conflicts

        layout = self.layout
        is_merge = merge_driver.merging(layout)
        before = set(git.unstaged(layout.project)) if is_merge else set()
        solved = git_conflicts.solve(layout)
        changed = (*solved.merged, *solved.removed)
        done = settling.settle(self.store, deep=deep, stopped=bool(changed or solved.left))
        notes = (*done.notes, *map(FileRemoved, solved.removed))
        done = msgspec.structs.replace(
            done, notes=notes, merged=list(solved.merged), conflicts=list(solved.left)
        )
        reached = Reached()
        if done.op or done.joined or done.notes or (done.merged and not done.picking and not done.left):
            reached = self._update_dependents(self.read())
        if solved.merged or (done.did and is_merge):
            self._add_to_merge(before if is_merge else None, solved.merged, reached)
        if done.did:
            self.listeners.settled(done)
        return Settlement(done, reached)

    def settle_merged(self, *, uncached: bool = False) -> Settlement | None:
        """Reconcile after a merge that ran no agentplane hook, such as `git stash pop`.

        This happens only in a clone that `init` set up. With `uncached`, the cache stays as it is if there is
        nothing to reconcile, so that `doctor` can check it.
        """
        from agentplane.plane.git import merge_driver

        store = Rebuilt(self.layout, self.store.clock, self.store.token) if uncached else self.store
        with suppress(AgentplaneError, OSError):  # `doctor` reports why it didn't settle
            ledger = store.snapshot().ledger
            is_open = ledger.unsettled and not ledger.gaps and merge_driver.is_set(self.layout)
            is_busy = is_open and (
                git.unfinished_operations(self.layout.root) or git.stages(self.layout.root)
            )
            return self.settle(deep=False) if is_open and not is_busy else None
        return None

    def _by(self) -> plans.By:
        return plans.By(self.stamp(self.origin.actor), self.store.token)

    def _commit(
        self, plan: Callable[[Snapshot], Plan | None], by: Origin, *, badge: bool = True
    ) -> Committed | None:
        """Commit a plan, and update everything that depends on the memory.

        If the settings accept manual edits, a separate operation approves them first. The tool files are
        checked only if the revision changed.
        """
        before = ""

        def checked(snapshot: Snapshot) -> Plan | None:
            nonlocal before
            before = snapshot.ledger.revision()
            if _accepted_edits(snapshot) is not None:
                raise _ManualEdits
            return plan(snapshot)

        try:
            done = self._settled_first(checked, by)
        except _ManualEdits:
            policy = msgspec.structs.replace(self.origin, channel="policy")
            # Where branches meet, a difference in the files may not be anyone's edit.
            self._settled_first(_accepted_edits, policy)
            done = self._settled_first(plan, by)
        if done is None:
            return None
        memory = Memory(done.snapshot)
        if badge:
            self.keep_badge(memory)
        reached = self._deliver(memory, write=done.revision != before)
        return Committed(**msgspec.structs.asdict(done), reached=reached)

    def _update_dependents(self, memory: Memory) -> Reached:
        """Update the badge and the tool files that have older memory."""
        self.keep_badge(memory)
        return self._deliver(memory)

    def _deliver(self, memory: Memory, *, write: bool = True) -> Reached:
        """Update the tool files that have older memory, with `write`, and ask sessions that have it to restart."""
        if memory.snapshot.ledger.unsettled:
            return Reached()
        settings = memory.snapshot.settings.tools
        delivered = None
        if write:
            from agentplane.tools.memory_file.deliver import deliver

            delivered = deliver(memory, self.today, write=settings.deliver)
        return Reached(delivered, self._restart_old(memory) if settings.restart == "auto" else ())

    def _restart_old(self, memory: Memory) -> "tuple[Session, ...]":
        """Ask sessions with older memory to restart. Never raises, because the operation is committed already."""
        from agentplane.tools.sessions import restart, sessions

        with suppress(AgentplaneError, OSError):
            revision = memory.snapshot.ledger.revision()
            found = sessions.here(self.layout, revision, os.environ, closely=False)
            wanted = [one for one in sessions.old(found) if one.hooked]
            return tuple(restart.ask(self.store, wanted, self.origin.actor, auto=True))
        return ()

    def _add_to_merge(self, before: set[str] | None, merged: tuple[str, ...], reached: Reached) -> None:
        """Stage the files that reconciling wrote.

        During a merge, `before` has the files that were already unstaged.
        """
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

    def _settled_first(self, plan: Callable[[Snapshot], Plan | None], by: Origin) -> Done | None:
        """Commit a plan. If branches meet in the plane, a separate operation reconciles them first."""

        def checked(snapshot: Snapshot) -> Plan | None:
            if snapshot.ledger.unsettled and not snapshot.ledger.gaps:
                raise _BranchesMeet
            return plan(snapshot)

        try:
            return self.store.commit(checked, by)
        except _BranchesMeet:
            # Branches that can't be reconciled with these files stay open, and `doctor` reports them.
            with suppress(BadInput, Refused):
                self.settle(deep=False)
            return self.store.commit(plan, by)


def required(done: Committed | None) -> Committed:
    """Return the committed operation. Raise BadInput if there was nothing to change."""
    if done is None:
        raise BadInput("nothing to do")
    return done


def _checked_and_observed(plan: Callable[[Memory], Plan | None], memory: Memory) -> Plan | None:
    """Return a plan with the state of the evidence that it approves.

    Refuse a plan whose texts cite no receipts, if the settings require them.
    """
    from agentplane.curate.recording import with_observations
    from agentplane.review.gate import receipts

    planned = plan(memory)
    if planned is None:
        return None
    receipts.require(memory, planned)
    return with_observations(planned, memory)


def _left_beside(done: Committed, met: "Mapping[str, Sequence[Conflict]]") -> tuple[LeftBeside, ...]:
    return tuple(
        LeftBeside(
            done.renamed.get(id_, id_),
            msgspec.structs.replace(conflict, id=done.renamed.get(conflict.id, conflict.id)),
        )
        for id_, found in met.items()
        for conflict in found
        if conflict.kind in ("contradiction", "duplicate", "supersession")
        and not conflict.is_quiet
        and conflict.id not in done.ids
    )


def _accepted_edits(snapshot: Snapshot) -> Plan | None:
    """Return the plan that approves the manual edits, if the settings accept them and there are any."""
    if snapshot.settings.trust.hand_edits != "accept":
        return None
    return manual_edits.adopt_what_counts(Memory(snapshot))


class _BranchesMeet(Exception):
    """Raised under the lock, before anything is written."""


class _ManualEdits(Exception):
    """Raised under the lock, before anything is written."""
