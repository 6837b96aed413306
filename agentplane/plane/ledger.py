"""What the log and the op records say, summed up: which text of each id is approved, and the ops in order.

Derived; kept in cache/ and carried on from where it ended, as long as the log still holds that place.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping

import msgspec

from agentplane.plane import cache, records
from agentplane.plane.layout import INBOX, Layout
from agentplane.text import canonical, chain


VERSION = 4
REVISION_LENGTH = 8
_ID_DIGITS = 10
_KEPT = "ledger.mp"

_PREV = re.compile(rb'[{,]"hash_prev":"([0-9a-f]{64})"')


class Known(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the last op left of an id; no digest: it is gone."""

    digest: str | None
    file: str
    op: str


class OpNote(msgspec.Struct, frozen=True, array_like=True, gc=False):
    op: str
    ts: str
    verb: str
    actor: str
    undoes: str | None


class Output(msgspec.Struct, frozen=True, gc=False):
    """A file that a run produced."""

    path: str
    sha256: str
    run: str


class OpEvent(msgspec.Struct, frozen=True):
    kind: str
    op: str = ""
    op_sha256: str = ""
    heads: list[str] = []


class _RunOutput(msgspec.Struct, frozen=True):
    path: str
    sha256: str = ""
    tracked: bool | None = None


class RunEvent(msgspec.Struct, frozen=True):
    kind: str
    run_id: str = ""
    task: str | None = None
    outputs: list[_RunOutput] = []


class Ledger(msgspec.Struct, frozen=True):
    """Never changed in place; `advance` makes the next one."""

    size: int = 0
    """How many bytes of the log are summed up."""
    head: str | None = None
    """The hash of the last line within `size`."""
    heads: list[str] = []
    """Events that no other event follows; more than one after a merge of two branches."""
    known: dict[str, Known] = {}
    ops: list[OpNote] = []
    outputs: dict[str, dict[str, Output]] = {}
    tops: dict[str, int] = {}
    """The highest number that a durable id of each prefix ever had; ids are never used twice."""
    pruned: list[str] = []
    """Digests whose texts are to be in no record."""
    unproved: list[str] = []
    """Ops whose record is missing or was changed; they count for nothing."""
    shelf: str | None = None
    """The short hash of all trusted entries together; None where nobody worked it out."""
    version: int = VERSION

    @property
    def last_op(self) -> str | None:
        return self.ops[-1].op if self.ops else None

    def roots(self) -> dict[str, OpNote]:
        """The op that each chain of undo and redo began with; an op itself where it is neither."""
        roots: dict[str, OpNote] = {}
        for note in self.ops:
            roots[note.op] = roots.get(note.undoes, note) if note.undoes else note
        return roots

    def revision(self) -> str:
        """The short hash of all trusted entries together."""
        return self.shelf or revision_of(self.known)


def revision_of(known: dict[str, Known]) -> str:
    shelf = sorted((id_, mark.digest) for id_, mark in known.items() if mark.digest and mark.file != INBOX)
    text = "".join(f"{id_} {digest}\n" for id_, digest in shelf)
    return hashlib.sha256(text.encode()).hexdigest()[:REVISION_LENGTH]


def raise_tops(tops: dict[str, int], ids: Iterable[str]) -> None:
    for id_ in ids:
        prefix, _, number = id_.rpartition("-")
        if number.isdecimal() and number.isascii() and len(number) < _ID_DIGITS:
            tops[prefix] = max(tops.get(prefix, 0), int(number))


def take_in(known: dict[str, Known], record: records.Record) -> None:
    """What a record leaves of its ids. An id whose approved text it did not change keeps its mark."""
    for change in record.changes:
        stands_here = change.left is not None and change.left == change.after
        if change.before != change.after or stands_here:
            known[change.id] = Known(change.after, change.file, record.op)


_op_event = msgspec.json.Decoder(OpEvent)
_run_event = msgspec.json.Decoder(RunEvent)
_codec = msgspec.msgpack.Decoder(Ledger)


def read(layout: Layout) -> Ledger:
    """The ledger up to the end of the log. What is new in it is kept for the next time."""
    kept = _kept(layout)
    if kept.unproved:
        # A record that was missing may have come since; nothing is built on top of its absence.
        kept = Ledger()
    ledger = advance(kept, layout)
    if ledger.size != kept.size:
        keep(layout, ledger)
    return ledger


def keep(layout: Layout, ledger: Ledger) -> None:
    cache.save(layout, _KEPT, msgspec.msgpack.encode(ledger))


def _kept(layout: Layout) -> Ledger:
    data = cache.load(layout, _KEPT)
    try:
        ledger = _codec.decode(data) if data else Ledger()
    except msgspec.MsgspecError:
        return Ledger()
    if ledger.version != VERSION or not _still_there(layout, ledger):
        return Ledger()
    return ledger


def _still_there(layout: Layout, ledger: Ledger) -> bool:
    """Whether the log still has the line that the ledger ended with, in the same place."""
    if ledger.head is None:
        return ledger.size == 0
    ending = f'"hash_self":"{ledger.head}"}}\n'.encode()
    try:
        with layout.log.open("rb") as file:
            file.seek(max(0, ledger.size - len(ending)))
            return file.read(len(ending)) == ending
    except OSError:
        return False


def advance(ledger: Ledger, layout: Layout) -> Ledger:
    """The ledger with the events that the log has beyond it."""
    if not layout.log.exists():
        return Ledger()
    sums = _Sums(ledger, layout, records.by_op(layout) if ledger.size == 0 else None)
    size, head = ledger.size, ledger.head
    for offset, line in chain.lines(layout.log, ledger.size):
        sums.add(line)
        size, head = offset + len(line), chain.hash_of(line)
    return ledger if head is None or size == ledger.size else sums.done(size, head)


def as_of(layout: Layout, size: int) -> Ledger:
    """The ledger as it was when the log was so many bytes long."""
    lines = (line for offset, line in chain.lines(layout.log) if offset + len(line) <= size)
    return summed(lines, records.by_op(layout))


def summed(log: Iterable[bytes], heads: Mapping[str, bytes]) -> Ledger:
    """The ledger of a log that is no file, as one of another commit; `heads` are those of its records by op."""
    sums = _Sums(Ledger(), None, heads)
    size, head = 0, None
    for line in log:
        sums.add(line)
        size, head = size + len(line), chain.hash_of(line)
    return sums.done(size, head) if head else Ledger()


def _event_of(line: bytes) -> OpEvent | None:
    try:
        return _op_event.decode(line)
    except (RecursionError, msgspec.MsgspecError):
        return None


class _Sums:
    """Adds event after event. Not frozen; lives only inside `advance`."""

    def __init__(self, ledger: Ledger, layout: Layout | None, heads: Mapping[str, bytes] | None) -> None:
        self.layout = layout
        self.record_heads = heads
        self.known = dict(ledger.known)
        self.ops = list(ledger.ops)
        self.outputs = dict(ledger.outputs)
        self.tops = dict(ledger.tops)
        self.pruned = list(ledger.pruned)
        self.seen = {*(note.op for note in ledger.ops), *ledger.unproved}
        self.heads = dict.fromkeys(ledger.heads)
        self.unproved = list(ledger.unproved)
        self.shelf = ledger.shelf

    def add(self, line: bytes) -> None:
        event = _event_of(line) if b'"kind":"op"' in line or b'"kind":"merge"' in line else None
        if event and event.kind == "op":
            if event.op in self.seen:
                return  # a line that a merge of branches left twice
            self.seen.add(event.op)
        self._move_heads(line, event)
        if event and event.kind == "op":
            self._add_op(event)
        elif b'"outputs":[{' in line:
            self._add_outputs(line)

    def _move_heads(self, line: bytes, event: OpEvent | None) -> None:
        if found := _PREV.search(line):
            self.heads.pop(found[1].decode(), None)
        for head in event.heads if event and event.kind == "merge" else ():
            self.heads.pop(head, None)
        self.heads[chain.hash_of(line)] = None

    def done(self, size: int, head: str) -> Ledger:
        return Ledger(
            size=size,
            head=head,
            heads=list(self.heads),
            known=self.known,
            ops=self.ops,
            outputs=self.outputs,
            tops=self.tops,
            pruned=self.pruned,
            unproved=self.unproved,
            shelf=self.shelf or revision_of(self.known),
        )

    def _add_op(self, event: OpEvent) -> None:
        record = self._proved_record(event)
        if record is None:
            self.unproved.append(event.op)
            return
        self.ops.append(OpNote(record.op, record.ts, record.verb, record.actor, record.undoes))
        self.pruned += record.prunes
        take_in(self.known, record)
        self.shelf = None
        raise_tops(self.tops, (change.id for change in record.changes))

    def _proved_record(self, event: OpEvent) -> records.Record | None:
        # An op may have been committed after the heads were gathered.
        head = (self.record_heads or {}).get(event.op) or self._head_of(event.op)
        if head is None or canonical.sha256(head) != event.op_sha256:
            return None
        try:
            record = records.read_head(head)
        except (RecursionError, msgspec.MsgspecError):
            return None
        return record if record.op == event.op else None

    def _head_of(self, op: str) -> bytes | None:
        line = records.find(self.layout, op) if self.layout else None
        return None if line is None else records.head_of(line)

    def _add_outputs(self, line: bytes) -> None:
        try:
            event = _run_event.decode(line)
        except (RecursionError, msgspec.MsgspecError):
            return
        if event.kind != "run":
            return
        task = event.task or ""
        outputs = dict(self.outputs.get(task, {}))
        for output in event.outputs:
            if output.sha256 and output.tracked is not False:
                outputs[output.path] = Output(output.path, output.sha256, event.run_id)
        self.outputs[task] = outputs
