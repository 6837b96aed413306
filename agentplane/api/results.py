"""The results that `Plane` and its facades return."""

from typing import TYPE_CHECKING

import msgspec

from agentplane.plane.store.store import Done


if TYPE_CHECKING:
    from agentplane.context.pack import Pack
    from agentplane.memory.settle import Settled
    from agentplane.tools.memory_file.deliver import Delivered
    from agentplane.tools.memory_file.sync import Synced
    from agentplane.tools.sessions.sessions import Session


class LeftContradiction(msgspec.Struct, frozen=True):
    """Two entries that contradict each other and are both approved."""

    id: str
    """The entry that was just approved."""
    other: str
    score: float


class Reached(msgspec.Struct, frozen=True):
    """How far the new memory got after a change."""

    delivered: "Delivered | None" = None
    """The tool files that have the new memory. None if no file had to be updated."""
    restarting: "tuple[Session, ...]" = ()
    """The sessions that were asked to restart, if the settings ask for that."""


class Committed(Done, frozen=True):
    """A committed operation, and what followed it."""

    reached: Reached = Reached()
    left_contradicting: tuple[LeftContradiction, ...] = ()
    """What the approved entries contradict, where nothing had to be chosen."""


class Settlement(msgspec.Struct, frozen=True):
    """What settling did about branches that Git merged, and what followed."""

    done: "Settled"
    reached: Reached = Reached()


class Promoted(msgspec.Struct, frozen=True):
    """What became of a fact: a candidate, or an entry if the policy approved it."""

    id: str
    approved: bool


class Logged(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run that was added to the log, and what became of its facts."""

    run_id: str
    promoted: tuple[Promoted, ...] = ()
    refused: tuple[str, ...] = ()
    """Why the gate refused some of them."""
    awaited: tuple[str, ...] = ()
    """Ids of facts that the run names and that have no statement yet."""


class Harvested(msgspec.Struct, frozen=True):
    """What became of each statement of a harvest, in order: the candidate's ID, or why the gate refused it."""

    ids: tuple[str | None, ...] = ()
    refused: tuple[str | None, ...] = ()


class SyncResult(msgspec.Struct, frozen=True):
    """The result of a `Sync`."""

    synced: "Synced"
    pack: "Pack"
    """The context pack that the files have now."""
    context_changed: bool
    """True if a pack that was asked for replaced the one in context/active.md."""
