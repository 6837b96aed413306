"""The check that no entry is lost after two branches gave the same id to two entries."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from agentplane.findings import Finding, Instruction
from agentplane.guard.history import Past
from agentplane.guard.plane_at_commit import LOG, Side, shown
from agentplane.guard.proven_ops import Deed
from agentplane.plane.layout import INBOX
from agentplane.plane.store.records import Change
from agentplane.text.log import event_line
from agentplane.text.markdown import document


class _Given(msgspec.Struct, frozen=True):
    """An operation that approves an entry under a new id."""

    deed: Deed
    change: Change


def findings(base: Side, now: Side, done: Sequence[Deed], past: Past) -> Iterator[Finding]:
    parents: dict[bytes, tuple[bytes, ...]] = {}
    for id_, given in _given(done).items():
        for one, other in combinations(given, 2):
            fresh = [deed for deed in (one.deed, other.deed) if deed.line not in base.lines]
            if not fresh or one.change.after == other.change.after:
                continue
            parents = parents or _parents(now)
            if _apart(one.deed, other.deed, parents) and not _settled(
                id_, one, other, done, now, past, parents
            ):
                yield _finding(id_, one, other, fresh[-1], now)


def _given(done: Sequence[Deed]) -> dict[str, list[_Given]]:
    found: dict[str, list[_Given]] = defaultdict(list)
    for deed in done:
        for change in deed.changes:
            new = change.before is None and change.after is not None and change.file != INBOX
            if new and deed.record and deed.record.undoes is None:
                found[change.id].append(_Given(deed, change))
    return {id_: given for id_, given in found.items() if len(given) > 1}


def _parents(now: Side) -> dict[bytes, tuple[bytes, ...]]:
    return {_hash(line): event_line.parents_of(line) for line in now.log if event_line.is_intact(line)}


def _hash(line: bytes) -> bytes:
    return bytes.fromhex(event_line.stated_by(line).decode())


def _above(deed: Deed, parents: Mapping[bytes, tuple[bytes, ...]]) -> set[bytes]:
    """Return the hashes of all ancestors of an operation's event, including the event."""
    seen: set[bytes] = set()
    todo = [_hash(deed.line)]
    while todo:
        event = todo.pop()
        if event not in seen:
            seen.add(event)
            todo += parents.get(event, ())
    return seen


def _apart(one: Deed, other: Deed, parents: Mapping[bytes, tuple[bytes, ...]]) -> bool:
    """True if neither operation knew the other."""
    if not (event_line.is_intact(one.line) and event_line.is_intact(other.line)):
        return False
    return _hash(one.line) not in _above(other, parents) and _hash(other.line) not in _above(one, parents)


def _settled(
    id_: str,
    one: _Given,
    other: _Given,
    done: Sequence[Deed],
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
    both = {_hash(one.deed.line), _hash(other.deed.line)}
    last: dict[bytes, Change] = {}
    for deed in done:
        changes = [change for change in deed.changes if id_ in (change.id, change.was)]
        known = both & _above(deed, parents) if changes and event_line.is_intact(deed.line) else set()
        if known == both or (known and any(change.was == id_ for change in changes)):
            return True
        last |= {event: change for event in known for change in changes}
    if any(change.after is None for change in last.values()):
        return True
    bodies = {page.document.body(block) for page in now.pages.values() for block in page.document.blocks}
    return all(_body(given, past) in bodies for given in (one, other))


def _body(given: _Given, past: Past) -> str | None:
    text = past.text(given.deed.said.op, given.change.left, given.change.file, given.change.id)
    read = document.parse(text) if text else None
    return read.body(read.blocks[0]) if read and len(read.blocks) == 1 else None


def _finding(id_: str, one: _Given, other: _Given, fresh: Deed, now: Side) -> Finding:
    page = now.pages.get(one.change.file)
    block = page.document.find(id_) if page else None
    where = now.where(one.change.file, block.line) if block else now.where(LOG, fresh.number)
    name = shown(id_, 40)
    what = (
        f"two branches gave {name} to different entries ({one.deed.name}; {other.deed.name}), and one is lost"
    )
    remedy = Instruction(
        "take the other text back from its branch, give it a free id, and `agentplane adopt` it."
    )
    return Finding("id-given-twice", "error", where, what, (remedy,), id_)
