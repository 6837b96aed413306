"""The results of a change: what was committed, and what followed."""

from typing import TYPE_CHECKING

import msgspec

from agentplane.plane.store.store import Done


if TYPE_CHECKING:
    from agentplane.memory.settle import Settled
    from agentplane.tools.memory_file.deliver import Delivered
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
