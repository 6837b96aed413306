"""The relation of a proposal to an entry, as the proposer states it."""

from typing import Literal

import msgspec

from agentplane.memory.entry import Link


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal[Link, "replaces"]
    """`replaces` names a candidate of the same proposer that a person sent back."""
    id: str
