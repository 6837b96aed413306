"""Callbacks that a door passes when it opens a plane."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from agentplane.jobs import Report, ignore


if TYPE_CHECKING:
    from agentplane.memory.reconcile.settle import Settled


class Listeners(msgspec.Struct, frozen=True):
    """Callbacks that report on work in progress."""

    settled: "Callable[[Settled], None]" = ignore
    """Gets the result when a change first had to reconcile merged branches."""
    step: Callable[[str], None] = ignore
    """Gets each step of a proposal. An exception from it stops the proposal before anything is written."""
    progress: Report = ignore
    """Gets how far a long piece of work has come."""
