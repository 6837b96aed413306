"""Shell completion of queries, IDs, kinds, tool names, dates, settings and files.

It never prints an error.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Literal

import click

from agentplane.api import Plane, open_plane
from agentplane.errors import AgentplaneError
from agentplane.memory import verbs
from agentplane.text.visible import one_line


if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from agentplane.query.fields import Target
    from agentplane.query.records import QueryRecord

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
Of = Literal["inbox", "shelf", "to review", "all"]
_PLAIN = re.compile(r"[\w.-]+")
_TERM = re.compile(r"[\w.:/+@-]+")
"""Terms that need no quotes in a shell."""
_MANY = 50
_MOST_RUNS = 500
"""Latest rows of the timeline that values are taken from."""


def ids(of: Of) -> Complete:
    """Complete IDs in upper or lower case, with their statements as help."""

    def found(plane: Plane) -> Iterator[tuple[str, str]]:
        memory = plane.memory.read()
        if of == "to review":
            yield from ((edit.id, f"manual edit: {edit.change}") for edit in memory.hand_edits)
        entries = {
            "inbox": memory.inbox,
            "to review": memory.inbox,
            "shelf": memory.shelf,
            "all": list(memory.entries.values()),
        }[of]
        yield from ((entry.id, entry.statement) for entry in entries)

    return _from_plane(found)


def _ops(plane: Plane) -> Iterator[tuple[str, str]]:
    for op in plane.history.ops(_MANY):
        if not op.undone:
            yield op.op, f"{verbs.past(op.verb)} {', '.join(op.ids)}"


def _runs(plane: Plane) -> Iterator[tuple[str, str]]:
    from agentplane.runs.query import timeline

    rows = (row for row in timeline.rows(plane.layout) if row.kind == "run" and row.run_id)
    for row in islice(rows, _MANY):
        yield row.run_id or "", row.summary or " ".join(row.command)


def _from_plane(found: Callable[[Plane], Iterable[tuple[str, str]]]) -> Complete:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        given = ctx.params.get(param.name or "") or ()
        wanted = ctx.find_root().params.get("plane") or "."
        if not os.path.isdir(wanted):
            return []
        with suppress(AgentplaneError, OSError):
            plane = open_plane(wanted, channel="cli")
            return [
                CompletionItem(name, help=one_line(text, 60))
                for name, text in found(plane)
                if name.lower().startswith(incomplete.lower())
                and name not in given
                and _PLAIN.fullmatch(name)
            ]
        return []

    return complete


ops, runs = _from_plane(_ops), _from_plane(_runs)
kinds = _from_plane(lambda plane: ((name, kind.prefix) for name, kind in plane.memory.read().kinds.items()))


def finding_kinds(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete the kinds of the curator's findings."""
    from click.shell_completion import CompletionItem

    from agentplane.curate.kinds import KINDS

    return [
        CompletionItem(kind, help=row.title)
        for kind, row in KINDS.items()
        if kind.startswith(incomplete.lower())
    ]


def query(target: "Target") -> Complete:
    """Complete a term of a query: a field, or a value that the list has."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        from agentplane.query.complete import completions

        values = _values(ctx, target) if ":" in incomplete else {}
        found = completions(incomplete, len(incomplete), target, values, most=_MANY)
        return [CompletionItem(one.shown, help=one.what) for one in found if _TERM.fullmatch(one.shown)]

    return complete


def _values(ctx: click.Context, target: "Target") -> dict[str, tuple[str, ...]]:
    """Return the values in a list by field. Return none if there is no project memory."""
    from agentplane.query.complete import known

    wanted = ctx.find_root().params.get("plane") or "."
    with suppress(AgentplaneError, OSError):
        plane = open_plane(wanted, channel="cli")
        return known(_records(plane, target))
    return {}


def _records(plane: Plane, target: "Target") -> "Iterator[QueryRecord]":
    from agentplane.query import records

    if target == "inbox":
        return map(records.of_candidate, plane.memory.read().inbox)
    if target == "memory":
        return map(records.of_approved, plane.memory.read().shelf)
    from agentplane.runs.query import timeline

    return map(records.of_run, islice(timeline.rows(plane.layout), _MOST_RUNS))


def _words(*known: tuple[str, str]) -> Complete:
    """Complete one of these words. Each has a help text."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        return [CompletionItem(word, help=what) for word, what in known if word.startswith(incomplete)]

    return complete


until = _words(
    ("1d", "tomorrow"), ("3d", "in 3 days"), ("1w", "in a week"), ("2w", "in 2 weeks"), ("4w", "in 4 weeks")
)
expiry = _words(
    ("never", "no expiry date"), ("30d", "in 30 days"), ("12w", "in 12 weeks"), ("52w", "in a year")
)
since = _words(
    ("1h", "an hour ago"),
    ("1d", "a day ago"),
    ("3d", "3 days ago"),
    ("1w", "a week ago"),
    ("4w", "4 weeks ago"),
)


def _tags(plane: Plane) -> Iterator[tuple[str, str]]:
    memory = plane.memory.read()
    tags = dict.fromkeys(tag for entry in memory.entries.values() for tag in entry.head.tags)
    return ((tag, "") for tag in sorted(tags))


tags = _from_plane(_tags)


def _names(known: Callable[[], Iterable[str]]) -> Complete:
    """Complete the last name of a list that is separated by commas."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(before + comma + name) for name in known() if name.startswith(last.lower())]

    return complete


def _tools() -> list[str]:
    from agentplane.agents.catalog import TOOLS

    return [tool.name for tool in TOOLS]


def _sources() -> list[str]:
    from agentplane.tools.harvest.harvest import SOURCES

    return list(SOURCES)


tools, sources = _names(_tools), _names(_sources)


def settings(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete the names of settings."""
    from click.shell_completion import CompletionItem

    from agentplane.plane.settings_table import SETTINGS

    return [
        CompletionItem(setting.name, help=one_line(setting.what, 60))
        for setting in SETTINGS
        if setting.name.startswith(incomplete)
    ]


def setting_values(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete the values of a setting that has only a few."""
    from click.shell_completion import CompletionItem

    from agentplane.plane.settings_table import SETTINGS

    choices = next((one.choices for one in SETTINGS if one.name == ctx.params.get("name")), ())
    values = (str(choice).lower() if isinstance(choice, bool) else choice for choice in choices)
    return [CompletionItem(value) for value in values if value.startswith(incomplete)]


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete files as the shell itself does."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]
