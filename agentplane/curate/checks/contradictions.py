"""Approved entries that contradict each other."""

from collections.abc import Iterator

from agentplane.curate.finding import Finding, Pair
from agentplane.curate.pairs.compared import Judged
from agentplane.curate.pairs.entry_pairs import EntryPair, are_apart, related
from agentplane.curate.pairs.keep_both import KeptPairs
from agentplane.curate.pairs.relations import basis_of
from agentplane.curate.remedies import Deprecate, EditEntry, Remedy, Supersede
from agentplane.curate.subject import Subject
from agentplane.memory.entry import Entry
from agentplane.review.conflicts.resolve import named
from agentplane.text.visible import one_line


_SHORT = 40
_ASSUMPTION = "assumption"


def check(subject: Subject) -> Iterator[Finding]:
    wanted = {entry.id for entry in subject.entries}
    kept = KeptPairs(subject.memory)
    for pair in related(subject):
        if wanted.isdisjoint(pair.ids) or are_apart(pair.newer, pair.older):
            continue
        found = _contradiction(pair)
        if found is not None and not kept.has(pair.newer, pair.older):
            yield _finding(subject, *found)


def _contradiction(pair: EntryPair) -> tuple[Entry, Entry, Judged] | None:
    """Return the entry that contradicts the other, the other, and the reasons. None if they don't contradict."""
    for one, other, judged in ((pair.newer, pair.older, pair.forth), (pair.older, pair.newer, pair.back)):
        if judged is not None and judged.kind != "duplicate":
            return one, other, judged
    return None


def _finding(subject: Subject, entry: Entry, other: Entry, judged: Judged) -> Finding:
    name, other_name = one_line(entry.id, _SHORT), one_line(other.id, _SHORT)
    reasons = (named(reason, f"in {name}", f"in {other_name}") for reason in judged.reasons)
    verb = "contradicts" if judged.kind == "contradiction" else "claims to replace a choice in"
    both = entry.head.type == other.head.type == _ASSUMPTION
    return Finding(
        "assumptions-contradict" if both else "contradiction",
        (entry.id, other.id),
        subject.shown(entry),
        f"{name} {verb} {other_name}",
        Pair(entry.id, other.id, entry.statement, other.statement, "; ".join(reasons)),
        _remedies(entry, other),
        basis=basis_of((entry, other)),
    )


def _remedies(entry: Entry, other: Entry) -> tuple[Remedy, ...]:
    return (
        Supersede(other.id, entry.id),
        Supersede(entry.id, other.id),
        Deprecate((other.id,)),
        Deprecate((entry.id,)),
        EditEntry(entry.id),
        EditEntry(other.id),
    )
