"""Facts that a run derived: proposed always, approved only where the policy allows it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.memory.verbs import Proposal


def fact_proposal(fact: Mapping[str, Any] | str) -> Proposal:
    """A proposal from what a program hands in: a statement, or the fields of a proposal."""
    fields: dict[str, Any] = {"statement": fact} if isinstance(fact, str) else dict(fact)
    fields.setdefault("type", "fact")
    if "run_id" in fields:
        fields.setdefault("source", fields.pop("run_id"))
    try:
        return msgspec.convert(fields, Proposal)
    except msgspec.ValidationError as error:
        raise BadInput(
            f"not a fact: {error}",
            where="fact",
            todo="give `statement`, and `confidence`, `evidence`, `source`.",
        ) from None
