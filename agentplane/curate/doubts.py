"""Doubts about approved entries, which agentplane shows to tools in contexts and search results.

A doubt comes from the findings of the last pass. It ends when a person renews or changes the entry, or dismisses
the finding, even before the next pass.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import msgspec

from agentplane.curate import kept
from agentplane.curate.kept import Mark
from agentplane.curate.kinds import Kind
from agentplane.findings import Severity
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.text.visible import one_line


REASONS: Mapping[Kind, str] = {
    "check-failed": "its check fails",
    "evidence-gone": "its evidence is gone",
    "evidence-changed": "its evidence changed",
    "code-gone": "it names code that no longer exists",
    "contradiction": "it contradicts",
    "assumptions-contradict": "it contradicts",
}
"""The kinds of findings that make an entry doubtful, each with the reason that tools read."""
_OF_PAIRS: frozenset[Kind] = frozenset(("contradiction", "assumptions-contradict"))


class Doubt(msgspec.Struct, frozen=True):
    """The reasons why an entry may no longer be true."""

    since: date
    """The day on which a pass found the first reason."""
    reasons: tuple[str, ...]
    severity: Severity

    @property
    def text(self) -> str:
        """A phrase such as `unconfirmed since 2026-10-02: its evidence changed`."""
        return f"unconfirmed since {self.since}: {', '.join(self.reasons)}"


def of(memory: Memory) -> dict[str, Doubt]:
    """Return the doubts about accepted entries, by id."""
    found: dict[str, list[Mark]] = {}
    for mark in kept.valid_marks(memory):
        for id_ in mark.ids if mark.kind in REASONS else ():
            found.setdefault(id_, []).append(mark)
    return {id_: _doubt(id_, marks) for id_, marks in found.items()}


def withheld(memory: Memory, doubts: Mapping[str, Doubt]) -> frozenset[str]:
    """Return the ids of the entries that tools don't get, because the settings say so."""
    if memory.snapshot.settings.curate.withhold == "never":
        return frozenset()
    return frozenset(id_ for id_, doubt in doubts.items() if doubt.severity == "error")


def without(entries: Iterable[Entry], ids: frozenset[str]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.id not in ids)


def _doubt(id_: str, marks: Sequence[Mark]) -> Doubt:
    reasons = dict.fromkeys(_reason(id_, mark) for mark in marks)
    is_error = any(mark.severity == "error" for mark in marks)
    return Doubt(min(mark.since for mark in marks), tuple(reasons), "error" if is_error else "warning")


def _reason(id_: str, mark: Mark) -> str:
    if mark.kind not in _OF_PAIRS:
        return REASONS[mark.kind]
    others = [one_line(other, 40) for other in mark.ids if other != id_]
    return f"{REASONS[mark.kind]} {' and '.join(others)}"
