"""The search in the inbox, memory and runs at once. It keeps no index."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from agentplane.jobs import Progress
from agentplane.memory.entry import Entry, searchable_text
from agentplane.plane.layout import INBOX
from agentplane.query import complete, match, order, records
from agentplane.query.parse import EMPTY, Query, parse, words_of
from agentplane.query.records import QueryRecord
from agentplane.retrieval.by_words import ByWords
from agentplane.retrieval.retriever import Question
from agentplane.retrieval.scan import Wanted
from agentplane.runs.query import timeline
from agentplane.runs.query.timeline import TimelineRow
from agentplane.tui.backend.entries.entry_records import EntryRecords


if TYPE_CHECKING:
    from agentplane.tui.backend.model import PlaneView


MOST = 200
"""Maximum number of hits of each kind."""
_STEP = 256
"""The number of runs between two reports of progress."""
_RUN_KINDS = ("run", "open", "lost")
_SEARCHING = "Searching"


class Hits(msgspec.Struct, frozen=True):
    """The results of one search, the best first."""

    words: str
    """The text of the query."""
    inbox: tuple[Entry, ...] = ()
    memory: tuple[Entry, ...] = ()
    runs: tuple[TimelineRow, ...] = ()
    complete: bool = False
    """True if everything was searched. The first hits of a search are only entries."""

    @property
    def found(self) -> bool:
        return bool(self.inbox or self.memory or self.runs)


class Finder:
    """A search in one view of the project memory. Only one thread at a time may use it.

    Each method that takes a query raises QueryError if the query can't be read. The records of the entries are
    prepared by the first search. Only the needed part of the log is read.
    """

    def __init__(self, view: "PlaneView") -> None:
        self._view = view
        self._inbox = EntryRecords("inbox", _record_of(records.of_candidate))
        self._memory = EntryRecords("memory", _record_of(records.of_approved))
        self._runs: list[tuple[QueryRecord, TimelineRow]] = []
        self._rest: Iterator[TimelineRow] = timeline.rows(view.memory.snapshot.layout)

    def entries(self, words: str, progress: Progress) -> Hits:
        """Return the candidates and the approved entries that match.

        An entry with this ID comes first. Then come entries with the words in the statement.
        """
        query = parse(words, "all")
        if query.terms == EMPTY.terms:
            return Hits(words)
        found = self._matching(query)
        progress.report(0, 0, _SEARCHING)
        phrase = " ".join(query.words)
        found.sort(key=lambda record: _rank(record, query.words, phrase))
        return self._hits(words, [record.key for record in order.ordered(found, query.sort)])

    def similar(self, words: str, _: Progress) -> Hits:
        """Return the entries with similar words. It takes longer than the other searches."""
        query, wanted = parse(words, "all"), words_of(words)
        if not wanted:
            return Hits(words, complete=True)
        allowed = {record.key for record in self._matching(query.without_words)}
        question = Question(wanted, MOST, self._view.memory, Wanted(unreviewed=True))
        hits = self._hits(words, [near.id for near in ByWords().find(question) if near.id in allowed])
        return msgspec.structs.replace(hits, complete=True)

    def with_runs(self, hits: Hits, progress: Progress) -> Hits:
        """Return the hits and the runs that match, the newest first."""
        query = parse(hits.words, "all")
        test = match.test_of(query, datetime.now(UTC))
        is_possible = query.terms != EMPTY.terms and query.can_match("runs")
        found: list[TimelineRow] = []
        for place, (record, run) in enumerate(self._each_run() if is_possible else ()):
            if place % _STEP == 0:
                progress.report(place, 0, _SEARCHING)
            if test(record):
                found.append(run)
            if len(found) == MOST:
                break
        return msgspec.structs.replace(hits, runs=tuple(found), complete=True)

    def values(self, _: Progress) -> Mapping[str, tuple[str, ...]]:
        """Return the values that complete a query, from the entries and the latest runs."""
        runs = [record for record, _ in islice(self._each_run(), _STEP)]
        return complete.known([*self._records(states=False), *runs])

    def _records(self, *, states: bool) -> list[QueryRecord]:
        return [
            *self._inbox.of(self._view, states=states),
            *self._memory.of(self._view, states=states),
        ]

    def _matching(self, query: Query) -> list[QueryRecord]:
        return match.select(query, self._records(states=query.needs_states), datetime.now(UTC))

    def _hits(self, words: str, ids: Sequence[str]) -> Hits:
        known = self._view.memory.entries
        entries = [known[id_] for id_ in ids if id_ in known]
        inbox = [entry for entry in entries if entry.file == INBOX]
        memory = [entry for entry in entries if entry.file != INBOX]
        return Hits(words, tuple(inbox[:MOST]), tuple(memory[:MOST]))

    def _each_run(self) -> Iterator[tuple[QueryRecord, TimelineRow]]:
        """Yield the runs with their records. Runs that were read before come from memory."""
        yield from self._runs
        known = {run.run_id for _, run in self._runs}
        for row in self._rest:
            if row.run_id is not None and row.kind in _RUN_KINDS and row.run_id not in known:
                known.add(row.run_id)
                self._runs.append((records.of_run(row), row))
                yield self._runs[-1]


def _rank(record: QueryRecord, wanted: Sequence[str], phrase: str) -> int:
    if record.id.startswith(phrase):
        return 0
    if phrase in record.statement:
        return 1
    return 2 if all(word in record.statement for word in wanted) else 3


def _record_of(make: Callable[[Entry], QueryRecord]) -> Callable[[Entry], QueryRecord]:
    """Return a function for the record of an entry, in which words are found in every field and in all of the text."""

    def record_of(entry: Entry) -> QueryRecord:
        head = entry.head
        fields = (entry.id, head.type, head.proposed_by or "", *head.scope, *head.evidence)
        return records.replace(make(entry), text="\n".join((*fields, searchable_text(entry))).casefold())

    return record_of
