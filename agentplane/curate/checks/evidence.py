"""Evidence that changed, moved or was removed after a person approved or renewed its entry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentplane.curate.anchors.bulk import Asked, compared
from agentplane.curate.anchors.source import digest
from agentplane.curate.anchors.states import CantTell, Change, Changed, Gone, Moved, State
from agentplane.curate.finding import Diff, Finding, Lines, Proof
from agentplane.curate.kinds import Kind
from agentplane.curate.remedies import Deprecate, EditEntry, MoveEvidence, Remedy, Renew
from agentplane.curate.subject import Subject
from agentplane.memory.entry import Entry


def check(subject: Subject) -> Iterable[Finding]:
    """Return the findings about the evidence of entries. Unchanged or reformatted evidence has no finding."""
    entries: Mapping[str, Entry] = {entry.id: entry for entry in subject.entries}
    for piece, state in compared(_pieces(subject), subject.layout, subject.report):
        if finding := _finding(subject, entries[piece.entry], state):
            yield finding


def _pieces(subject: Subject) -> Iterator[Asked]:
    """Yield each piece of evidence of the entries, with its recorded state if there is one."""
    observed = subject.recorded.observed
    for entry in subject.entries:
        evidence = entry.head.evidence
        if not evidence:
            continue
        id_ = entry.id
        recorded = observed.get(id_)
        states = recorded.evidence if recorded is not None else None
        commit = recorded.commit if recorded is not None and recorded.commit else entry.head.anchor
        if states is None:
            yield from ((id_, text, None, commit) for text in dict.fromkeys(evidence))
            continue
        for place, text in enumerate(evidence):
            one = states[place] if place < len(states) and states[place].evidence == text else None
            if one is None:  # the evidence was edited, or it is in another order
                one = next((other for other in states if other.evidence == text), None)
            yield id_, text, one, commit


def _finding(subject: Subject, entry: Entry, state: State) -> Finding | None:
    match state:
        case Gone():
            what = f"`{state.evidence}` was removed{_by(state.change)}"
            proof = _proof(state.change, state.evidence)
            return _made(subject, entry, state, "evidence-gone", what, proof, _after_loss(entry))
        case Changed():
            place = "" if state.now == state.evidence else f" and is now `{state.now}`"
            what = f"`{state.evidence}` changed{place}{_by(state.change)}"
            proof = _proof(state.change, state.now)
            return _made(subject, entry, state, "evidence-changed", what, proof, _after_change(entry, state))
        case Moved():
            by = _by(state.change) if state.change is not None else ""
            what = f"`{state.evidence}` moved to `{state.now}`{by}"
            proof = Lines(state.now, f"{state.evidence} → {state.now}{by}")
            moved = (MoveEvidence(entry.id, state.evidence, state.now), EditEntry(entry.id))
            return _made(subject, entry, state, "evidence-moved", what, proof, moved)
        case CantTell():
            what = f"Can't compare `{state.evidence}`, because {state.why}"
            remedies = (Renew((entry.id,)), EditEntry(entry.id))
            return _made(
                subject, entry, state, "unreadable", what, Lines(state.evidence, state.why), remedies
            )
        case _:
            return None


def _made(
    subject: Subject,
    entry: Entry,
    state: State,
    kind: Kind,
    what: str,
    proof: Proof,
    remedies: Sequence[Remedy],
) -> Finding:
    return Finding(kind, (entry.id,), subject.shown(entry), what, proof, tuple(remedies), _basis(state))


def _basis(state: State) -> str:
    """Return the state that a dismissal depends on: the current place and text of the evidence."""
    change = state.change if isinstance(state, Changed | Gone) else None
    text = "\0".join((state.kind, state.evidence, state.now, change.diff if change else ""))
    return digest(text.encode(errors="replace"))


def _by(change: Change) -> str:
    if change.commit is None:
        return "" if change.is_committed else " (not committed)"
    day = (change.date or "")[:10]
    return f" in {change.commit[:10]} ({', '.join(part for part in (change.author, day) if part)})"


def _proof(change: Change, place: str) -> Proof:
    if change.diff or change.commit:
        return Diff(change.where, change.diff, change.commit, change.author, change.date)
    return Lines(place, "Git doesn't have the text that was approved.")


def _after_loss(entry: Entry) -> Sequence[Remedy]:
    return EditEntry(entry.id), Deprecate((entry.id,))


def _after_change(entry: Entry, state: Changed) -> Sequence[Remedy]:
    others = (EditEntry(entry.id), Deprecate((entry.id,)))
    if state.now != state.evidence:
        return MoveEvidence(entry.id, state.evidence, state.now), *others
    return Renew((entry.id,)), *others
