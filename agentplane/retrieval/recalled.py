"""Recall of the entries closest to a query and the traces of a task, a run or a path, without withheld text.

Only the results are searched for secrets, because searching all of a large memory takes seconds.
"""

from collections.abc import Sequence
from datetime import date

import msgspec

from agentplane.memory import expiry
from agentplane.memory.entry import Entry
from agentplane.memory.kinds import kind_named
from agentplane.memory.view import Memory
from agentplane.plane.derived import server_memory
from agentplane.retrieval import traces
from agentplane.retrieval.scan import IN_FORCE, Result, Wanted, scan
from agentplane.review import delivery


class Recalled(msgspec.Struct, frozen=True):
    """The results, closest first, and the ids of matching entries that are withheld."""

    results: tuple[Result, ...] = ()
    withheld: tuple[str, ...] = ()


def find(memory: Memory, query: str, limit: int, wanted: Wanted, today: date) -> Recalled:
    """Find the results that match the words of a query, and the results that the query names."""
    layout, limit = memory.snapshot.layout, max(limit, 0)
    query = query.encode(errors="replace").decode()
    of_runs = wanted.tag is None and wanted.path is None and wanted.status == IN_FORCE.status
    if wanted.kind in (traces.RUN, traces.ARTIFACT):
        found = traces.find(layout, query, limit, tuple) if of_runs else traces.Found()
        return Recalled(tuple(traces.joined(found, (), limit, wanted.kind)))
    if wanted.kind is not None:
        wanted = msgspec.structs.replace(wanted, kind=kind_named(memory.kinds, wanted.kind).name)
    found = traces.find(layout, query, limit, lambda: _looked_at(memory, wanted))
    of_name = _readable(memory, found.entries)
    by_words = _by_words(memory, wanted, query, limit)
    runs = found if of_runs else traces.Found()
    lanes = msgspec.structs.replace(runs, entries=of_name.results)
    results = traces.joined(lanes, by_words.results, limit, wanted.kind)
    expired = expiry.of_each((memory.entries[one.id] for one in results if one.id in memory.entries), today)
    return Recalled(
        tuple(msgspec.structs.replace(one, expired=one.id in expired) for one in results),
        tuple(dict.fromkeys((*of_name.withheld, *by_words.withheld))),
    )


def _looked_at(memory: Memory, wanted: Wanted) -> list[Entry]:
    entries = [*memory.shelf, *(memory.inbox if wanted.unreviewed else ())]
    return [entry for entry in entries if wanted.takes(entry)]


def _by_words(memory: Memory, wanted: Wanted, query: str, limit: int) -> Recalled:
    """Return the results closest to the words of a query. A long-running process uses an index."""
    many = max(limit, 1)
    while True:
        found = _nearest(memory, wanted, query, many)
        kept = _readable(memory, found)
        if len(kept.results) >= limit or len(found) < many:
            return Recalled(kept.results[:limit], kept.withheld)
        many *= 2


def _nearest(memory: Memory, wanted: Wanted, query: str, many: int) -> list[Result]:
    if not server_memory.is_on() or wanted.unreviewed:
        return scan(_looked_at(memory, wanted), query, many)
    from agentplane.memory import word_index
    from agentplane.retrieval.indexed import look_up

    return look_up(word_index.of_shelf(memory), wanted, query, many)


def _readable(memory: Memory, found: Sequence[Result]) -> Recalled:
    """Leave out entries with a likely secret, and unapproved entries with a flag of high severity."""
    from agentplane.review.gate import gate  # takes long to load

    entries = [memory.entries[result.id] for result in found]
    given = delivery.divided(memory.snapshot, entries)
    safe = {entry.id for entry in given.entries if entry.trusted or not gate.has_high_flag(entry, {})}
    return Recalled(tuple(result for result in found if result.id in safe), given.withheld_names)
