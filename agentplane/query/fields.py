"""The fields of a query, each with its meaning, its values, and the lists that it applies to.

Parsing, completion and docs/reference/query.md are made from this table.
"""

from typing import Literal

import msgspec


Target = Literal["inbox", "memory", "runs", "all"]
"""A list that a query can filter. `memory` is the list of approved entries, and `all` the search in the other three."""
Takes = Literal["text", "choice", "time"]

_EVERY: tuple[Target, ...] = ("inbox", "memory", "runs")
_ENTRIES: tuple[Target, ...] = ("inbox", "memory")
_INBOX: tuple[Target, ...] = ("inbox",)
_MEMORY: tuple[Target, ...] = ("memory",)
_RUNS: tuple[Target, ...] = ("runs",)
TITLES: dict[Target, str] = {"inbox": "the inbox", "memory": "memory", "runs": "runs", "all": "the search"}


class Value(msgspec.Struct, frozen=True):
    """One of the fixed values of a field."""

    name: str
    what: str
    where: tuple[Target, ...]
    """The lists that it applies to."""
    aliases: tuple[str, ...] = ()

    def applies_to(self, target: Target) -> bool:
        return target == "all" or target in self.where


class Field(msgspec.Struct, frozen=True):
    name: str
    what: str
    example: str
    where: tuple[Target, ...]
    aliases: tuple[str, ...] = ()
    takes: Takes = "text"
    values: tuple[Value, ...] = ()
    """The fixed values of a choice."""
    match_all: bool = False
    """True if every term has to match. Otherwise one value of a repeated field is enough."""
    has_blanks: bool = False
    """True if its values can have blanks."""

    def value(self, name: str) -> Value | None:
        return next((value for value in self.values if name in (value.name, *value.aliases)), None)

    def applies_to(self, target: Target) -> bool:
        return target == "all" or target in self.where


STATES = (
    Value("conflict", "has a conflict that a person has to resolve", _INBOX),
    Value("flagged", "has a flag to read before you approve", _INBOX),
    Value("ready", "has no conflict and no flag", _INBOX),
    Value("unchecked", "is still being checked", _INBOX),
    Value("manual-edit", "has a manual edit", _ENTRIES, ("edited",)),
    Value("expired", "is past its expiry date", _ENTRIES),
    Value("expiring", "expires within the number of days in `expiry.warn_days`", _MEMORY),
    Value("pinned", "is pinned", _ENTRIES),
    Value("snoozed", "is hidden from the inbox until a given date", _INBOX),
    Value("sent-back", "was sent back to its proposer with a comment", _INBOX),
)
_STATUSES = (
    Value("accepted", "tools receive the entry", _MEMORY),
    Value("deprecated", "a person deprecated the entry", _MEMORY),
    Value("superseded", "another entry replaced this entry", _MEMORY),
)
_OUTCOMES = (
    Value("ok", "exit status 0", _RUNS),
    Value("failed", "any other exit status", _RUNS),
    Value("ended", "the exit status is unknown, or the run was restarted", _RUNS),
    Value("open", "still running", _RUNS),
    Value("lost", "the process ended before the run was sealed", _RUNS),
    Value("import", "an import of candidates from files", _RUNS),
)
SORTS = (
    Value("newest", "latest date first", _ENTRIES),
    Value("oldest", "earliest date first", _ENTRIES),
    Value("state", "conflicts first, then flags, then the rest", _ENTRIES),
    Value("kind", "by kind", _ENTRIES),
    Value("tool", "by the tool that proposed the entry", _ENTRIES),
    Value("text", "by the statement", _ENTRIES),
)

# fmt: off
FIELDS = (
    Field("kind", "Kind of memory", "kind:fact", _ENTRIES, ("type",)),
    Field("tool", "Tool that proposed the entry or performed the run", "tool:codex", _EVERY, has_blanks=True),
    Field("by", "Tool or person that proposed or approved the entry, or performed the run", "by:ada", _EVERY, has_blanks=True),
    Field("is", "State", "is:expired", _ENTRIES, takes="choice", values=STATES, match_all=True),
    Field("status", "Status of an approved entry", "status:superseded", _MEMORY, takes="choice", values=_STATUSES),
    Field("tag", "Tag", "tag:money", _ENTRIES, has_blanks=True),
    Field("path", "Path or glob in the scope of the entry", "path:app/db/", _ENTRIES, ("scope",), has_blanks=True),
    Field("run", "Run that the entry came from, or the run itself", "run:azz8", _EVERY),
    Field("task", "Task of the run", "task:webhooks", _RUNS, has_blanks=True),
    Field("outcome", "How the run ended", "outcome:failed", _RUNS, takes="choice", values=_OUTCOMES),
    Field("layer", "Layer of the entry or run (L0 to L6)", "layer:L5", _EVERY, has_blanks=True),
    Field("older", "Last updated before a given date, or more than a given time ago", "older:7d", _EVERY, takes="time", match_all=True),
    Field("newer", "Last updated on or after a given date, or no more than a given time ago", "newer:2026-09-01", _EVERY, takes="time", match_all=True),
    Field("id", "ID, or the beginning of an ID", "id:DEC-01", _EVERY),
    Field("sort", "Sort order of the list", "sort:newest", _ENTRIES, takes="choice", values=SORTS),
)
# fmt: on

_BY_NAME = {name: field for field in FIELDS for name in (field.name, *field.aliases)}


def named(name: str) -> Field | None:
    """Return the field with this name or alias."""
    return _BY_NAME.get(name)


def of_target(target: Target) -> tuple[Field, ...]:
    """Return the fields that apply to a list."""
    return tuple(field for field in FIELDS if field.applies_to(target))
