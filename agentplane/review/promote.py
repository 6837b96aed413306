"""Facts that a run derived. They are always proposed, and approved only if the policy allows it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.memory import ids, operations, updates
from agentplane.memory.entry import LINKS, Entry
from agentplane.memory.kinds import kind_named
from agentplane.memory.operations import Stamp
from agentplane.memory.proposing import Proposal
from agentplane.memory.view import Memory
from agentplane.plane.store.plan import Plan
from agentplane.text.visible import one_line


_NAMES = {"id": "external_id", "kind": "type", "source_run": "source", "run_id": "source"}
"""Names of fields that programs use in a fact, with their names in a proposal."""
_READ_ONLY = ("status", "agentplane")
"""Fields of a fact in state.json that a proposal can't set."""
_LISTS = ("tags", "evidence", "scope", *LINKS)
_OWN = (*LINKS, "harvested", "external_id")
"""Fields that a change of an entry doesn't copy from it."""


def fact_proposal(fact: Mapping[str, Any] | str, memory: Memory) -> Proposal:
    """Return the proposal for a program's statement or for the fields of its fact.

    With the id of an accepted entry, the proposal is that entry with the given fields changed.
    """
    fields = _fields(fact)
    name = _name(fields.get("external_id"))
    known = updates.known_as(memory, name)
    kind = kind_named(memory.kinds, _kind(fields.get("type"), known)).name
    entry = updates.target(memory, name, kind)
    if entry is not None:
        fields = _of_entry(entry) | fields
    elif known is not None and known.head.type != kind:
        raise BadInput(
            f"{one_line(str(name), 60)} is the ID of the {known.head.type} {one_line(known.id, 40)}, not of a {kind}",
            where="fact",
            todo=f"Use a different ID for the new {kind}, or omit `kind` to change {one_line(known.id, 40)}.",
        )
    elif name is not None:
        _check_new(memory, name)
        fields.setdefault("source", memory.snapshot.ledger.named.get(name))
    fields["type"] = kind
    try:
        return msgspec.convert(fields, Proposal)
    except msgspec.ValidationError as error:
        raise BadInput(
            f"Invalid fact: {error}",
            where="fact",
            todo="Pass `statement`, and optionally `confidence`, `evidence` and `source`.",
        ) from None


def existing_of(memory: Memory, proposal: Proposal) -> Entry | None:
    """Return the entry or candidate with the same external id that already says all of a fact, or None."""
    if proposal.external_id is None:
        return None
    entry = updates.target(memory, proposal.external_id, proposal.type)
    waiting = (one for one in memory.inbox if one.head.external_id == proposal.external_id)
    wanted = _without_source(proposal)
    return next((one for one in (*([entry] if entry else ()), *waiting) if _same(one, wanted)), None)


def approve_clean(memory: Memory, *, id_: str, stamp: Stamp) -> Plan | None:
    """Approve a candidate without flags or conflicts. Return None if it waits for a person or is gone.

    A candidate that changes an entry passes too, because the policy was asked about the values that the entry gets.
    """
    from agentplane.review import inbox, inbox_conflicts, inbox_flags
    from agentplane.review.gate import receipts

    entry = next((entry for entry in memory.inbox if entry.id == id_), None)
    if entry is None or receipts.lacking(entry.head, receipts.sources_of(memory.snapshot.layout)):
        return None
    flags = set(inbox_flags.flags(memory, entry, inbox.gate_context(memory, stamp.today)))
    has_conflicts = any(not conflict.is_quiet for conflict in inbox_conflicts.Conflicts(memory).of(entry))
    if has_conflicts or flags - {inbox_flags.change_notice(memory, entry)}:
        return None
    target = updates.target_of(memory, entry)
    if target is not None:
        return updates.plan(memory, entry, target, stamp) if target.trusted else None
    return operations.approve(memory, [id_], stamp)


def awaited(memory: Memory) -> dict[str, str]:
    """Return the ids of facts without a statement so far, each with the run that named it first. A rejected
    fact had one.
    """
    found = memory.named_without_entry()
    if not found:
        return {}
    from agentplane.review.gate import past_rejections

    rejected = {one.external_id for one in past_rejections.tombstones(memory.snapshot).rejections}
    return {id_: run for id_, run in found.items() if id_ not in rejected}


def _name(given: object) -> str | None:
    """Return the id that a program gives to a fact."""
    if given is not None and not isinstance(given, str):
        raise BadInput(
            f"the `id` field must be text, but it is {one_line(repr(given), 40)}",
            where="fact",
            todo="Pass the ID as text, for example memory-schema-defined, or leave it out.",
        )
    return given


def _kind(given: object, known: Entry | None) -> str:
    """Return the kind that a program names. Without one, its id tells which entry it means."""
    if given is None:
        return known.head.type if known else "fact"
    return given if isinstance(given, str) else repr(given)


def _fields(fact: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return the fields of a proposal from a program's input."""
    if not isinstance(fact, str | Mapping):
        raise BadInput(
            f"Invalid fact: expected text or an object, but got {type(fact).__name__}",
            where="fact",
            todo="Pass `statement`, and optionally `confidence`, `evidence` and `source`.",
        )
    given: dict[str, Any] = {"statement": fact} if isinstance(fact, str) else dict(fact)
    fields = {name: value for name, value in given.items() if name not in _NAMES and name not in _READ_ONLY}
    for name, field in _NAMES.items():
        if given.get(name) is not None and fields.get(field) is None:
            fields[field] = given[name]
    if isinstance(expires := fields.get("expires_at"), str):
        fields["expires_at"] = _day(expires)
    return {name: [] if value is None and name in _LISTS else value for name, value in fields.items()}


def _day(text: str) -> str:
    """Return the UTC day of a time, because an entry expires at the end of a day. Any other text is returned
    unchanged.
    """
    try:
        moment = datetime.fromisoformat(text) if "T" in text else None
        return moment.astimezone(UTC).date().isoformat() if moment and moment.tzinfo else text
    except (ValueError, OverflowError):
        return text


def _of_entry(entry: Entry) -> dict[str, Any]:
    """Return the fields of an entry that a change keeps by default."""
    from agentplane.review.gate import gate

    fields: dict[str, Any] = msgspec.to_builtins(gate.proposal_of(entry))
    return {name: value for name, value in fields.items() if name not in _OWN}


def _check_new(memory: Memory, name: str) -> None:
    """Refuse an id in agentplane's own format, because another entry could get it later."""
    prefix, _, number = name.upper().partition("-")
    given_out = {kind.prefix for kind in memory.kinds.values()} | {ids.CANDIDATE_PREFIX}
    if prefix in given_out and (number.isdecimal() or prefix == ids.CANDIDATE_PREFIX):
        raise BadInput(
            f"No accepted entry of this kind has the ID {one_line(name, 40)}, and only agentplane assigns IDs in this format",
            where="fact",
            todo="Use an ID of your own, for example memory-schema-defined, or leave `id` out.",
        )


def _without_source(proposal: Proposal) -> Proposal:
    return msgspec.structs.replace(proposal, source=None, external_id=None, harvested=None)


def _same(entry: Entry, wanted: Proposal) -> bool:
    from agentplane.review.gate import gate

    return _without_source(gate.proposal_of(entry)) == wanted
