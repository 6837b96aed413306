"""Which records match a query."""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache

from agentplane.query import fields
from agentplane.query.parse import Query, Term
from agentplane.query.records import QueryRecord
from agentplane.text import globs, moments


Test = Callable[[QueryRecord], bool]

_WORD = re.compile(r"\w+")
_SHORT = 4
"""Shorter words have to match exactly."""
_LONG = 7
"""The length from which a word may have two typos instead of one."""


def test_of(query: Query, now: datetime) -> Test:
    """Return a function that is True for the records that match."""
    tests = [_any(group) if not all_ else _all(group) for group, all_ in _groups(query, now)]
    if len(tests) == 1:
        return tests[0]
    return _all(tests)


def select(
    query: Query, records: Iterable[QueryRecord], now: datetime, *, typos: bool = False
) -> list[QueryRecord]:
    """Return the records that match, in their order.

    With `typos`, a word without an exact match finds similar words.
    """
    if not typos:
        test = test_of(query, now)
        return [record for record in records if test(record)]
    test = test_of(query.without_words, now)
    found = [record for record in records if test(record)]
    for word in query.words:
        found = _with_word(word, found)
    return found


def _groups(query: Query, now: datetime) -> list[tuple[list[Test], bool]]:
    """Return the tests of a query, in groups. In a group either one test or every test has to be true."""
    groups: dict[str, list[Test]] = {}
    every: list[Test] = []
    for term in query.terms:
        test, field = _test(term, now), fields.named(term.field)
        if term.negated:
            every.append(_not(test))
        elif field is None or field.match_all:
            every.append(test)
        else:
            groups.setdefault(field.name, []).append(test)
    return [*((group, False) for group in groups.values()), *([(every, True)] if every else [])]


def _any(tests: list[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda record: any(test(record) for test in tests)


def _all(tests: list[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda record: all(test(record) for test in tests)


def _not(test: Test) -> Test:
    return lambda record: not test(record)


def _test(term: Term, now: datetime) -> Test:
    value = term.value
    match term.field:
        case "":
            return lambda record: value in record.text
        case "kind":
            beginning = value.removesuffix("s")
            return lambda record: record.kind.startswith(beginning)
        case "tool":
            return lambda record: any(value in tool for tool in record.tool)
        case "by":
            return lambda record: any(value in who for who in record.by)
        case "is":
            return lambda record: value in record.states
        case "tag":
            return lambda record: any(tag.startswith(value) for tag in record.tags)
        case "path":
            return _path_test(value)
        case "run":
            return lambda record: value in record.run
        case "task":
            return lambda record: value in record.task
        case "older" | "newer":
            return _time_test(moments.moment(value, now), older=term.field == "older")
        case "layer":
            return lambda record: record.layer.startswith(value)
        case "id":
            return lambda record: record.id.startswith(value)
        case "status":
            return lambda record: record.status == value
        case "outcome":
            return lambda record: record.outcome == value
    raise ValueError(term.field)


def _path_test(value: str) -> Test:
    """Return the test for a path or a glob. It matches a scope that has this text, or that can overlap with it."""
    path = (f"{value}**" if value.endswith("/") else value,)
    return lambda record: (
        bool(record.scope)
        and (any(value in scope for scope in record.scope) or globs.can_meet(path, record.scope))
    )


def _time_test(moment: float | None, *, older: bool) -> Test:
    def test(record: QueryRecord) -> bool:
        if record.at is None or moment is None:
            return False
        return record.at < moment if older else record.at >= moment

    return test


def _with_word(word: str, records: list[QueryRecord]) -> list[QueryRecord]:
    """Return the records that contain the word. If there are none, return the records with a similar word."""
    exact = [record for record in records if word in record.text]
    if exact or len(word) < _SHORT:
        return exact
    near = _near(word, frozenset().union(*(_words(record.text) for record in records)))
    return [record for record in records if not near.isdisjoint(_words(record.text))]


def _near(word: str, known: frozenset[str]) -> frozenset[str]:
    """Return the known words that begin like this word, with at most one or two typos."""
    from rapidfuzz.distance import OSA

    slips = 1 if len(word) < _LONG else 2
    size = len(word)
    return frozenset(
        other
        for other in known
        if len(other) >= size - slips
        and min(OSA.distance(word, other[:end], score_cutoff=slips) for end in (size - 1, size, size + 1))
        <= slips
    )


@lru_cache(20_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))
