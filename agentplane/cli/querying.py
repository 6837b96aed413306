"""The QUERY argument of commands, and the rows that match it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from agentplane.cli import complete
from agentplane.errors import BadInput


if TYPE_CHECKING:
    from datetime import datetime

    from agentplane.api import Plane
    from agentplane.memory.entry import Entry
    from agentplane.memory.view import HandEdit, Memory
    from agentplane.query.fields import Target
    from agentplane.query.parse import Query
    from agentplane.query.records import QueryRecord
    from agentplane.retrieval.scan import Result
    from agentplane.review.inbox import Reviewed
    from agentplane.runs.query.timeline import TimelineRow

_Command = TypeVar("_Command", bound=Callable[..., Any])


def query_argument(target: "Target", *, required: bool = False) -> Callable[[_Command], _Command]:
    """Add an argument with the words of a query. `of_words` reads them."""
    metavar = "QUERY..." if required else "[QUERY]..."
    return click.argument(
        "words", nargs=-1, required=required, metavar=metavar, shell_complete=complete.query(target)
    )


def of_words(words: Sequence[str], target: "Target") -> "Query | None":
    """Return the query of some arguments, or None if it is empty."""
    if not words:
        return None
    from agentplane.query.parse import EMPTY, parse

    query = parse(_text_of(words), target)
    return None if query == EMPTY else query


def _text_of(words: Sequence[str]) -> str:
    return " ".join(map(_with_quotes, words))


def _with_quotes(word: str) -> str:
    """Return an argument with quotes around a value that has blanks.

    The shell removes the quotes of `tag:"on call"`. A whole query in one argument stays as it is.
    """
    from agentplane.query import fields
    from agentplane.query.parse import Term, tokens

    found = [*tokens(word)]
    if len(found) < 2 or any(one.name or one.negated for one in found[1:]):
        return word
    first, field = found[0], fields.named(found[0].name)
    if field is None or not field.has_blanks or first.quoted or not first.value:
        return word
    return str(Term(field.name, word[first.end - len(first.value) :].strip(), first.negated))


def entries_of(plane: "Plane", memory: "Memory", found: "Iterable[Entry]", query: "Query") -> "list[Entry]":
    """Return the approved entries that match, in the order of the query."""
    from agentplane.query import records

    expiring = plane.memory.expiring(memory)
    edited = {edit.id for edit in memory.hand_edits}
    entries = {entry.id: entry for entry in found}
    made = [
        records.with_states(
            records.of_approved(entry),
            records.states_of_approved(entry, expiring.get(entry.id), edited=entry.id in edited),
        )
        for entry in entries.values()
    ]
    return [entries[key] for key in _matching(plane, made, query)]


def candidates_of(
    plane: "Plane", memory: "Memory", found: "Iterable[Reviewed]", query: "Query"
) -> "list[Reviewed]":
    """Return the candidates that match, in the order of the query."""
    from agentplane.query import records

    edited = {edit.id for edit in memory.hand_edits}
    reviewed = {one.entry.id: one for one in found}
    made = [
        records.with_states(
            records.of_candidate(one.entry),
            records.states_of_candidate(one.entry, one, plane.today(), edited=one.entry.id in edited),
        )
        for one in reviewed.values()
    ]
    return [reviewed[key] for key in _matching(plane, made, query)]


def edits_of(plane: "Plane", memory: "Memory", query: "Query") -> "list[HandEdit]":
    """Return the manual edits that match."""
    from agentplane.query import records

    made = [records.of_edit(edit, memory.entries.get(edit.id)) for edit in memory.hand_edits]
    keys = set(_matching(plane, made, query))
    return [edit for edit in memory.hand_edits if edit.id in keys]


def _matching(plane: "Plane", made: "list[QueryRecord]", query: "Query") -> list[str]:
    from agentplane.query import match, order

    found = match.select(query, made, plane.store.clock())
    return [record.key for record in order.ordered(found, query.sort)]


def search_of(plane: "Plane", arguments: Sequence[str]) -> "Search":
    """Return the words of a query to search for, and the entries that match the rest of it."""
    from agentplane.query.parse import parse, words_of

    text = _text_of(arguments)
    query, words = parse(text, "memory"), words_of(text)
    if not words:
        todo = "Add at least one word. To filter entries only by their fields, use `agentplane list`."
        raise BadInput("The query has no words to search for.", where="search", todo=todo)
    rest = query.without_words
    if not rest.terms and not rest.sort:
        return Search(words)
    memory = plane.memory.read()
    found = entries_of(plane, memory, memory.entries.values(), rest)
    return Search(words, tuple(entry.id for entry in found), in_order=bool(rest.sort))


class Search(msgspec.Struct, frozen=True):
    words: str
    ids: tuple[str, ...] | None = None
    """The entries to search, or None for all entries and runs."""
    in_order: bool = False
    """True if the results have the order of `ids`."""

    def most(self, limit: int) -> int:
        """Return how many matches to find so that `limit` of them come first in the order."""
        return len(self.ids or ()) if self.in_order else limit

    def ordered(self, results: "Sequence[Result]") -> "Sequence[Result]":
        place = {id_: place for place, id_ in enumerate(self.ids or ())}
        return sorted(results, key=lambda one: place.get(one.id, len(place))) if self.in_order else results


def since_of(query: "Query", now: "datetime", start: float | None) -> float | None:
    """Return the earliest time that can match, so that nothing older is read. `start` is another limit."""
    from agentplane.text import moments

    found = (
        moments.moment(term.value, now) for term in query.terms if term.field == "newer" and not term.negated
    )
    return max((one for one in (start, *found) if one is not None), default=None)


def runs_of(rows: "Iterable[TimelineRow]", query: "Query", now: "datetime") -> "Iterator[TimelineRow]":
    """Yield the runs and operations that match, lazily."""
    from agentplane.query import match, records

    test = match.test_of(query, now)
    return (row for row in rows if test(records.of_run(row)))
