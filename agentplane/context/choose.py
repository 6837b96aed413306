"""The choice and order of entries for a context pack.

Invariants come first, then pinned entries, then the entries closest to the current work.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from agentplane.memory.entry import Entry
from agentplane.text.globs import can_meet


KINDS = ("invariant", "decision", "assumption", "fact")
PINNED = "*pinned"
"""The section after the invariants. No kind can have this name."""


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request for a context pack."""

    task: str | None = None
    paths: tuple[str, ...] = ()
    """Paths or globs of the current work. Empty means the whole project."""
    budget: int = 2400
    """Maximum size, in tokens as estimated by `pack.tokens`, or in characters."""
    measure: Literal["tokens", "characters"] = "tokens"
    """The unit of the budget. Some tools truncate text after a number of characters."""
    passing: bool = True
    """Whether to include facts that change soon, such as the last run and the size of the inbox.

    Files under version control leave them out.
    """
    reader: str | None = None
    """The tool that gets the context pack. It includes the candidates that were sent back to this tool."""


class Choice(msgspec.Struct, frozen=True):
    """The entries in the order in which they get room, and the entries for other paths."""

    ordered: tuple[Entry, ...]
    outside: tuple[Entry, ...]
    near: Mapping[str, int] = {}
    """The rank by similarity to the task, from 0, of each entry that shares words with it."""

    def without(self, entries: Sequence[Entry]) -> "Choice":
        gone = {entry.id for entry in entries}
        return Choice(
            tuple(entry for entry in self.ordered if entry.id not in gone),
            tuple(entry for entry in self.outside if entry.id not in gone),
            self.near,
        )


def choose(entries: Sequence[Entry], ask: Ask) -> Choice:
    """Return the entries in order. The function is pure, so equal arguments give equal results."""
    inside = [entry for entry in entries if can_meet(entry.head.scope, ask.paths)]
    outside = [entry for entry in entries if not can_meet(entry.head.scope, ask.paths)]
    near = _near(inside, ask.task)
    ordered = sorted(inside, key=lambda entry: entry.id)
    ordered.sort(key=lambda entry: entry.head.updated or "", reverse=True)
    ordered.sort(key=lambda entry: near.get(entry.id, len(near)))
    ordered.sort(key=lambda entry: (*_rank(entry), not (ask.paths and entry.head.scope)))
    return Choice(tuple(ordered), tuple(sorted(outside, key=lambda entry: entry.id)), near)


def section(entry: Entry) -> str:
    """Return the section of an entry in a context pack.

    It is the kind of the entry, except for pinned entries that aren't invariants.
    """
    return PINNED if entry.head.pinned and entry.head.type != "invariant" else entry.head.type


def _rank(entry: Entry) -> tuple[int, bool, int]:
    """Sort key for invariants, then pinned entries, then all others. Pinned invariants come first."""
    place = 0 if entry.head.type == "invariant" else 1 if entry.head.pinned else 2
    return place, not entry.head.pinned, _kind(entry)


def _kind(entry: Entry) -> int:
    """Sort key for kinds. Custom kinds come after the built-in ones."""
    return KINDS.index(entry.head.type) if entry.head.type in KINDS else len(KINDS)


def _near(entries: Sequence[Entry], task: str | None) -> dict[str, int]:
    """Return the rank of each entry by similarity to the task. Entries without a shared word have none."""
    if not task or not task.strip() or not entries:
        return {}
    from agentplane.match.bm25 import Index
    from agentplane.match.words import counted

    scores = Index([counted(f"{entry.body}\n{' '.join(entry.head.tags)}") for entry in entries]).bm25(
        [counted(task)]
    )[0]
    ranked = sorted(range(len(entries)), key=lambda place: (-float(scores[place]), entries[place].id))
    return {entries[place].id: rank for rank, place in enumerate(ranked) if scores[place] > 0}
