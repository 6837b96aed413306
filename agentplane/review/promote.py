"""Facts that a run derived: proposed always, approved only where the policy allows it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.memory import verbs
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Proposal, Stamp
from agentplane.plane.store import Plan


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


def approve_clean(memory: Memory, *, id_: str, stamp: Stamp) -> Plan | None:
    """Approves a candidate of which there is nothing to say; None: it waits for a person, or is gone."""
    from agentplane.review import hygiene, inbox

    entry = next((entry for entry in memory.inbox if entry.id == id_), None)
    if entry is None or hygiene.flags(memory, entry, inbox.gate_context(memory, stamp.today)):
        return None
    met = any(not conflict.is_quiet for conflict in inbox.Conflicts(memory).of(entry))
    return None if met else verbs.approve(memory, [id_], stamp)
