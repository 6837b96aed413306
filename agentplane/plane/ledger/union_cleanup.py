"""The cleanup after Git's union of two logs. It keeps every line once, in the order that every clone has."""

from collections.abc import Callable, Iterable, Iterator

from agentplane.plane.layout import LOG, Layout
from agentplane.plane.ledger import log_events, summing
from agentplane.plane.ledger.event_graph import EventGraph
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.store import records, recovery
from agentplane.text import files
from agentplane.text.log import chain, event_line
from agentplane.text.markdown import document
from agentplane.text.markdown.document import WHITE


def log(layout: Layout) -> Ledger:
    """Put the log and the operation records in order, under the plane's lock.

    If a line of the log is damaged, the log stays unchanged.
    """
    ledger, graph, _ = summing.of_branches(layout)
    recovery.prune_texts(layout, ledger.pruned)
    _order_records(layout, graph)
    if not ledger.tangled or not all(map(event_line.is_intact, graph.lines)):
        return ledger
    files.write_atomic(layout.file(LOG), b"".join(graph.lines))
    return summing.advance(Ledger(), layout)


def add(layout: Layout, events: Iterable[bytes], found: Iterable[bytes]) -> None:
    """Append events and records that Git has. The caller puts them in order afterwards."""
    files.make_folder(layout.ops)
    for line in found:
        stored = records.readable(line)
        if stored:
            files.append(records.month_file(layout, stored.record.op), line)
    files.append(layout.log, b"".join(events))


def _order_records(layout: Layout, graph: EventGraph) -> None:
    places: dict[str, int] = {}
    for place, line in enumerate(graph.lines):
        if event := log_events.OP.read(line):
            places.setdefault(event.op, place)
    for path in records.months(layout):
        old = [line for _, line in chain.lines(path)]
        new = list(_ordered(dict.fromkeys(old), places))
        if new != old and sum(map(len, old)) == path.stat().st_size:
            files.write_atomic(path, b"".join(new))


def _ordered(lines: Iterable[bytes], places: dict[str, int]) -> Iterable[bytes]:
    """Return records in the order of their events. A record without an event stays after its predecessor."""
    keyed, last = [], -1
    for number, line in enumerate(lines):
        stored = records.readable(line)
        last = places.get(stored.record.op, last) if stored else last
        keyed.append((last, number if stored is None else 0, line))
    return [line for _, _, line in sorted(keyed)]


def doubled(data: bytes) -> list[tuple[str, bytes, int, int]]:
    """Return the entries of a file whose id another entry already has, each with id, text, start and end."""
    read = document.parse(data)
    ids = {block.id for block in read.blocks}
    found = []
    for trouble in read.troubles:
        core = data[trouble.start : trouble.end]
        inner = document.parse(core)
        if len(inner.blocks) == 1 and inner.blocks[0].start == 0 and inner.blocks[0].id in ids:
            found.append((inner.blocks[0].id, core, trouble.start, trouble.end))
    return found


def spare(data: bytes, rank: Callable[[str, bytes], int]) -> Iterator[tuple[str, bytes, int, int]]:
    """For each id that a file has several times, yield every entry except the one with the highest rank."""
    found: dict[str, list[tuple[str, bytes, int, int]]] = {}
    for copy in doubled(data):
        found.setdefault(copy[0], []).append(copy)
    read = document.parse(data) if found else None
    for id_, copies in found.items():
        if read and (block := read.find(id_)):
            copies.insert(0, (id_, read.core(block), block.start, block.end))
        stays = max(copies, key=lambda copy: rank(id_, copy[1]))
        yield from (copy for copy in copies if copy is not stays)


def without(data: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """Return the file without these texts and the whitespace after them.

    At the end of the file, the whitespace before them is removed instead.
    """
    for start, end in sorted(spans, reverse=True):
        rest = data[end:].lstrip(WHITE)
        data = data[:start] + rest if rest else data[:start].rstrip(WHITE) + data[end:]
    return data
