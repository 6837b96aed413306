"""The check that a person confirmed each text with a flag of high severity that a branch approves."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from agentplane.findings import Finding, Shell
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.plane.store.records import Record
from agentplane.review.gate import gate, receipts


def findings(base: Side, now: Side, done: Sequence[LoggedOp]) -> Iterator[Finding]:
    fresh = _brought(base, done)
    if not fresh:
        return
    # The base's settings count, so that a branch can't turn a check off for itself.
    actions = msgspec.structs.asdict(base.settings.gate)
    for entry in now.memory.approved():
        record = fresh.get(entry.id)
        if record is None or entry.head.status != "accepted":
            continue
        flags = gate.high_flags(entry, actions)
        missing = [code for code in dict.fromkeys(f.code for f in flags) if code not in record.confirmed]
        if missing:
            name = shown(entry.id, 40)
            what = f"{name} was approved with flags that nobody confirmed: {', '.join(missing)}"
            remedies = (
                Shell(("agentplane", "show", name), "Read the entry with ", ". Then"),
                Shell(("agentplane", "edit", name), "change the entry with ", " or deprecate the entry."),
            )
            where = now.where(entry.file, entry.line)
            yield Finding("entry-unconfirmed", "error", where, what, remedies, entry.id)


def _brought(base: Side, done: Sequence[LoggedOp]) -> Mapping[str, Record]:
    """Return the last operation of this branch that wrote each entry, by the entry's current id.

    Manual edits that count immediately are left out, because no confirmation is requested for them.
    """
    found: dict[str, Record] = {}
    for op in done:
        record = op.record
        if record is None:
            continue
        brings = op.line not in base.lines and record.verb in receipts.BRINGING
        for change in record.changes:
            if not change.after:
                continue
            moved = found.get(change.was or "")
            if brings and record.channel == "policy" and record.verb == "adopt":
                found.pop(change.id, None)
            elif brings and (record.verb not in ("approve", "supersede") or change.was):
                found[change.id] = record
            elif moved:
                found[change.id] = moved
    return found
