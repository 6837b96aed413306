"""How a proposal stands to an entry, as whoever proposes it says."""

from typing import Literal

import msgspec


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["supersedes", "refines", "unrelated"]
    id: str
