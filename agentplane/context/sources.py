"""The parts of the memory that a context pack is made from."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from agentplane.context.notes import Notes
from agentplane.memory.entry import Entry
from agentplane.review import delivery
from agentplane.review.conflicts.assumptions import Contradiction
from agentplane.review.feedback import Feedback


class Sources(msgspec.Struct, frozen=True):
    """The parts of the memory that a context pack is made from."""

    revision: str
    entries: tuple[Entry, ...]
    """The entries in force, each with its approved text."""
    divide: Callable[[Sequence[Entry]], delivery.Delivery] = delivery.divided_uncached
    """Separates entries that look like they contain a secret.

    It only searches entries that would get room, because searching all of a large memory takes seconds.
    """
    expired: tuple[Entry, ...] = ()
    waiting: int = 0
    hand_edits: tuple[str, ...] = ()
    last_run: Notes | None = None
    withheld: tuple[str, ...] = ()
    """Ids of accepted entries that look like they contain a secret. No other field has them."""
    against: Mapping[str, tuple[Contradiction, ...]] = MappingProxyType({})
    """The contradictions of each assumption that has one."""
    doubts: Mapping[str, str] = MappingProxyType({})
    """The curator's doubts about entries, each as a phrase. Files under version control have none."""
    doubtful: tuple[str, ...] = ()
    """Ids of accepted entries that are withheld because of the curator's findings. No other field has them."""
    by_history: bool = False
    """Whether the history of the commit checked out decided which run was the last one."""
    sent_back: tuple[Feedback, ...] = ()
    """The candidates that a reviewer sent back to the reader."""

    def without(self, given: delivery.Delivery) -> "Sources":
        """Return these sources without entries that look like they contain a secret."""
        gone = set(given.withheld_ids)
        against = {
            id_: [one for one in found if gone.isdisjoint(one.ids)] for id_, found in self.against.items()
        }
        return msgspec.structs.replace(
            self,
            entries=tuple(entry for entry in self.entries if entry.id not in gone),
            withheld=(*self.withheld, *sorted(given.withheld_names)),
            against={id_: tuple(found) for id_, found in against.items() if found and id_ not in gone},
        )
