"""Summing the events of a log to a ledger, also if the history has branches."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain as joined

import msgspec

from agentplane.plane.layout import Layout
from agentplane.plane.ledger import event_graph, log_events, text_versions
from agentplane.plane.ledger.event_graph import EventGraph
from agentplane.plane.ledger.ledger import (
    Known,
    Ledger,
    OpNote,
    Output,
    counts,
    raise_tops,
    revision_of,
    take_in,
    touches_shelf,
)
from agentplane.plane.ledger.text_versions import Version
from agentplane.plane.store import records
from agentplane.plane.trust import rules
from agentplane.plane.views import external_ids
from agentplane.text.json import canonical
from agentplane.text.log import chain, event_line, times


_GENESIS = bytes(32)
_FACTS = b'"derived_facts":['
_NO_FACTS = b'"derived_facts":[]'


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
            return of_branches(layout)[0]
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
            return _of_branches(lines, None, heads)[0]
        sums.add(line)
    return sums.done(sum(map(len, lines)), chain.hash_of(lines[-1])) if lines else Ledger()


def of_branches(layout: Layout) -> tuple[Ledger, EventGraph, dict[str, list[Version]]]:
    """Return the ledger of a log whose history has branches, with the graph and the versions behind it."""
    return _of_branches([line for _, line in chain.lines(layout.log)], layout, records.by_hash(layout))


def of_branches_in(
    log: Iterable[bytes], heads: Mapping[str, bytes]
) -> tuple[Ledger, EventGraph, dict[str, list[Version]]]:
    """Return the same as `of_branches` for a log that is not a file."""
    return _of_branches(list(log), None, heads)


def _of_branches(
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
