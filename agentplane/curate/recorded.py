"""What operations recorded for the curator: the state of evidence at each approval, and dismissed findings."""

from collections.abc import Mapping
from datetime import date

import msgspec

from agentplane.plane.store.records import Observation


class Observed(msgspec.Struct, frozen=True):
    """The state of an entry's evidence when a person last approved or renewed the entry."""

    day: date
    """The day on which the person looked at the entry."""
    commit: str | None
    """The commit that was checked out then."""
    evidence: tuple[Observation, ...] | None
    """None if the operation recorded no state, as operations of earlier versions did. Then the commit has it."""


class Dismissal(msgspec.Struct, frozen=True):
    """A finding that a person put aside."""

    until: date | None
    """The day on which it is shown again. None means that it isn't, unless its basis changes."""
    why: str | None


class Recorded(msgspec.Struct, frozen=True):
    """The records that are in force. Undone operations don't count."""

    observed: Mapping[str, Observed] = {}
    """By the id of the entry."""
    dismissed: Mapping[str, Dismissal] = {}
    """By the key of the finding."""
