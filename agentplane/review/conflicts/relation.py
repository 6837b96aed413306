"""The relation of a proposal to an entry, as the proposer states it."""

from typing import Literal

import msgspec


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["supersedes", "refines", "unrelated", "replaces"]
    """`replaces` names a candidate of the same proposer that a person sent back."""
    id: str
