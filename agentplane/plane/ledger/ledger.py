"""A summary of the log and the operation records, with approved texts by id and the operations in order.

It is derived and stored in cache/. It is continued from its last position, as long as the log still has that
position.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain as joined
from math import inf

import msgspec

from agentplane.plane.derived import cache, server_memory
from agentplane.plane.layout import INBOX, Layout
from agentplane.plane.ledger import event_graph, log_events, text_versions
from agentplane.plane.ledger.event_graph import EventGraph
from agentplane.plane.ledger.text_versions import Version
from agentplane.plane.store import records
from agentplane.plane.trust import rules
from agentplane.plane.views import external_ids
from agentplane.text.json import canonical, decode
from agentplane.text.log import chain, event_line, times


REVISION_LENGTH = 8
_ID_DIGITS = 10
_EVENT = 512
"""Typical size of an event in bytes."""
_GENESIS = bytes(32)
_FACTS, _NO_FACTS = b'"derived_facts":[', b'"derived_facts":[]'
KEPT = cache.CacheFile("ledger.mp", "11")


class Known(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The state in which the last operation left an id. Without a digest, the id has no approved text."""

    digest: str | None
    file: str
    op: str


class OpNote(msgspec.Struct, frozen=True, array_like=True, gc=False):
    op: str
    ts: str
    verb: str
    actor: str
    undoes: str | None
    rejects: bool = False
    """True if the approval also rejects a candidate."""


class Output(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One version of a file, and the run that produced it."""

    path: str
    sha256: str
    run_id: str
    at: float = 0.0
    """Time of the run, in a ledger. A run that was logged later but happened earlier doesn't replace it."""


class Ledger(msgspec.Struct, frozen=True):
    """The summary of a log up to a certain size. `advance` returns a new ledger for a longer log."""

    size: int = 0
    """Number of bytes of the log that are included."""
    head: str | None = None
    """The hash of the last line within `size`."""
    heads: list[str] = []
    """Events that no other event follows. There are several after a merge of two branches."""
    known: dict[str, Known] = {}
    ops: list[OpNote] = []
    outputs: dict[str, dict[str, Output]] = {}
    latest: float = -inf
    """The latest time of an output."""
    produced: tuple[int, str] = (0, "")
    """Number of events with files that count, and the hash of the last one. artifacts.json stores both."""
    tops: dict[str, int] = {}
    """The highest number that a durable id of each prefix ever had. Ids are never used twice."""
    pruned: list[str] = []
    """Digests whose texts must not be in any record."""
    unproved: list[str] = []
    """Operations whose record is missing or was changed. They have no effect."""
    shelf: str | None = None
    """The short hash of all trusted entries together, or None if it wasn't calculated."""
    met: dict[str, list[Known]] = {}
    """Other states of an id after branches met. The one in `known` counts until an operation settles them."""
    tangled: bool = False
    """True if the log has lines twice, or in an order that another clone would not have."""
    gaps: list[str] = []
    """Events that the log names but lacks."""
    named: dict[str, str] = {}
    """Ids of facts among the derived facts of runs, each with the first run that names it."""
    settings: dict[str, str] = {}
    """The watched trust settings that differ from their defaults, from the last `settings` operation."""

    @property
    def unsettled(self) -> bool:
        """True if branches meet here and no operation has settled them."""
        return len(self.heads) > 1 or self.tangled or bool(self.met)

    @property
    def last_op(self) -> str | None:
        return self.ops[-1].op if self.ops else None

    def roots(self) -> dict[str, OpNote]:
        """Return the operation that began each chain of undo and redo. Any other operation is its own root."""
        roots: dict[str, OpNote] = {}
        for note in self.ops:
            roots[note.op] = roots.get(note.undoes, note) if note.undoes else note
        return roots

    def revision(self) -> str:
        """Return the short hash of all trusted entries together."""
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


def counts(change: records.Change) -> bool:
    """True if a change approves a text or removes an approved one."""
    stands_here = change.left is not None and change.left == change.after
    return change.before != change.after or stands_here


def touches_shelf(known: Mapping[str, Known], record: records.Record) -> bool:
    """True if a record can change which texts are trusted. A record that only adds candidates can't."""
    return any(
        change.file != INBOX or (change.id in known and known[change.id].file != INBOX)
        for change in record.changes
        if counts(change)
    )


def take_in(known: dict[str, Known], record: records.Record) -> None:
    """Update the states of the record's ids. An id whose approved text did not change keeps its state."""
    for change in record.changes:
        if counts(change):
            known[change.id] = Known(change.after, change.file, record.op)


def revision_after(ledger: Ledger, record: records.Record) -> str:
    """Return the revision that results from a record."""
    if not touches_shelf(ledger.known, record):
        return ledger.revision()
    known = dict(ledger.known)
    take_in(known, record)
    return revision_of(known)


_codec = decode.Pack(Ledger)


def read(layout: Layout) -> Ledger:
    """Return the ledger up to the end of the log. Cache new parts of it."""
    kept: Ledger = server_memory.get(layout, KEPT.name) or _kept(layout)
    if not _still_there(layout, kept):
        kept = _kept(layout)
    if kept.unproved:
        # A missing record may have arrived since, so nothing is built on its absence.
        kept = Ledger()
    ledger = advance(kept, layout)
    if ledger.size != kept.size:
        keep(layout, ledger)
    server_memory.put(layout, KEPT.name, ledger)
    return ledger


def keep(layout: Layout, ledger: Ledger) -> None:
    """Keep the ledger for the next process.

    A process that has it in memory rarely writes it. Readers continue from the cached ledger.
    """
    written: _Written | None = server_memory.get(layout, _WRITTEN)
    server_memory.put(layout, KEPT.name, ledger)
    if written is None or written.lags(layout, ledger):
        data = msgspec.msgpack.encode(ledger)
        cache.save(layout, KEPT, data)
        server_memory.put(layout, _WRITTEN, _Written(ledger.size, ledger.head, len(data)))


_WRITTEN = "ledger written"


class _Written(msgspec.Struct, frozen=True):
    """The ledger that is on disk."""

    size: int
    """See `Ledger`."""
    head: str | None
    length: int
    """Length in bytes."""

    def lags(self, layout: Layout, ledger: Ledger) -> bool:
        new = (ledger.size - self.size) // _EVENT
        return server_memory.is_due(new, self.length // _EVENT) or not _still_there(layout, self)


def _kept(layout: Layout) -> Ledger:
    data = cache.load(layout, KEPT)
    try:
        ledger = _codec.decode(data) if data else Ledger()
    except msgspec.MsgspecError:
        return Ledger()
    if not _still_there(layout, ledger):
        return Ledger()
    if data and server_memory.is_on():
        _share(ledger.known.values())
        server_memory.put(layout, _WRITTEN, _Written(ledger.size, ledger.head, len(data)))
    return ledger


def _share(known: Iterable[Known]) -> None:
    """Make states of the same operation or file share one string, to save memory."""
    names: dict[str, str] = {}
    for mark in known:
        msgspec.structs.force_setattr(mark, "op", names.setdefault(mark.op, mark.op))
        msgspec.structs.force_setattr(mark, "file", names.setdefault(mark.file, mark.file))


def from_cache(layout: Layout) -> Ledger | None:
    """Return the cached ledger, advanced to the end of the log. None if `read` would start from scratch."""
    kept = _kept(layout)
    return None if kept.size == 0 or kept.unproved else advance(kept, layout)


def differing(one: Ledger, other: Ledger) -> list[str]:
    """Return the names of the parts in which two ledgers of one log differ."""
    same = ("known", "met", "ops", "outputs", "produced", "named", "tops", "settings")
    found = [name for name in same if getattr(one, name) != getattr(other, name)]
    listed = ("pruned", "unproved", "gaps", "heads")
    return found + [name for name in listed if set(getattr(one, name)) != set(getattr(other, name))]


def _still_there(layout: Layout, ledger: "Ledger | _Written") -> bool:
    """True if the log still has the ledger's last line in the same place."""
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
    """Return the ledger with the later events of the log."""
    if not layout.log.exists():
        return Ledger()
    lines = chain.lines(layout.log, ledger.size)
    first = next(lines, None)
    if first is None:
        return ledger
    sums = _Sums(ledger, layout, records.by_hash(layout) if ledger.size == 0 else None)
    size, head = ledger.size, ledger.head
    for offset, line in joined([first], lines):
        if not sums.follows(line):
            return braided(layout)[0]
        sums.add(line)
        size, head = offset + len(line), chain.hash_of(line)
    if sums.again:
        return advance(Ledger(), layout)
    return ledger if head is None else sums.done(size, head)


def as_of(layout: Layout, size: int) -> Ledger:
    """Return the ledger at the time when the log had `size` bytes."""
    lines = (line for offset, line in chain.lines(layout.log) if offset + len(line) <= size)
    return summed(lines, records.by_hash(layout))


def summed(log: Iterable[bytes], heads: Mapping[str, bytes]) -> Ledger:
    """Return the ledger of a log that is not a file, for example of another commit.

    `heads` are its records' heads by hash.
    """
    lines = list(log)
    sums = _Sums(Ledger(), None, heads)
    for line in lines:
        if not sums.follows(line):
            return _braid(lines, None, heads)[0]
        sums.add(line)
    return sums.done(sum(map(len, lines)), chain.hash_of(lines[-1])) if lines else Ledger()


def braided(layout: Layout) -> tuple[Ledger, EventGraph, dict[str, list[Version]]]:
    """Return the ledger of a log whose history has branches, with the graph and the versions behind it."""
    return _braid([line for _, line in chain.lines(layout.log)], layout, records.by_hash(layout))


def braided_from(
    log: Iterable[bytes], heads: Mapping[str, bytes]
) -> tuple[Ledger, EventGraph, dict[str, list[Version]]]:
    """Return the same as `braided` for a log that is not a file."""
    return _braid(list(log), None, heads)


def _braid(
    lines: Sequence[bytes], layout: Layout | None, heads: Mapping[str, bytes]
) -> tuple[Ledger, EventGraph, dict[str, list[Version]]]:
    graph = event_graph.of(lines)
    sums = _BranchedSums(layout, heads, graph)
    for place, line in enumerate(graph.lines):
        sums.place = place
        sums.add(line)
    head = chain.hash_of(lines[-1]) if lines else chain.GENESIS
    return sums.done(sum(map(len, lines)), head), graph, sums.versions


def _named(head: str) -> bytes:
    """Return the text by which a line names a single previous event.

    Inside a text, its quotes would be escaped.
    """
    return b'"hash_prev":"' + head.encode() + b'"'


class _Sums:
    """A mutable sum of events. It exists only inside `advance`."""

    def __init__(self, ledger: Ledger, layout: Layout | None, heads: Mapping[str, bytes] | None) -> None:
        self.layout = layout
        self.record_heads = heads
        self.known = dict(ledger.known)
        self.ops = list(ledger.ops)
        self.outputs = dict(ledger.outputs)
        self.latest = ledger.latest
        self.produced = ledger.produced
        self.named = dict(ledger.named)
        self.tops = dict(ledger.tops)
        self.pruned = list(ledger.pruned)
        self.before = {*(note.op for note in ledger.ops), *ledger.unproved}
        self.again = False
        """True if an operation has another event that is already included. Then both must be read."""
        self.seen: set[tuple[str, str]] = set()
        self.heads = ledger.heads
        self.want = _named(ledger.heads[0]) if len(ledger.heads) == 1 else None
        self.unproved = list(ledger.unproved)
        self.shelf = ledger.shelf
        self.ledger = ledger
        self.met = dict(ledger.met)
        self.settings = ledger.settings

    def follows(self, line: bytes) -> bool:
        """True if this event's history includes all earlier events. Then no other branch can meet it."""
        if self.want and self.want in line and not event_line.is_merge(line):
            return True
        parents = event_line.parents_of(line)
        heads = [bytes.fromhex(head) for head in self.heads]
        return set(parents) == set(heads) if heads else parents == (_GENESIS,)

    def add(self, line: bytes) -> None:
        event = log_events.OP.read(line)
        head = chain.hash_of(line)
        self.heads, self.want = [head], _named(head)
        when = times.of(line)
        if when.stamp is not None and when.stamp < self.latest:
            self._limit_outputs(when.stamp)
        if event:
            # A repeated event counts once. Another operation with the same id doesn't affect the first one.
            if (event.op, event.op_sha256) not in self.seen:
                self.seen.add((event.op, event.op_sha256))
                self.again = self.again or event.op in self.before
                self._add_op(event)
        elif b'"outputs":[{' in line or (_FACTS in line and _NO_FACTS not in line):
            self._add_run(line, when.moment)

    def done(self, size: int, head: str) -> Ledger:
        return Ledger(
            size=size,
            head=head,
            heads=sorted(self.heads),
            known=self.known,
            ops=self.ops,
            outputs=self.outputs,
            latest=self.latest,
            produced=self.produced,
            named=self.named,
            tops=self.tops,
            pruned=self.pruned,
            unproved=self.unproved,
            shelf=self.shelf or revision_of(self.known),
            met=self.met,
            tangled=self.ledger.tangled,
            gaps=self.ledger.gaps,
            settings=self.settings,
        )

    def _add_op(self, event: log_events.OpEvent) -> None:
        record = self._proved_record(event)
        if record is None:
            if event.op not in self.unproved:
                self.unproved.append(event.op)
            return
        self.ops.append(
            OpNote(record.op, record.ts, record.verb, record.actor, record.undoes, bool(record.rejected))
        )
        if record.verb == "prune":
            self.pruned += record.prunes
        if record.verb == rules.VERB:
            self.settings = record.settings
        if touches_shelf(self.known, record):
            self.shelf = None
        self._take_in(record)
        raise_tops(self.tops, (change.id for change in record.changes))

    def _take_in(self, record: records.Record) -> None:
        take_in(self.known, record)
        for change in record.changes:
            if counts(change):
                self.met.pop(change.id, None)

    def _proved_record(self, event: log_events.OpEvent) -> records.Record | None:
        # The operation may have been committed after the heads were collected.
        head = (self.record_heads or {}).get(event.op_sha256) or self._head_of(event)
        return records.read_head(head, event.op)

    def _head_of(self, event: log_events.OpEvent) -> bytes | None:
        line = records.find(self.layout, event.op) if self.layout else None
        head = None if line is None else records.head_of(line)
        if head is not None and canonical.sha256(head) == event.op_sha256:
            return head
        if self.layout is None or line is None or self.record_heads is not None:
            return None
        # Two records have the same id, or a record was changed. Collect the heads, but only once.
        self.record_heads = records.by_hash(self.layout)
        return self.record_heads.get(event.op_sha256)

    def _limit_outputs(self, stamp: float) -> None:
        """Limit the times of earlier outputs to `stamp`, the clock's time when a later line was written."""
        self.latest = stamp
        self.outputs = {
            task: {
                path: output if output.at <= stamp else msgspec.structs.replace(output, at=stamp)
                for path, output in outputs.items()
            }
            for task, outputs in self.outputs.items()
        }

    def _add_run(self, line: bytes, at: float) -> None:
        event = log_events.RESULTS.read(line)
        if event is None:
            return
        for fact in event.derived_facts:
            if isinstance(fact, str) and external_ids.is_one(fact):
                self.named.setdefault(fact, event.run_id)
        produced = event.files
        if not produced:
            return
        self.produced = self.produced[0] + 1, chain.hash_of(line)
        task = event.task or ""
        outputs = dict(self.outputs.get(task, {}))
        for output in produced:
            known = outputs.get(output.path)
            if known is None or times.replaces(at, known.at):
                outputs[output.path] = Output(output.path, output.sha256, event.run_id, at)
                self.latest = max(self.latest, at)
        self.outputs[task] = outputs


class _BranchedSums(_Sums):
    """A sum of events of several branches, added in their common order."""

    def __init__(self, layout: Layout | None, heads: Mapping[str, bytes], graph: EventGraph) -> None:
        super().__init__(Ledger(), layout, heads)
        self.graph = graph
        self.place = 0
        self.versions: dict[str, list[Version]] = {}

    def _take_in(self, record: records.Record) -> None:
        for change in record.changes:
            if counts(change):
                found = text_versions.version_of(change, record, self.place)
                self.versions.setdefault(change.id, []).append(found)

    def done(self, size: int, head: str) -> Ledger:
        for id_, found in self.versions.items():
            first, *others = (
                Known(version.digest, version.file, version.op)
                for version in text_versions.live(found, self.graph)
            )
            self.known[id_] = first
            if others:
                self.met[id_] = others
        self.heads = [chain.hash_of(self.graph.lines[place]) for place in self.graph.heads]
        ledger = super().done(size, head)
        return msgspec.structs.replace(ledger, tangled=self.graph.repeated, gaps=list(self.graph.missing))
