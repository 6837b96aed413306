"""The check that a record proves each new operation, and that its channel may decide."""

from collections.abc import Iterator, Mapping, Sequence

from agentplane.findings import Finding, Instruction, Remedy
from agentplane.guard import proven_ops, recompute, settle
from agentplane.guard.history import Past
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.memory.entry import Header, read_header
from agentplane.plane.layout import INBOX, LOG
from agentplane.plane.ledger.log_events import OP
from agentplane.plane.settings import Settings
from agentplane.plane.store import records
from agentplane.plane.store.records import Change, Record
from agentplane.plane.trust import rules


def findings(base: Side, now: Side, done: Sequence[LoggedOp], past: Past, back: Remedy) -> Iterator[Finding]:
    of_line = {op.line for op in done}
    other = {line: number for line, number in now.lines.items() if OP.matches(line) and line not in of_line}
    # If an operation has two events, the new one is wrong, in any order of the log.
    in_base = {id_ for line in other if line in base.lines and (id_ := proven_ops.op_of(line))}
    wrong = other | {op.line: op.number for op in done if op.event.op in in_base}
    for line, number in wrong.items():
        if line not in base.lines:
            what = "this line isn't a valid operation event, or it repeats the event of another line"
            remedies = (Instruction("Remove this line:"), back)
            yield Finding("op-event-odd", "error", now.where(LOG, number), what, remedies)
    runs = proven_ops.runs_of(now)
    by_op = {op.event.op: op for op in done}
    for op in done:
        if op.line not in base.lines:
            yield from _op(op, base, now, by_op, past, runs, back)


def _op(
    op: LoggedOp,
    base: Side,
    now: Side,
    done: Mapping[str, LoggedOp],
    past: Past,
    runs: set[str],
    back: Remedy,
) -> Iterator[Finding]:
    where, op_id = now.where(LOG, op.number), op.event.op
    record = op.record
    if record is None:
        row = now.rows.get(op.event.op)
        what = f"{op.name} has no record in {shown(records.month_of(op.event.op), 40)}"
        if row:
            where = now.where(row.file, row.number)
            what = f"the record of {op.name} doesn't match line {op.number} of the log"
        remedies = (Instruction("Commit the record, or restore the state of the base commit:"), back)
        yield Finding("op-unproved", "error", where, f"{what}. The operation has no effect", remedies, op_id)
        return
    stated = (op.event.ts, op.event.verb, op.event.actor, op.event.channel, op.event.ids)
    if stated != (record.ts, record.verb, record.actor, record.channel, record.ids):
        what = f"{op.name}: the line in the log doesn't match the operation record"
        remedies = (Instruction("Remove the line and the record:"), back)
        yield Finding("op-unlike-record", "error", where, what, remedies, op_id)
        return
    if record.settings or record.verb == rules.VERB:
        if not proven_ops.only_notes_settings(record):
            what = f"{op.name} has a settings record that agentplane would never write"
            remedies = (Instruction("Remove the operation:"), back)
            yield Finding("op-settings-odd", "error", where, what, remedies, op_id)
        return
    if (record.verb, record.channel) == proven_ops.SETTLES:
        if complaint := settle.complaint(record, base, past):
            todo = Instruction("Remove the operation, then run `agentplane reconcile`:")
            yield Finding(
                "op-settled-otherwise", "error", where, f"{op.name} {complaint}", (todo, back), op_id
            )
        return
    is_open = proven_ops.only_proposes(record) or _relates_own(record, past) or _replaces_own(record, past)
    if complaint := None if is_open else _not_decided(record, base.settings, past, runs):
        todo = Instruction("Remove the operation, then repeat it in your own terminal:")
        yield Finding("op-not-decided", "error", where, f"{op.name} {complaint}", (todo, back), op_id)
    if complaint := recompute.complaint(op, done, past):
        todo = Instruction("Remove the operation, then repeat it with agentplane:")
        yield Finding("op-not-replayed", "error", where, f"{op.name} {complaint}", (todo, back), op_id)


def _relates_own(record: Record, past: Past) -> bool:
    """True if the operation only relates candidates to other entries, and its actor proposed these
    candidates.

    The exact changes are compared elsewhere, like the changes of any operation.
    """
    if record.verb != "relate" or not proven_ops.only_in_place(record):
        return False
    heads = [_head(record, change, change.before, past) for change in record.changes]
    return all(head is not None and head.proposed_by == record.actor for head in heads)


def _replaces_own(record: Record, past: Past) -> bool:
    """True if the operation only replaces candidates that its actor proposed and that a person sent back."""
    if not proven_ops.only_replaces(record):
        return False
    gone = [change for change in record.changes if change.left is None]
    heads = [_head(record, change, change.before, past) for change in gone]
    return all(
        head is not None and head.proposed_by == record.actor and head.sent_back is not None for head in heads
    )


def _not_decided(record: Record, settings: Settings, past: Past, runs: set[str]) -> str | None:
    """Return why neither a person nor the base's policy made the decision, or None if one of them did."""
    channel, open_to_tools = record.channel, settings.trust.tools_may_approve
    if channel == "policy":
        return _not_by_policy(record, settings, past, runs)
    if channel not in proven_ops.PERSONAL and not (open_to_tools and channel in ("cli", "api")):
        return f"was made through the channel `{shown(channel, 20)}`, which can't approve changes"
    if proven_ops.by_tool(record) and not open_to_tools:
        return f"was made by the tool {shown(record.actor, 40)} (started by {shown(record.program, 40)}), not by a person"
    return None


def _not_by_policy(record: Record, settings: Settings, past: Past, runs: set[str]) -> str | None:
    if record.verb == "adopt" and settings.trust.hand_edits == "accept":
        return (
            None
            if all(change.file != INBOX for change in record.changes)
            else "automatically accepts a manual edit in the inbox"
        )
    limit = settings.policy.auto_approve_confidence
    if record.verb not in ("approve", "merge") or limit is None:
        return "was made by a policy that isn't in the settings of the base commit"
    for change in record.changes:
        if change.file == INBOX and change.after is None:
            continue
        head = _head(record, change, change.left, past)
        sure = head is not None and head.type == "fact" and (head.confidence or 0) >= limit
        if head is None or not (sure and head.evidence and head.source in runs):
            return f"was approved automatically, but the policy in the base commit doesn't approve {shown(change.id, 40)}"
    return None


def _head(record: Record, change: Change, digest: str | None, past: Past) -> Header | None:
    """Return the header of a text that the operation found or left."""
    text = past.text(record.op, digest, change.file, change.id)
    block = past.block(text) if text else None
    return read_header(block.packed)[0] if block else None
