"""The conflicts that new texts and fields of approved entries bring.

A text that an invariant excludes is refused, as in an edit. Other conflicts are reported with the result, so that
no contradiction is silent.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentplane.errors import Refused
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Plan
from agentplane.review import inbox_conflicts
from agentplane.review.conflicts.conflicts import Conflict
from agentplane.review.conflicts.resolve import EXCLUDING, described
from agentplane.text.visible import one_line


_COMPARED = ("scope", "type")
"""The header fields that decide which entries conflict."""


def conflicts(memory: Memory, plan: Plan) -> dict[str, Sequence[Conflict]]:
    """Return the conflicts of the texts that a plan writes with other accepted entries, by entry.

    A conflict that the earlier texts of the plan's entries had already isn't new. Raise Refused if an invariant
    excludes a new text.
    """
    earlier = {edit.id: memory.entries[edit.id] for edit in plan.edits if edit.id in memory.entries}
    later = [entry for entry in _accepted(memory, plan) if _is_new(entry, earlier.get(entry.id))]
    if not later:
        return {}
    before = [entry for entry in earlier.values() if entry.head.status == "accepted"]
    found = inbox_conflicts.deciding(memory)([*later, *before], None)
    met = dict(zip([entry.id for entry in later], found, strict=False))
    known = _known(before, found[len(later) :])
    new = {entry.id: _new(entry, met[entry.id], earlier, known) for entry in later}
    for entry in later:
        _check_allowed(entry, new[entry.id])
    return {id_: tuple(found) for id_, found in new.items() if found}


def _accepted(memory: Memory, plan: Plan) -> Iterator[Entry]:
    """Yield the accepted entries that a plan writes."""
    for edit in plan.edits:
        if edit.file != INBOX and edit.text is not None:
            written = memory.entries_in(edit.text, edit.file)
            yield from (entry for entry in written if entry.head.status == "accepted")


def _is_new(entry: Entry, before: Entry | None) -> bool:
    if before is None or before.statement != entry.statement:
        return True
    return any(getattr(entry.head, name) != getattr(before.head, name) for name in _COMPARED)


def _known(
    before: Iterable[Entry], found: Iterable[Sequence[Conflict]]
) -> Mapping[tuple[str, str], set[str]]:
    """Return the entries that earlier texts conflicted with already, by the kind of entry and of conflict."""
    known: dict[tuple[str, str], set[str]] = {}
    for entry, each in zip(before, found, strict=True):
        for conflict in each:
            known.setdefault((entry.head.type, conflict.kind), set()).add(conflict.id)
    return known


def _new(
    entry: Entry,
    met: Sequence[Conflict],
    earlier: Mapping[str, Entry],
    known: Mapping[tuple[str, str], set[str]],
) -> list[Conflict]:
    return [
        conflict
        for conflict in met
        if conflict.kind in ("contradiction", "duplicate")
        and not conflict.is_quiet
        and conflict.id not in earlier
        and conflict.id not in known.get((entry.head.type, conflict.kind), ())
    ]


def _check_allowed(entry: Entry, met: Iterable[Conflict]) -> None:
    for conflict in met:
        is_rule = conflict.weight == "blocks" or (entry.head.type in EXCLUDING and conflict.needs_choice)
        if conflict.kind == "contradiction" and is_rule:
            raise Refused(
                f"{one_line(entry.id, 40)} {described(conflict)}. An approved entry can't contradict an invariant",
                todo=f"Reword the text, or run `agentplane deprecate {one_line(conflict.id, 40)}` first.",
            )
