"""Callbacks that a door passes when it opens a plane."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec


if TYPE_CHECKING:
    from agentplane.memory.settle import Settled


def _ignore(*_args: object) -> None:
    """The default of every callback."""


class Listeners(msgspec.Struct, frozen=True):
    """Callbacks that report on work in progress."""

    settled: "Callable[[Settled], None]" = _ignore
    """Gets the result when a change first had to reconcile merged branches."""
    step: Callable[[str], None] = _ignore
    """Gets each step of a proposal. An exception from it stops the proposal before anything is written."""
    progress: Callable[[int, int], None] = _ignore
    """Gets the number of checked candidates and the total during a long check."""
