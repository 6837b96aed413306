"""The search in the inbox, memory and runs at once. It keeps no index."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from agentplane.jobs import Progress
from agentplane.memory.entry import Entry, searchable_text
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.retrieval.by_words import ByWords
from agentplane.retrieval.retriever import Question
from agentplane.retrieval.scan import Wanted
from agentplane.runs.query import timeline
from agentplane.runs.query.timeline import TimelineRow


MOST = 200
"""Maximum number of hits of each kind."""
_STEP = 256
"""The number of runs between two reports of progress."""
_RUN_KINDS = ("run", "open", "lost")
_SEARCHING = "Searching"


class Hits(msgspec.Struct, frozen=True):
    """The results of one search, the best first."""

    words: str
    """The words that were searched for."""
    inbox: tuple[Entry, ...] = ()
    memory: tuple[Entry, ...] = ()
    runs: tuple[TimelineRow, ...] = ()
    complete: bool = False
    """True if everything was searched. The first hits of a search are only entries."""

    @property
    def found(self) -> bool:
        return bool(self.inbox or self.memory or self.runs)


class _Text(NamedTuple):
    """The texts of an entry in lower case."""

    id: str
    statement: str
    everything: str
    entry: Entry


class Finder:
    """A search in one view of the project memory. Only one thread at a time may use it.

    The texts of the entries are prepared by the first search. Only the needed part of the log is read.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._texts: list[_Text] | None = None
        self._runs: list[tuple[str, TimelineRow]] = []
        self._rest: Iterator[TimelineRow] = timeline.rows(memory.snapshot.layout)

    def entries(self, words: str, progress: Progress) -> Hits:
        """Return the candidates and the approved entries with all words.

        An entry with this id comes first. Then come entries with the words in the statement.
        """
        wanted, phrase = _words(words), words.strip().casefold()
        if not wanted:
            return Hits(words)
        if self._texts is None:
            self._texts = [_text(entry) for entry in (*self._memory.inbox, *self._memory.shelf)]
        progress.report(0, 0, _SEARCHING)
        found = [text for text in self._texts if all(word in text.everything for word in wanted)]
        found.sort(key=lambda text: _rank(text, wanted, phrase))
        return _hits(words, [text.entry for text in found])

    def similar(self, words: str, _: Progress) -> Hits:
        """Return the entries with similar words. It takes longer than the other searches."""
        question = Question(words, MOST, self._memory, Wanted(unreviewed=True))
        entries = self._memory.entries
        matches = ByWords().find(question)
        hits = _hits(words, [entries[match.id] for match in matches if match.id in entries])
        return msgspec.structs.replace(hits, complete=True)

    def with_runs(self, hits: Hits, progress: Progress) -> Hits:
        """Return the hits and the runs that match, the newest first."""
        wanted = _words(hits.words)
        found: list[TimelineRow] = []
        for place, (text, run) in enumerate(self._each_run() if wanted else ()):
            if place % _STEP == 0:
                progress.report(place, 0, _SEARCHING)
            if all(word in text for word in wanted):
                found.append(run)
            if len(found) == MOST:
                break
        return msgspec.structs.replace(hits, runs=tuple(found), complete=True)

    def _each_run(self) -> Iterator[tuple[str, TimelineRow]]:
        """Yield the runs with their texts. Runs that were read before come from memory."""
        yield from self._runs
        known = {run.run_id for _, run in self._runs}
        for row in self._rest:
            if row.run_id is not None and row.kind in _RUN_KINDS and row.run_id not in known:
                known.add(row.run_id)
                self._runs.append((_run_text(row), row))
                yield self._runs[-1]


def _words(words: str) -> Sequence[str]:
    return words.casefold().split()


def _rank(text: _Text, wanted: Sequence[str], phrase: str) -> int:
    if text.id.startswith(phrase):
        return 0
    if phrase in text.statement:
        return 1
    return 2 if all(word in text.statement for word in wanted) else 3


def _text(entry: Entry) -> _Text:
    head = entry.head
    parts = (entry.id, head.type, head.proposed_by or "", *head.scope, *head.evidence, searchable_text(entry))
    return _Text(entry.id.casefold(), entry.statement.casefold(), "\n".join(parts).casefold(), entry)


def _hits(words: str, entries: Sequence[Entry]) -> Hits:
    inbox = [entry for entry in entries if entry.file == INBOX]
    memory = [entry for entry in entries if entry.file != INBOX]
    return Hits(words, tuple(inbox[:MOST]), tuple(memory[:MOST]))


def _run_text(row: TimelineRow) -> str:
    parts = (row.run_id, row.task, row.title, row.tool, row.summary, *row.command)
    return "\n".join(part for part in parts if part).casefold()
