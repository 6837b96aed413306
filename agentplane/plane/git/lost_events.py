"""Events that Git knows but the log lacks, because a commit removed them or they never arrived."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from agentplane.plane.git import git
from agentplane.plane.git.git import ObjectId
from agentplane.plane.layout import LOG, Layout
from agentplane.plane.ledger import log_events
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.store import records
from agentplane.text.log import chain, event_line
from agentplane.text.markdown import document


_COMMIT = b"\0commit "
_FEW = 30
_MANY = 300


class Lost(msgspec.Struct, frozen=True):
    """Whole lines to restore."""

    events: tuple[bytes, ...] = ()
    records: tuple[bytes, ...] = ()


class RemovingCommit(msgspec.Struct, frozen=True):
    """A commit that took events out of the log."""

    commit: str
    """The commit's short name."""
    subject: str
    is_merge: bool
    events: tuple[bytes, ...]
    """Lines of the removed events."""


class Standing(msgspec.Struct, frozen=True):
    """A text that is still in a file although an operation removed it."""

    file: str
    id: str
    digest: str
    op: str


def brought_again(layout: Layout, standing: Sequence[Standing]) -> list[Standing]:
    """Return the texts that the last merge took from a side that did not know the operation.

    If a side knew the operation and still has the text, somebody put the text there deliberately.
    """
    sides = [(side, _blob(layout, side, LOG)) for side in _merged(layout)] if standing else []
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
    """Return the sides of the last merge, which is either committed or still waits for its commit.

    While Git runs the hook after a merge, both seem to be true.
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


def missing(layout: Layout, ledger: Ledger) -> Lost:
    """Return the events that the log names but lacks, and all events before them, from any branch."""
    found = _named(layout, ledger)
    ops = {event.op: found[line] for line, event in log_events.iterate(found, kind=log_events.OP)}
    return Lost(tuple(found), tuple(_records(layout, ops)))


def removing_commits(layout: Layout) -> list[RemovingCommit]:
    """Return the last commits after which the log lacks events that it had before, newest first."""
    here = {line for _, line in chain.lines(layout.log)}
    found: dict[str, RemovingCommit] = {}
    for part in git.changes(layout.root, LOG, _FEW).split(_COMMIT)[1:]:
        heading, *lines = part.splitlines(keepends=True)
        commit, parents, subject = heading.decode(errors="replace").rstrip("\n").split("\x1f")
        removed = (line[1:] for line in lines if line.startswith(b"-{"))
        gone = tuple(line for line in removed if line not in here and event_line.is_intact(line))
        here.update(gone)  # don't report an earlier commit that also removed them
        if gone:
            before = found.get(commit)
            events = (before.events if before else ()) + gone
            found[commit] = RemovingCommit(commit, subject, " " in parents, events)
    return list(found.values())


def _named(layout: Layout, ledger: Ledger) -> dict[bytes, ObjectId]:
    """Return the lost events, each with a commit that has it."""
    known: dict[bytes, tuple[bytes, ObjectId]] = {}
    for commit in git.of_history(layout.root, LOG, _MANY):
        known |= {event_line.digest_of(line): (line, commit) for line in _events(layout, commit)}
    have = {event_line.digest_of(line) for _, line in chain.lines(layout.log) if event_line.is_intact(line)}
    found: dict[bytes, ObjectId] = {}
    wanted = [bytes.fromhex(gap) for gap in ledger.gaps]
    while wanted:
        name = wanted.pop()
        if name in have or name not in known:
            continue
        have.add(name)
        line, commit = known[name]
        found[line] = commit
        wanted += event_line.parents_of(line)
    return found


def _events(layout: Layout, commit: ObjectId) -> Iterator[bytes]:
    return (
        line for line in _blob(layout, commit, LOG).splitlines(keepends=True) if event_line.is_intact(line)
    )


def _records(layout: Layout, ops: Mapping[str, ObjectId]) -> Iterator[bytes]:
    for commit in dict.fromkeys(ops.values()):
        wanted = {op for op, at in ops.items() if at == commit and records.find(layout, op) is None}
        for name in sorted({records.month_file(layout, op).name for op in wanted}):
            for line in _blob(layout, commit, f"ops/{name}").splitlines(keepends=True):
                stored = records.readable(line)
                if stored and stored.record.op in wanted:
                    yield line
