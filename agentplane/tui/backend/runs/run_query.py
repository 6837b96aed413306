"""The filter for runs, with words and the fields `tool:`, `task:`, `outcome:` and `layer:`."""

from collections.abc import Callable

from agentplane.runs.query.timeline import TimelineRow
from agentplane.tui.backend.entries.memory_query import Query


HINT = "words   tool:codex  task:webhooks  outcome:failed"
_FIELDS = ("tool", "task", "outcome", "layer")


def parse(text: str) -> Query:
    """Return the query for a typed text. An unknown field counts as a word. A field without a value is ignored."""
    words: list[str] = []
    fields: list[tuple[str, str]] = []
    for part in text.casefold().split():
        name, colon, value = part.partition(":")
        if colon and name in _FIELDS:
            fields += [(name, value)] if value else []
        else:
            words.append(part)
    return Query(tuple(words), tuple(fields))


def fits(query: Query, row: TimelineRow) -> bool:
    names = dict.fromkeys(name for name, _ in query.fields)
    return all(
        any(_HAS[name](value, row) for other, value in query.fields if other == name) for name in names
    ) and all(word in _haystack(row) for word in query.words)


_HAS: dict[str, Callable[[str, TimelineRow], bool]] = {
    "tool": lambda value, row: value in (row.tool or "").casefold(),
    "task": lambda value, row: value in (row.task or "").casefold(),
    "outcome": lambda value, row: row.outcome.startswith(value),
    "layer": lambda value, row: (row.layer or "").casefold().startswith(value),
}


def _haystack(row: TimelineRow) -> str:
    parts = (row.run_id, row.task, row.title, row.tool, row.summary, *row.command)
    return " ".join(part for part in parts if part).casefold()
