"""The results that `Plane` and its facades return."""

from typing import TYPE_CHECKING

import msgspec

from agentplane.plane.store.plan import Done


if TYPE_CHECKING:
    from agentplane.context.pack import Pack
    from agentplane.memory.reconcile.settle import Settled
    from agentplane.review.conflicts.conflicts import Conflict
    from agentplane.tools.memory_file.deliver import Delivered
    from agentplane.tools.memory_file.sync import Synced
    from agentplane.tools.sessions.sessions import Session


class LeftBeside(msgspec.Struct, frozen=True):
    """An entry that was just approved, and an approved entry that it contradicts, repeats or would supersede."""

    id: str
    """The entry that was just approved."""
    conflict: "Conflict"
    """The conflict with the other entry, which was not changed."""

    @property
    def other(self) -> str:
        return self.conflict.id


class Reached(msgspec.Struct, frozen=True):
    """The tool files and sessions that a change reached."""

    delivered: "Delivered | None" = None
    """The update of the tool files. None if no file needed an update."""
    restarting: "tuple[Session, ...]" = ()
    """The sessions that were asked to restart, if the settings ask for that."""


class Committed(Done, frozen=True):
    """A committed operation and its effects."""

    reached: Reached = Reached()
    left_beside: tuple[LeftBeside, ...] = ()
    """Contradictions of the approved entries that needed no choice."""


class Settlement(msgspec.Struct, frozen=True):
    """The result of reconciling merged branches, and its effects."""

    done: "Settled"
    reached: Reached = Reached()


class Promoted(msgspec.Struct, frozen=True):
    """The result of a proposed fact. It is a candidate, or an entry if the policy approved it."""

    id: str
    approved: bool


class Logged(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run that was added to the log, and the results of its facts."""

    run_id: str
    promoted: tuple[Promoted, ...] = ()
    refused: tuple[str, ...] = ()
    """Reasons why the gate refused some facts."""
    awaited: tuple[str, ...] = ()
    """IDs of facts that the run names and that have no statement yet."""


class Harvested(msgspec.Struct, frozen=True):
    """The result of each imported statement, in order.

    Each has the candidate's ID or the reason why the gate refused it.
    """

    ids: tuple[str | None, ...] = ()
    refused: tuple[str | None, ...] = ()


class WrittenPack(msgspec.Struct, frozen=True):
    """The context pack that context/active.md has now."""

    pack: "Pack"
    changed: bool
    """True if the file had other contents before."""


class SyncResult(msgspec.Struct, frozen=True):
    """The result of a `Sync`."""

    synced: "Synced"
    pack: "Pack"
    """The context pack that the files have now."""
    context_changed: bool
    """True if the requested context pack replaced the one in context/active.md."""
