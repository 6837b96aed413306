"""Text to query and back.

A query is a list of words and of terms such as `kind:fact`. A minus sign before a term negates it, and quotes
keep words together. Printing a query and parsing the result returns the same query.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from agentplane.errors import BadInput
from agentplane.query import fields
from agentplane.query.fields import TITLES, Field, Target
from agentplane.text import moments
from agentplane.text.visible import one_line


_FIELD = re.compile(r"([^\W\d_][^\W\d_-]*(?:-[^\W\d_]+)*):")
_QUOTED = re.compile(r'"((?:\\["\\]|[^"])*)"')
_ESCAPED = re.compile(r'\\(["\\])')
_BARE = re.compile(r"\S*")
_SPACE = re.compile(r"\s*")
_SHOWN = 40


class Term(msgspec.Struct, frozen=True):
    field: str
    """The name of a field, or an empty string for a word."""
    value: str
    """In lower case. A fixed value has its full name."""
    negated: bool = False

    def __str__(self) -> str:
        named = f"{self.field}:" if self.field else ""
        return f"{'-' if self.negated else ''}{named}{_printed(self.value, word=not self.field)}"


class Query(msgspec.Struct, frozen=True):
    terms: tuple[Term, ...] = ()
    sort: str = ""
    """The name of an order, or an empty string for the order of the list."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that have to match."""
        return tuple(term.value for term in self.terms if not term.field and not term.negated)

    @property
    def without_words(self) -> "Query":
        """The query without the words that have to match."""
        kept = tuple(term for term in self.terms if term.field or term.negated)
        return Query(kept, self.sort)

    def asks_for(self, field: str) -> bool:
        return any(term.field == field for term in self.terms)

    def can_match(self, target: Target) -> bool:
        """False if a term needs a field that the rows of this list don't have."""
        positive = (fields.named(term.field) for term in self.terms if not term.negated)
        return all(field is None or field.applies_to(target) for field in positive)

    @property
    def needs_states(self) -> bool:
        """True if matching or sorting looks at the states of `is:`. They change without the text of an entry."""
        return self.asks_for("is") or self.sort == "state"

    def __str__(self) -> str:
        return " ".join([*map(str, self.terms), *([f"sort:{self.sort}"] if self.sort else [])])


EMPTY = Query()


class QueryError(BadInput):
    """A query that can't be read. The error points to one term."""

    def __init__(self, what: str, todo: str, token: "Token") -> None:
        where = one_line(token.text, _SHOWN) if token.value.strip() else None
        super().__init__(what, where=where, todo=todo)
        self.start = token.start
        self.end = token.end

    @property
    def line(self) -> str:
        """The error and its fix in one line."""
        return one_line(f"{self.what} {self.todo}")


class Token(msgspec.Struct, frozen=True):
    """A typed term."""

    text: str
    start: int
    negated: bool
    name: str
    """The text before the colon, in lower case, or an empty string."""
    value: str
    quoted: bool
    closed: bool = True
    """False if the closing quote is missing."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens(text: str) -> Iterator[Token]:
    """Yield the terms of a text."""
    place = _end(_SPACE, text, 0)
    while place < len(text):
        token = _token(text, place)
        yield token
        place = _end(_SPACE, text, token.end)


def _token(text: str, start: int) -> Token:
    at = start
    negated = text[at] == "-" and at + 1 < len(text) and not text[at + 1].isspace()
    at += negated
    field = _FIELD.match(text, at)
    name = field[1].casefold() if field and _is_field(field[1].casefold(), text, field.end()) else ""
    if field and name:
        at = field.end()
    quoted = _QUOTED.match(text, at)
    if quoted:
        return Token(text[start : quoted.end()], start, negated, name, _ESCAPED.sub(r"\1", quoted[1]), True)
    closed = not text.startswith('"', at)
    end = _end(_BARE, text, at) if closed else len(text)
    return Token(text[start:end], start, negated, name, text[at:end], quoted=False, closed=closed)


def _is_field(name: str, text: str, end: int) -> bool:
    """True if a name before a colon is meant as a field. In `https://…`, `std::move` and `note: text` it isn't."""
    if fields.named(name):
        return True
    following = text[end : end + 1]
    return bool(following) and not following.isspace() and following not in "/:\\"


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def parse(text: str, target: Target) -> Query:
    """Return the query of a text, for one of the lists. Raise QueryError if the text can't be read."""
    terms: list[Term] = []
    sort = ""
    for token in tokens(text):
        if not token.closed:
            raise QueryError("The quote isn't closed.", 'Add " at the end.', token)
        term = _term(token, target)
        if term.field == "sort":
            if sort:
                raise QueryError("sort: can be used only once.", "Remove one of the sort: terms.", token)
            sort = term.value
        elif term.value:
            terms.append(term)
    return Query(tuple(terms), sort)


def words_of(text: str) -> str:
    """Return the words of a text that have to match, in upper and lower case as they were typed."""
    return " ".join(token.value for token in tokens(text) if not token.name and not token.negated)


def _term(token: Token, target: Target) -> Term:
    value = token.value.casefold()
    if not token.name:
        return Term("", value, token.negated)
    field = fields.named(token.name)
    if field is None:
        raise _unknown_field(token, target)
    if not field.applies_to(target):
        raise QueryError(f"{field.name}: doesn't apply to {TITLES[target]}.", _fields_text(target), token)
    if field.name == "sort" and token.negated:
        raise QueryError("sort: can't be negated.", "Remove the minus sign.", token)
    if not value.strip():
        raise QueryError(f"{field.name}: needs a value.", _values_text(field, target), token)
    if field.takes == "time" and moments.moment(value, datetime.now(UTC)) is None:
        what = f'"{one_line(token.value, _SHOWN)}" is not a date or an age.'
        raise QueryError(what, f"Use {moments.FORMS}.", token)
    if field.takes == "choice":
        value = _choice(field, value, token, target)
    return Term(field.name, value, token.negated)


def _choice(field: Field, value: str, token: Token, target: Target) -> str:
    """Return the full name of a fixed value. Its beginning is enough if no other value begins like this."""
    exact = field.value(value)
    here = [one for one in field.values if one.applies_to(target)]
    if exact is not None and exact not in here:
        what = f"{field.name}:{exact.name} doesn't apply to {TITLES[target]}."
        raise QueryError(what, _values_text(field, target), token)
    begun = [one for one in here if any(name.startswith(value) for name in (one.name, *one.aliases))]
    if exact is None and len(begun) > 1:
        names = " or ".join(f"{field.name}:{one.name}" for one in begun)
        raise QueryError(f'"{one_line(token.value, _SHOWN)}" is ambiguous.', f"Use {names}.", token)
    found = exact or next(iter(begun), None)
    if found is None:
        names_here = [name for one in here for name in (one.name, *one.aliases)]
        near = _nearest(value, names_here)
        todo = f"Did you mean {field.name}:{near}?" if near else _values_text(field, target)
        raise QueryError(f'{field.name}: has no value "{one_line(token.value, _SHOWN)}".', todo, token)
    return found.name


def _unknown_field(token: Token, target: Target) -> QueryError:
    here = [name for field in fields.of_target(target) for name in (field.name, *field.aliases)]
    near = _nearest(token.name, here)
    todo = f"Did you mean {near}:?" if near else _fields_text(target)
    what = f'Unknown field "{one_line(token.name, _SHOWN)}".'
    return QueryError(what, f"{todo} To search for the text itself, put the text in quotes.", token)


def _nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches  # only errors need it

    return next(iter(get_close_matches(name, known, 1, 0.5)), "")


def _fields_text(target: Target) -> str:
    return f"The fields are {', '.join(field.name for field in fields.of_target(target))}."


def _values_text(field: Field, target: Target) -> str:
    if field.takes == "time":
        return f"Use {moments.FORMS}."
    names = [value.name for value in field.values if value.applies_to(target)]
    return f"Use {', '.join(names)}." if names else f"For example, {field.example}."


def _printed(value: str, *, word: bool) -> str:
    """Return a value in quotes if it would be read differently without them."""
    bare = not re.search(r"\s", value) and not value.startswith('"') and value != ""
    if word:
        bare = bare and not value.startswith("-") and not _FIELD.match(value)
    if bare:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
