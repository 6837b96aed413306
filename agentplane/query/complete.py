"""Completion of the term at the cursor."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from agentplane.query import fields
from agentplane.query.fields import Field, Target
from agentplane.query.parse import Term, Token, tokens
from agentplane.query.records import QueryRecord, values_of


MOST = 12
_AGES = ("1d", "7d", "2w", "4w")


class Completion(msgspec.Struct, frozen=True):
    text: str
    """The whole text with this completion."""
    cursor: int
    """The place of the cursor after it."""
    shown: str
    """The completed term."""
    what: str = ""
    """The meaning of the field or of the value."""


def known(records: Iterable[QueryRecord]) -> dict[str, tuple[str, ...]]:
    """Return the values in these records by field, the most frequent first."""
    counts: dict[str, Counter[str]] = {
        field.name: Counter() for field in fields.FIELDS if field.takes == "text"
    }
    for record in records:
        for name, found in counts.items():
            found.update(values_of(record, name))
    return {name: tuple(value for value, _ in found.most_common() if value) for name, found in counts.items()}


def completions(
    text: str, cursor: int, target: Target, values: Mapping[str, tuple[str, ...]], most: int = MOST
) -> list[Completion]:
    """Return up to `most` completions of the term that ends at the cursor. `values` are the values in the list by field."""
    token = next((one for one in tokens(text[:cursor]) if one.end == cursor), None)
    start = token.start if token else cursor
    if token and token.name:
        found = list(_of_value(token, target, values))
    elif token and (token.quoted or not token.closed):
        return []
    else:
        found = list(_of_field(token, target))
    rest = text[cursor:]
    return [_completed(text[:start], term, rest, what) for term, what in found[:most]]


def _of_field(token: Token | None, target: Target) -> Iterable[tuple[str, str]]:
    beginning = token.value.casefold() if token else ""
    sign = "-" if token and token.negated else ""
    for field in fields.of_target(target):
        if field.name.startswith(beginning) and not (sign and field.name == "sort"):
            yield f"{sign}{field.name}:", field.what


def _of_value(
    token: Token, target: Target, values: Mapping[str, tuple[str, ...]]
) -> Iterable[tuple[str, str]]:
    field = fields.named(token.name)
    if field is None or not field.applies_to(target):
        return
    beginning = token.value.removeprefix('"').casefold()
    for name, what in _values(field, target, values):
        if name.startswith(beginning):
            yield f"{Term(field.name, name, token.negated)} ", what


def _values(field: Field, target: Target, values: Mapping[str, tuple[str, ...]]) -> Iterable[tuple[str, str]]:
    if field.takes == "choice":
        yield from ((value.name, value.what) for value in field.values if value.applies_to(target))
    elif field.takes == "time":
        yield from ((age, "") for age in _AGES)
    else:
        yield from ((value, "") for value in values.get(field.name, ()))


def _completed(before: str, term: str, rest: str, what: str) -> Completion:
    if rest[:1].isspace():
        term = term.rstrip()
    return Completion(f"{before}{term}{rest}", len(before) + len(term), term.strip(), what)
