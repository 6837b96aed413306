"""The report of base entries that the branch rewrote in a person's own words, for the reviewer to read.

A rewrite is allowed. The words that a person chose at a terminal can't be recomputed, so the finding names
the stated author. The reviewer then compares the old text with the new one.
"""

from collections.abc import Iterator, Sequence

from agentplane.findings import Finding, Instruction
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.memory.entry import Entry
from agentplane.plane.layout import INBOX


_OWN_WORDS = ("edit", "merge", "adopt", "merge-entries", "split-entry")
"""The verbs that bring a person's own text."""
_WIDTH = 100


def findings(base: Side, now: Side, done: Sequence[LoggedOp]) -> Iterator[Finding]:
    last: dict[str, LoggedOp] = {}
    for op in done:
        if op.line not in base.lines and op.record and op.record.verb in _OWN_WORDS:
            last |= {change.id: op for change in op.changes if change.before != change.after}
    for id_, op in last.items():
        old, new = base.ledger.known.get(id_), now.ledger.known.get(id_)
        was_there = old is not None and old.digest is not None and old.file != INBOX
        if was_there and new is not None and new.digest != old.digest:  # type: ignore[union-attr]
            yield _finding(id_, op, base, now)


def _finding(id_: str, op: LoggedOp, base: Side, now: Side) -> Finding:
    one, other = base.memory.entries.get(id_), now.memory.entries.get(id_)
    where = now.where(other.file, other.line) if other else now.where(op.changes[0].file)
    what = (
        f"{shown(id_, 40)} was rewritten by {shown(op.event.actor, 40)} ({shown(op.event.verb, 20)} through "
        f"{shown(op.event.channel, 20)}): {_quoted(one)} is now {_quoted_successors(id_, op, now) or _quoted(other)}"
    )
    todo = "Compare the two versions. Unless approvals are signed, nothing proves that this person made the change."
    return Finding("entry-rewritten", "info", where, what, (Instruction(todo),), id_)


def _quoted_successors(id_: str, op: LoggedOp, now: Side) -> str:
    """Return the statements of the entries that superseded an entry in the operation, or an empty text."""
    others = {change.id for change in op.changes} - {id_}
    entry = now.memory.entries.get(id_)
    links = [link for link in entry.head.superseded_by if link in others] if entry else []
    return " and ".join(_quoted(now.memory.entries.get(link)) for link in links)


def _quoted(entry: Entry | None) -> str:
    return f'"{shown(entry.statement, _WIDTH)}"' if entry else "gone"
