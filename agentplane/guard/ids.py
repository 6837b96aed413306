"""The check that no entry is lost after two branches gave the same id to two entries."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from agentplane.findings import Finding, Instruction
from agentplane.guard.history import Past
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.plane.layout import INBOX, LOG
from agentplane.plane.store.records import Change
from agentplane.text.log import event_line
from agentplane.text.markdown import document


class _Assignment(msgspec.Struct, frozen=True):
    """An operation that approves an entry under a new id."""

    op: LoggedOp
    change: Change


def findings(base: Side, now: Side, done: Sequence[LoggedOp], past: Past) -> Iterator[Finding]:
    parents: dict[bytes, tuple[bytes, ...]] = {}
    for id_, assigned in _assignments(done).items():
        for one, other in combinations(assigned, 2):
            fresh = [op for op in (one.op, other.op) if op.line not in base.lines]
            if not fresh or one.change.after == other.change.after:
                continue
            parents = parents or _parents(now)
            if _apart(one.op, other.op, parents) and not _settled(id_, one, other, done, now, past, parents):
                yield _finding(id_, one, other, fresh[-1], now)


def _assignments(done: Sequence[LoggedOp]) -> dict[str, list[_Assignment]]:
    found: dict[str, list[_Assignment]] = defaultdict(list)
    for op in done:
        for change in op.changes:
            new = change.before is None and change.after is not None and change.file != INBOX
            if new and op.record and op.record.undoes is None:
                found[change.id].append(_Assignment(op, change))
    return {id_: assigned for id_, assigned in found.items() if len(assigned) > 1}


def _parents(now: Side) -> dict[bytes, tuple[bytes, ...]]:
    return {
        event_line.digest_of(line): event_line.parents_of(line)
        for line in now.log
        if event_line.is_intact(line)
    }


def _above(op: LoggedOp, parents: Mapping[bytes, tuple[bytes, ...]]) -> set[bytes]:
    """Return the hashes of all ancestors of an operation's event, including the event."""
    seen: set[bytes] = set()
    todo = [event_line.digest_of(op.line)]
    while todo:
        event = todo.pop()
        if event not in seen:
            seen.add(event)
            todo += parents.get(event, ())
    return seen


def _apart(one: LoggedOp, other: LoggedOp, parents: Mapping[bytes, tuple[bytes, ...]]) -> bool:
    """True if neither operation knew the other."""
    if not (event_line.is_intact(one.line) and event_line.is_intact(other.line)):
        return False
    return event_line.digest_of(one.line) not in _above(other, parents) and event_line.digest_of(
        other.line
    ) not in _above(one, parents)


def _settled(
    id_: str,
    one: _Assignment,
    other: _Assignment,
    done: Sequence[LoggedOp],
    now: Side,
    past: Past,
    parents: Mapping[bytes, tuple[bytes, ...]],
) -> bool:
    """True if neither entry is lost.

    Any of these facts proves it:

    - A later operation that knew both entries decided about the id.
    - Before they met, one branch removed its entry, or gave it another id to settle with a third branch.
    - Both texts are present under different ids.
    """
    both = {event_line.digest_of(one.op.line), event_line.digest_of(other.op.line)}
    last: dict[bytes, Change] = {}
    for op in done:
        changes = [change for change in op.changes if id_ in (change.id, change.was)]
        known = both & _above(op, parents) if changes and event_line.is_intact(op.line) else set()
        if known == both or (known and any(change.was == id_ for change in changes)):
            return True
        last |= {event: change for event in known for change in changes}
    if any(change.after is None for change in last.values()):
        return True
    bodies = {page.document.body(block) for page in now.pages.values() for block in page.document.blocks}
    return all(_body(assigned, past) in bodies for assigned in (one, other))


def _body(assigned: _Assignment, past: Past) -> str | None:
    text = past.text(assigned.op.event.op, assigned.change.left, assigned.change.file, assigned.change.id)
    read = document.parse(text) if text else None
    return read.body(read.blocks[0]) if read and len(read.blocks) == 1 else None


def _finding(id_: str, one: _Assignment, other: _Assignment, fresh: LoggedOp, now: Side) -> Finding:
    page = now.pages.get(one.change.file)
    block = page.document.find(id_) if page else None
    where = now.where(one.change.file, block.line) if block else now.where(LOG, fresh.number)
    name = shown(id_, 40)
    what = f"two branches used {name} for different entries ({one.op.name}; {other.op.name}), and one of the entries is missing"
    remedy = Instruction(
        "Restore the missing entry from its branch, give it an unused ID, and accept it with `agentplane approve`."
    )
    return Finding("id-given-twice", "error", where, what, (remedy,), id_)
