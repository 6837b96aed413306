"""Events that git knows and the log does not hold: taken out by a revert, or never brought along."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from agentplane.plane import git, records
from agentplane.plane import ledger as ledgers
from agentplane.plane.git import ObjectId
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import Ledger
from agentplane.text import chain, document, links


_LOG = "memory/log.jsonl"
_FEW = 30
_MANY = 300


class Lost(msgspec.Struct, frozen=True):
    """Whole lines, to be put back."""

    events: tuple[bytes, ...] = ()
    records: tuple[bytes, ...] = ()

    @property
    def ops(self) -> list[str]:
        return [event.op for line in self.events if (event := ledgers.op_event_of(line))]


class Standing(msgspec.Struct, frozen=True):
    """A text that stands in a file after an op took it out."""

    file: str
    id: str
    digest: str
    op: str


def brought_again(layout: Layout, standing: Sequence[Standing]) -> list[Standing]:
    """Those that stand there because the last merge took them from a side that did not know the op. Where a side knew it
    and held the text all the same, somebody wanted that.
    """
    sides = [(side, _blob(layout, side, _LOG)) for side in _merged(layout)] if standing else []
    if len(sides) < 2:
        return []
    found = []
    for one in standing:
        op = f'"op":"{one.op}"'.encode()
        knew = [side for side, log in sides if op in log]
        if knew and not any(_holds(layout, side, one) for side in knew):
            found.append(one)
    return found


def _merged(layout: Layout) -> list[ObjectId]:
    """The commits that the last merge brought together: that of the commit checked out, or one that waits to be committed.

    While git runs the hook after a merge, it looks like both.
    """
    parents, waits, head = (
        git.parents(layout.root),
        git.merging(layout.root),
        git.commit(layout.root, "HEAD"),
    )
    return parents if waits is None or waits in parents or head is None else [head, waits]


def _holds(layout: Layout, commit: ObjectId, one: Standing) -> bool:
    read = document.parse(_blob(layout, commit, one.file))
    block = read.find(one.id)
    return block is not None and block.digest == one.digest


def _blob(layout: Layout, commit: ObjectId, path: str) -> bytes:
    return git.blob_at(layout.root, commit, path) or b""


def lost(layout: Layout, ledger: Ledger, *, limit: int = _FEW) -> Lost:
    """What the last commits took out of the log; where its events name others that it does not hold, those."""
    here = {line for _, line in chain.lines(layout.log)}
    if not ledger.gaps:
        return _taken_out(layout, here, limit)
    found = _named(layout, ledger, here)
    ops = {event.op: commit for line, commit in found.items() if (event := ledgers.op_event_of(line))}
    return Lost(tuple(found), tuple(_records(layout, ops)))


def _taken_out(layout: Layout, here: set[bytes], limit: int) -> Lost:
    """Lines that a commit had no more and its parent had. Only what changed is read, however long the log is."""
    shown = git.changes(layout.root, (_LOG, "ops"), limit)
    removed = dict.fromkeys(line[1:] for line in shown.splitlines(keepends=True) if line.startswith(b"-{"))
    events = [line for line in removed if line not in here and links.is_intact(line)]
    ops = {event.op for line in events if (event := ledgers.op_event_of(line))}
    stored = [(line, found.record.op) for line in removed if (found := records.readable(line))]
    back = [line for line, op in stored if op in ops and records.find(layout, op) is None]
    return Lost(tuple(events), tuple(back))


def _named(layout: Layout, ledger: Ledger, here: set[bytes]) -> dict[bytes, ObjectId]:
    """The events that are missing, from any branch, and all that come before them."""
    known: dict[bytes, tuple[bytes, ObjectId]] = {}
    for commit in _commits(layout):
        known |= {_name(line): (line, commit) for line in _events(layout, commit)}
    have = {_name(line) for line in here if links.is_intact(line)}
    found: dict[bytes, ObjectId] = {}
    wanted = [bytes.fromhex(gap) for gap in ledger.gaps]
    while wanted:
        name = wanted.pop()
        if name in have or name not in known:
            continue
        have.add(name)
        line, commit = known[name]
        found[line] = commit
        wanted += links.parents_of(line)
    return found


def _name(line: bytes) -> bytes:
    return bytes.fromhex(links.stated_by(line).decode())


def _commits(layout: Layout) -> list[ObjectId]:
    return git.of_history(layout.root, _LOG, _MANY)


def _events(layout: Layout, commit: ObjectId) -> Iterator[bytes]:
    return (line for line in _blob(layout, commit, _LOG).splitlines(keepends=True) if links.is_intact(line))


def _records(layout: Layout, ops: Mapping[str, ObjectId]) -> Iterator[bytes]:
    for commit in dict.fromkeys(ops.values()):
        wanted = {op for op, at in ops.items() if at == commit and records.find(layout, op) is None}
        for name in sorted({records.month_file(layout, op).name for op in wanted}):
            for line in _blob(layout, commit, f"ops/{name}").splitlines(keepends=True):
                stored = records.readable(line)
                if stored and stored.record.op in wanted:
                    yield line
