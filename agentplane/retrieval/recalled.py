"""Recall of the entries closest to a query and the traces of a task, a run or a path, without withheld text.

Only the results are searched for secrets, because searching all of a large memory takes seconds.
"""

from collections.abc import Sequence
from datetime import date
from itertools import islice

import msgspec

from agentplane import extensions
from agentplane.curate import doubts
from agentplane.curate.doubts import Doubt
from agentplane.extensions import Extension
from agentplane.memory import expiry
from agentplane.memory.kinds import kind_named
from agentplane.memory.view import Memory
from agentplane.retrieval import traces
from agentplane.retrieval.by_words import ByWords
from agentplane.retrieval.retriever import Question, Retriever
from agentplane.retrieval.scan import IN_FORCE, Match, Result, Wanted, result_of
from agentplane.review import delivery


class Recalled(msgspec.Struct, frozen=True):
    """The results, closest first, and the ids of matching entries that are withheld."""

    results: tuple[Result, ...] = ()
    withheld: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    """Ids of matching entries that are withheld because of the curator's findings."""


def find(memory: Memory, query: str, limit: int, wanted: Wanted, today: date) -> Recalled:
    """Find the results that match the words of a query, and the results that the query names."""
    layout, limit = memory.snapshot.layout, max(limit, 0)
    query = query.encode(errors="replace").decode()
    of_runs = (
        wanted.tag is None and wanted.path is None and wanted.ids is None and wanted.status == IN_FORCE.status
    )
    if wanted.kind in (traces.RUN, traces.ARTIFACT):
        found = traces.find(layout, query, limit, tuple) if of_runs else traces.Found()
        return Recalled(tuple(traces.joined(found, (), limit, wanted.kind)))
    if wanted.kind is not None:
        wanted = msgspec.structs.replace(wanted, kind=kind_named(memory.kinds, wanted.kind).name)
    question = Question(query, max(limit, 1), memory, wanted)
    found = traces.find(layout, query, limit, question.entries)
    of_name = _readable(memory, found.entries)
    by_words = _by_words(question, limit)
    runs = found if of_runs else traces.Found()
    lanes = msgspec.structs.replace(runs, entries=of_name.results)
    joined = traces.joined(lanes, by_words.results, limit, wanted.kind)
    found_doubts = doubts.of(memory)
    withheld = doubts.withheld(memory, found_doubts)
    results = [one for one in joined if one.id not in withheld]
    expired = expiry.of_each((memory.entries[one.id] for one in results if one.id in memory.entries), today)
    return Recalled(
        tuple(
            msgspec.structs.replace(one, expired=one.id in expired, doubt=_phrase(found_doubts.get(one.id)))
            for one in results
        ),
        tuple(dict.fromkeys((*of_name.withheld, *by_words.withheld))),
        tuple(one.id for one in joined if one.id in withheld),
    )


def _phrase(doubt: Doubt | None) -> str | None:
    return doubt.text if doubt else None


def try_out(extension: Extension, memory: Memory) -> None:
    """Ask the retriever a question. Raises ExtensionError if it can't be used."""
    _from_extension(extension, Question("a text", 1, memory, IN_FORCE))


def _by_words(question: Question, limit: int) -> Recalled:
    """Return the results of the retriever. It is asked for more if some of its matches are withheld."""
    while True:
        found = _matches(question)
        kept = _readable(question.memory, _results(question, found))
        if len(kept.results) >= limit or len(found) < question.limit:
            return Recalled(kept.results[:limit], kept.withheld)
        question = msgspec.structs.replace(question, limit=question.limit * 2)


def _matches(question: Question) -> Sequence[Match]:
    """Return the matches of the chosen retriever, or of agentplane's own one if it fails."""
    name = extensions.chosen(extensions.RETRIEVERS)
    if name is not None and question.text.strip():
        try:
            return _from_extension(extensions.get(extensions.RETRIEVERS, name), question)
        except extensions.ExtensionError as error:
            extensions.report(error)
    return ByWords().find(question)


def _from_extension(extension: Extension, question: Question) -> list[Match]:
    retriever: Retriever = extension.made()
    found = extension.call(lambda: list(islice(retriever.find(question), question.limit)))
    if not all(map(_is_sound, found)):
        raise extension.error("returned something other than matches with a score from 0 to 1")
    return found


def _is_sound(match: object) -> bool:
    if not isinstance(match, Match):
        return False
    id_, score, why = msgspec.structs.astuple(match)
    has_types = isinstance(id_, str) and isinstance(why, str) and isinstance(score, int | float)
    return has_types and 0 <= score <= 1


def _results(question: Question, found: Sequence[Match]) -> list[Result]:
    """Return the matches as results, without entries that weren't to be searched."""
    entries = question.memory.entries
    known = ((match, entries[match.id]) for match in found if match.id in entries)
    return [
        result_of(entry, float(match.score), match.why)
        for match, entry in known
        if question.wanted.takes(entry)
    ]


def _readable(memory: Memory, found: Sequence[Result]) -> Recalled:
    """Leave out entries with a likely secret, and unapproved entries with a flag of high severity."""
    from agentplane.review.gate import gate  # takes long to load

    entries = [memory.entries[result.id] for result in found]
    given = delivery.divided(memory.snapshot, entries)
    safe = {entry.id for entry in given.entries if entry.trusted or not gate.has_high_flag(entry, {})}
    return Recalled(tuple(result for result in found if result.id in safe), given.withheld_names)
