"""Which entries a pack takes, and in which order: what must hold first, then what is near to the work at hand."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from agentplane.memory.entry import Entry
from agentplane.text.globs import can_meet


KINDS = ("invariant", "decision", "assumption", "fact")
PINNED = "*pinned"
"""The section behind the invariants; no kind can have this name."""


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
    near: Mapping[str, int] = {}
    """The place of those that share words with the task, by how near they are to it; from 0 on."""

    def without(self, entries: Sequence[Entry]) -> "Choice":
        gone = {entry.id for entry in entries}
        return Choice(
            tuple(entry for entry in self.ordered if entry.id not in gone),
            tuple(entry for entry in self.outside if entry.id not in gone),
            self.near,
        )


def choose(entries: Sequence[Entry], ask: Ask) -> Choice:
    """Pure: the same entries and the same ask give the same order."""
    inside = [entry for entry in entries if can_meet(entry.head.scope, ask.paths)]
    outside = [entry for entry in entries if not can_meet(entry.head.scope, ask.paths)]
    near = _near(inside, ask.task)
    ordered = sorted(inside, key=lambda entry: entry.id)
    ordered.sort(key=lambda entry: entry.head.updated or "", reverse=True)
    ordered.sort(key=lambda entry: near.get(entry.id, len(near)))
    ordered.sort(key=lambda entry: (*_rank(entry), not (ask.paths and entry.head.scope)))
    return Choice(tuple(ordered), tuple(sorted(outside, key=lambda entry: entry.id)), near)


def section(entry: Entry) -> str:
    """Under which heading a pack has it: its kind, unless it is pinned and no invariant."""
    return PINNED if entry.head.pinned and entry.head.type != "invariant" else entry.head.type


def _rank(entry: Entry) -> tuple[int, bool, int]:
    """Invariants, then what is pinned, then the rest; among invariants what is pinned first."""
    place = 0 if entry.head.type == "invariant" else 1 if entry.head.pinned else 2
    return place, not entry.head.pinned, _kind(entry)


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
