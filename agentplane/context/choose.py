"""Which entries a pack takes, and in which order: what must hold first, then what is near to the work at hand."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from agentplane.memory.entry import Entry
from agentplane.review.globs import can_meet


KINDS = ("invariant", "decision", "assumption", "fact")


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a pack is for."""

    task: str | None = None
    paths: tuple[str, ...] = ()
    """What the work is about, as paths or globs; none: the whole project."""
    budget: int = 2400
    """At most so many tokens, by the estimate of `pack.tokens`, or characters."""
    measure: Literal["tokens", "characters"] = "tokens"
    """What the budget is counted in: some tools cut off after a number of characters."""
    passing: bool = True
    """Whether it tells what will soon be different: the last run, and what waits. Files that git carries do without."""


class Choice(msgspec.Struct, frozen=True):
    """The entries in the order in which they get room, and those that are not about these paths."""

    ordered: tuple[Entry, ...]
    outside: tuple[Entry, ...]


def choose(entries: Sequence[Entry], ask: Ask) -> Choice:
    """Pure: the same entries and the same ask give the same order."""
    inside = [entry for entry in entries if can_meet(entry.head.scope, ask.paths)]
    outside = [entry for entry in entries if not can_meet(entry.head.scope, ask.paths)]
    near = _near(inside, ask.task)
    ordered = sorted(inside, key=lambda entry: entry.id)
    ordered.sort(key=lambda entry: entry.head.updated or "", reverse=True)
    ordered.sort(key=lambda entry: near.get(entry.id, len(near)))
    ordered.sort(key=lambda entry: (_kind(entry), not (ask.paths and entry.head.scope)))
    return Choice(tuple(ordered), tuple(sorted(outside, key=lambda entry: entry.id)))


def _kind(entry: Entry) -> int:
    """Kinds of a project's own come after the built-in ones."""
    return KINDS.index(entry.head.type) if entry.head.type in KINDS else len(KINDS)


def _near(entries: Sequence[Entry], task: str | None) -> dict[str, int]:
    """The place of each entry by how near it is to the words of the task; only those that share one have a place."""
    if not task or not task.strip() or not entries:
        return {}
    from agentplane.match.bm25 import Index
    from agentplane.match.words import counted

    scores = Index([counted(f"{entry.body}\n{' '.join(entry.head.tags)}") for entry in entries]).bm25(
        [counted(task)]
    )[0]
    ranked = sorted(range(len(entries)), key=lambda place: (-float(scores[place]), entries[place].id))
    return {entries[place].id: rank for rank, place in enumerate(ranked) if scores[place] > 0}
