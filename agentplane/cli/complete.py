"""Shell completion of IDs, kinds, tool names and files.

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

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
Of = Literal["inbox", "shelf", "to review", "all"]
_PLAIN = re.compile(r"[\w.-]+")
_MANY = 50


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


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete files as the shell itself does."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]
