"""Proposals by programs, with their relation to other entries and the immediate answer.

A program that learns about a conflict can propose the same statement again, together with its relation to the
other entry. The relation is added to the existing candidate, and no second candidate is created.
"""

from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.memory import operations, postpone
from agentplane.memory.entry import LINKS, Entry
from agentplane.memory.kinds import kind_named
from agentplane.memory.proposing import Proposal
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.review import delivery
from agentplane.review.conflicts.conflicts import Conflict
from agentplane.review.conflicts.relation import Relation
from agentplane.review.gate import gate
from agentplane.review.gate.verdicts import Earlier
from agentplane.review.inbox import Reviewed, Reviewer
from agentplane.text.markdown import header
from agentplane.text.visible import one_line


_SHOWN = 300


class ReadableConflict(msgspec.Struct, frozen=True):
    """A conflict, with the part of the other entry that a program may read."""

    conflict: Conflict
    waits: bool
    """True if the other entry is a candidate as well."""
    statement: str | None
    """The statement of the other entry. None if nobody approved it and it may be aimed at its reader."""


class Offered(msgspec.Struct, frozen=True):
    """A proposal that is in the inbox."""

    reviewed: Reviewed
    reviewer: Reviewer
    """The reviewer that checked the candidate. Its memory includes the candidate."""
    again: bool
    """True if the statement was a candidate already."""

    @property
    def memory(self) -> Memory:
        """The memory that includes the candidate."""
        return self.reviewer.memory

    @property
    def waiting(self) -> int:
        """The number of candidates in the inbox, including this one."""
        return len(self.memory.inbox_ids)

    @property
    def conflicts(self) -> tuple[ReadableConflict, ...]:
        """The conflicts of the candidate, each with the part of the other entry that a program may read."""
        return readable_conflicts(self.memory, self.reviewed)

    @property
    def earlier(self) -> Earlier | None:
        """An earlier rejection of nearly the same statement."""
        return self.reviewer.earlier(self.reviewed.entry)


def with_relation(memory: Memory, proposal: Proposal, relation: Relation | None) -> Proposal:
    """Return the proposal with the link of the relation. A relation to a missing entry is refused."""
    if relation is None or replaces(relation):
        return proposal
    other = memory.get(relation.id)
    if relation.kind == "supersedes" and (other.file == INBOX or other.head.status != "accepted"):
        what = "is a candidate" if other.file == INBOX else f"is already {one_line(other.head.status, 20)}"
        raise BadInput(
            f"{other.id} {what}, so it can't be superseded.",
            where="relation",
            todo="Name an approved entry, or use the `refines` relation instead.",
        )
    links = list(dict.fromkeys([*getattr(proposal, relation.kind), other.id]))
    return msgspec.structs.replace(proposal, **{relation.kind: links})


def replaces(relation: Relation | None) -> bool:
    """True if the proposal takes the place of a candidate that was sent back."""
    return relation is not None and relation.kind == "replaces"


def replacing(memory: Memory, planned: Plan, relation: Relation | None, by: str) -> Plan:
    """Return the plan of a proposal, which also removes the candidate that it replaces."""
    if relation is None or not replaces(relation):
        return planned
    return postpone.replace(memory, planned, relation.id, by)


def waiting_copy(memory: Memory, proposal: Proposal, by: str) -> Entry | None:
    """Return a candidate of the same proposer with the same words, or None."""
    kind, words = kind_named(memory.kinds, proposal.type).name, " ".join(proposal.statement.split())
    for entry in memory.inbox:
        if entry.head.proposed_by == by and entry.head.type == kind and _statement_words(entry) == words:
            return entry
    return None


def _statement_words(entry: Entry) -> str:
    return " ".join(gate.proposal_of(entry).statement.split())


def relate(memory: Memory, candidate: str, by: str, proposal: Proposal) -> Plan | None:
    """Plan to add the links of a proposal to the candidate that it repeats. Return None if it has them
    already.
    """
    entry = operations.candidates(memory, [candidate])[0]
    operations.check_candidate(memory, entry)
    if entry.head.proposed_by != by:
        raise BadInput(
            f"{entry.id} was proposed by someone else, so you can't add relations to it.", where="relation"
        )
    changes: dict[str, Any] = {}
    for name in LINKS:
        has, wanted = getattr(entry.head, name), getattr(proposal, name)
        if set(wanted) - set(has):
            changes[name] = list(dict.fromkeys([*has, *wanted]))
    core = memory.snapshot.core(entry.file, entry.id)
    if not changes or core is None:
        return None
    return Plan("relate", [Edit(entry.id, INBOX, header.set_fields(core, changes))])


def _readable(memory: Memory, id_: str) -> Entry | None:
    """Return the entry with its approved text if tools may have it, or None."""
    entry = memory.approved_as(id_)
    return entry if entry and delivery.may_be_delivered(entry, memory.snapshot.settings) else None


def readable_conflicts(memory: Memory, reviewed: Reviewed) -> tuple[ReadableConflict, ...]:
    """Return the conflicts of a candidate. The text of another entry is included only if tools may have its
    approved text, or if it is a candidate without flags of high severity.
    """
    found = []
    for conflict in reviewed.conflicts:
        other = memory.entries.get(conflict.id)
        waits = other is not None and other.file == INBOX
        readable = (
            other if waits and other and not gate.has_high_flag(other, {}) else _readable(memory, conflict.id)
        )
        statement = one_line(readable.statement, _SHOWN) if readable else None
        found.append(ReadableConflict(_shown(conflict, readable), waits, statement))
    return tuple(found)


def _shown(conflict: Conflict, readable: Entry | None) -> Conflict:
    """Return a conflict as it may be shown. `readable` is the other entry if its text may be shown, because reasons quote
    it.
    """
    return msgspec.structs.replace(
        conflict,
        id=one_line(conflict.id, 40),
        reasons=tuple(one_line(reason, _SHOWN) for reason in conflict.reasons) if readable else (),
    )
