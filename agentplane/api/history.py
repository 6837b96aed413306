"""`plane.history`, which lists, undoes and redoes operations, and removes text from them."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from agentplane.api.committer import Committer, required
from agentplane.api.results import Committed
from agentplane.commands import Redo, Undo
from agentplane.memory import ids
from agentplane.plane.store import history, prune
from agentplane.plane.store.history import OpView, Step
from agentplane.plane.store.plan import Plan
from agentplane.plane.store.snapshot import Snapshot


if TYPE_CHECKING:
    from agentplane.plane.trust.ssh_keygen import Verdict


class History:
    """The operations on one plane."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    def ops(self, limit: int | None = None) -> list[OpView]:
        """Return the operations, newest first."""
        return history.ops(self._committer.store.snapshot(), limit)

    def of(self, wanted: str) -> tuple[str, list[Step]]:
        """Return the ID of an entry and the changes to it, oldest first.

        This includes changes under its earlier IDs.
        """
        memory = self._committer.read()
        id_ = ids.match(wanted, memory.snapshot.ledger.known.keys() | memory.ids_in_files)
        return id_, history.of(memory.snapshot, id_)

    def signed_by(self, ops: Collection[str]) -> "dict[str, Verdict]":
        """Return the signer of each of these operations. An operation without a signature is left out."""
        from agentplane.plane.trust import signatures

        return signatures.signers_of(self._committer.layout, self._committer.store.settings(), ops)

    def undo(self, op: str | None = None) -> Committed:
        """Undo the last operation of this person, or the named one."""
        return required(self._committer.do(Undo(op)))

    def redo(self) -> Committed:
        """Redo the operation that was undone last."""
        return required(self._committer.do(Redo()))

    def check_prune(self, needle: str) -> prune.Occurrences:
        """Return the places of a text, and change nothing. Raise the errors that `prune` would raise."""
        from agentplane.runs.capsule import prune_files

        layout, snapshot = self._committer.layout, self._committer.store.snapshot()
        found = prune.search(snapshot, needle)
        prune.plan(found, prune_files.elsewhere(layout, needle, prune_files.search(layout, needle)), None)
        return found

    def prune(self, needle: str, why: str | None = None) -> Committed:
        """Permanently remove a text from the history and from the capsules of runs."""
        from agentplane.runs.capsule import prune_files

        layout = self._committer.layout
        hits: list[prune_files.Hit] = []

        def plan(snapshot: Snapshot) -> Plan:
            hits[:] = prune_files.search(layout, needle)
            found = prune.search(snapshot, needle)
            return prune.plan(found, prune_files.elsewhere(layout, needle, hits), why)

        done = self._committer.commit_snapshot(plan)
        prune_files.write(layout, hits)
        return done
