"""Plan a command.

A plan has the changes of the command, computed from the current plane. This module writes nothing.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, assert_never

import msgspec

from agentplane.commands import (
    Adopt,
    Approve,
    ApproveClean,
    ChangeKind,
    Deprecate,
    DismissFindings,
    Edit,
    Mask,
    MemoryCommand,
    Merge,
    MergeEntries,
    Pin,
    Propose,
    Redo,
    Reject,
    Renew,
    Revert,
    SendBack,
    SetFields,
    Snooze,
    SplitEntry,
    Supersede,
    Tag,
    Undo,
    Unpin,
)
from agentplane.errors import BadInput
from agentplane.memory import entry_changes, manual_edits, operations, postpone, proposing
from agentplane.memory.entry import Entry
from agentplane.memory.kinds import kind_named
from agentplane.memory.operations import Stamp
from agentplane.memory.proposing import Proposal
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store import undo
from agentplane.plane.store.plan import Plan
from agentplane.plane.store.records import Dismissed
from agentplane.review import confirm


# Modules that do the work are loaded on use, because reading the memory needs few of them.
if TYPE_CHECKING:
    from agentplane.review.conflicts.conflicts import Conflict
    from agentplane.review.conflicts.relation import Relation
    from agentplane.review.gate.gate import Context
    from agentplane.review.gate.verdicts import Verdict


class By(msgspec.Struct, frozen=True):
    """The actor and the time of a command."""

    stamp: Stamp
    token: Callable[[int], str]


class Planned(msgspec.Struct, frozen=True):
    """A plan, and the conflicts of each candidate that it approves."""

    plan: Plan | None
    """None if there is nothing to change."""
    conflicts: "Mapping[str, Sequence[Conflict]]" = {}


class Prepared(msgspec.Struct, frozen=True):
    """A valid proposal of one actor, and how it enters the inbox unless the gate refuses it."""

    proposal: Proposal
    relation: "Relation | None"
    actor: str
    today: date
    joined: str | None = None
    """The actor's candidate with the same statement, which only gets the links. None for a new candidate."""
    verdict: "Verdict | None" = None
    """The gate's verdict on a new candidate."""
    context: "Context | None" = None
    """The context that the gate compared a new candidate with."""

    def plan(self, memory: Memory, token: Callable[[int], str]) -> Plan | None:
        """Return the plan for the current memory, or None if the joined candidate has all links already."""
        from agentplane.review import proposals

        if self.joined is not None:
            return proposals.relate(memory, self.joined, self.actor, self.proposal)
        planned = proposing.propose(memory, self.proposal, self.actor, self.today, token)
        return proposals.replacing(memory, planned, self.relation, self.actor)


def of(command: MemoryCommand, memory: Memory, by: By) -> Planned:
    """Return the plan of a command. Raise an error if the plane doesn't allow the command."""
    match command:
        case Propose():
            return Planned(_propose(command, memory, by))
        case Approve():
            return _approve(command, memory, by)
        case ApproveClean():
            return _approve_clean(command, memory, by)
        case Reject():
            return Planned(operations.reject(memory, [*command.ids, *_same(memory, command)], command.why))
        case SendBack():
            return Planned(_send_back(command, memory, by))
        case Snooze():
            return Planned(postpone.snooze(memory, command.ids, command.until, by.stamp.today))
        case Merge():
            return Planned(_merge(command, memory, by))
        case Edit():
            return Planned(_edit(command, memory))
        case Mask():
            from agentplane.review import mask_entry

            return Planned(mask_entry.plan(memory, command.id, command.seen))
        case Deprecate():
            return Planned(operations.deprecate(memory, command.ids, by.stamp.today, command.why))
        case Supersede():
            today = by.stamp.today
            return Planned(entry_changes.supersede(memory, command.old, command.new, today, command.why))
        case SetFields() | MergeEntries() | SplitEntry() | ChangeKind():
            return _changed(command, memory, by)
        case Renew():
            return Planned(operations.renew(memory, command.ids, command.why))
        case DismissFindings():
            return Planned(_dismiss(command, memory, by))
        case Pin():
            return Planned(operations.pin(memory, command.ids))
        case Unpin():
            return Planned(operations.unpin(memory, command.ids))
        case Tag():
            return Planned(_tag(command, memory))
        case Adopt():
            seen = None if command.seen is None else dict(command.seen)
            planned = manual_edits.adopt(memory, command.ids, seen)
            return Planned(confirm.checked(memory, planned, command.confirmed))
        case Revert():
            return Planned(manual_edits.revert(memory, command.ids))
        case Undo():
            return Planned(undo.plan_undo(memory.snapshot, by.stamp.actor, command.op))
        case Redo():
            return Planned(undo.plan_redo(memory.snapshot, by.stamp.actor))
        case _:
            assert_never(command)


def prepared(command: Propose, memory: Memory, actor: str, today: date) -> Prepared:
    """Return a valid proposal in the form that enters the inbox, with the gate's verdict."""
    from agentplane.review import inbox, proposals
    from agentplane.review.gate import gate

    proposal = proposals.with_relation(memory, command.proposal, command.relation)
    proposing.check_proposal(memory, proposal)
    proposal = proposing.unlabelled(memory, proposal)
    joins = command.joins and not proposals.replaces(command.relation)
    if joins and (copy := proposals.waiting_copy(memory, proposal, actor)):
        return Prepared(proposal, command.relation, actor, today, joined=copy.id)
    context = inbox.gate_context(memory, today)
    verdict = gate.check(proposal, gate.let_in_again(context) if command.again else context)
    return Prepared(proposal, command.relation, actor, today, verdict=verdict, context=context)


def _propose(command: Propose, memory: Memory, by: By) -> Plan | None:
    from agentplane.review.gate import verdicts

    ready = prepared(command, memory, by.stamp.actor, by.stamp.today)
    if ready.verdict and ready.verdict.refused:
        raise verdicts.refusal(ready.verdict)
    return ready.plan(memory, by.token)


def _approve(command: Approve, memory: Memory, by: By) -> Planned:
    from agentplane.review import inbox_conflicts
    from agentplane.review.conflicts import resolve

    choice = command.choice or resolve.Choice()
    conflicts_of = inbox_conflicts.deciding(memory)
    met: dict[str, Sequence[Conflict]] = {}

    def noted(entries: Sequence[Entry], kinds: Collection[str] | None) -> "Sequence[Sequence[Conflict]]":
        found = conflicts_of(entries, kinds)
        met.update(zip([entry.id for entry in entries], found, strict=True))
        return found

    same = inbox_conflicts.alike(memory, command.ids) if choice.alike else ()
    planned = resolve.approve(memory, command.ids, by.stamp, choice, noted, same)
    checked = confirm.checked(memory, planned, command.confirmed, as_proposed=True)
    return Planned(checked, {} if choice.keep_both else met)


def _approve_clean(command: ApproveClean, memory: Memory, by: By) -> Planned:
    from agentplane.review import attention, inbox

    kind = kind_named(memory.kinds, command.kind).name if command.kind else None
    asking = attention.divide(memory, by.stamp.today).asking_ids
    clean = {
        reviewed.entry.id: reviewed.conflicts
        for reviewed in inbox.Reviewer(memory, by.stamp.today).look()
        if reviewed.clean
        and reviewed.entry.id in asking
        and command.source in (None, reviewed.entry.head.source)
        and kind in (None, reviewed.entry.head.type)
        and (command.tag is None or command.tag in reviewed.entry.head.tags)
    }
    if not clean:
        narrowed = "matching " if command.source or kind or command.tag else ""
        todo = "Run `agentplane inbox` to see the conflicts and flags of each candidate."
        raise BadInput(f"No {narrowed}candidate is ready to approve.", todo=todo)
    plan = operations.approve(memory, [*clean], by.stamp)
    return Planned(msgspec.structs.replace(plan, why=command.why), clean)


def _same(memory: Memory, command: Reject) -> Sequence[str]:
    from agentplane.review import inbox_conflicts

    return inbox_conflicts.alike(memory, command.ids) if command.alike else ()


def _send_back(command: SendBack, memory: Memory, by: By) -> Plan:
    from agentplane.review import feedback

    feedback.check_comment(command.comment)
    return postpone.send_back(memory, command.ids, command.comment, by.stamp.today)


def _dismiss(command: DismissFindings, memory: Memory, by: By) -> Plan:
    for id_ in command.ids:
        memory.get(id_)
    if command.until is not None and command.until <= by.stamp.today:
        raise BadInput(f"The date {command.until} isn't in the future.", todo="Choose a later date.")
    until = command.until.isoformat() if command.until else ""
    dismissed = {key: Dismissed(list(ids), until) for key, ids in command.findings}
    return Plan("dismiss", (), why=command.why, dismissed=dismissed)


def _tag(command: Tag, memory: Memory) -> Plan:
    from agentplane.review import feedback

    feedback.check_tags(command.add)
    return operations.tag(memory, command.ids, command.add, command.remove)


def _changed(command: SetFields | MergeEntries | SplitEntry | ChangeKind, memory: Memory, by: By) -> Planned:
    """Return the plan of a command that gives entries other fields or other texts, and their new conflicts."""
    from agentplane.review import changed_entries

    planned = _change(command, memory, by)
    met = changed_entries.conflicts(memory, planned)
    return Planned(confirm.checked(memory, planned, command.confirmed), met)


def _change(command: SetFields | MergeEntries | SplitEntry | ChangeKind, memory: Memory, by: By) -> Plan:
    match command:
        case SetFields():
            from agentplane.review import feedback

            feedback.check_tags(command.changes.add_tags)
            return entry_changes.set_fields(memory, command.ids, command.changes, by.stamp.today)
        case MergeEntries():
            seen = dict(command.seen)
            return entry_changes.merge_entries(memory, command.ids, command.text, seen, by.stamp, command.why)
        case SplitEntry():
            texts, seen_digest = command.texts, command.seen
            return entry_changes.split_entry(memory, command.id, texts, seen_digest, by.stamp, command.why)
        case ChangeKind():
            return entry_changes.change_kind(memory, command.id, command.kind, by.stamp, command.why)


def _merge(command: Merge, memory: Memory, by: By) -> Plan:
    from agentplane.review.conflicts import resolve

    candidate, target, text = command.candidate, command.target, command.text
    if memory.get(target).file == INBOX:
        planned = resolve.merge_candidates(
            memory, candidate, target, text, command.seen, by.stamp, command.why
        )
    else:
        planned = resolve.merge(memory, candidate, target, text, command.seen, command.why)
    return confirm.checked(memory, planned, command.confirmed)


def _edit(command: Edit, memory: Memory) -> Plan | None:
    from agentplane.review.conflicts import resolve

    planned = resolve.edit(memory, command.id, command.text, command.seen)
    return planned and confirm.checked(memory, planned, command.confirmed)
