"""Links to entries that don't exist, and chains of superseded entries that fork, form a loop, or contain accepted
entries.
"""

from collections.abc import Iterator

from agentplane.curate.finding import Finding, Lines
from agentplane.curate.remedies import Deprecate, EditEntry, Remedy, Supersede
from agentplane.curate.subject import Subject
from agentplane.memory import links
from agentplane.memory.entry import Entry
from agentplane.memory.links import DeadLink
from agentplane.text.visible import one_line


_SHORT = 40


def check(subject: Subject) -> Iterator[Finding]:
    for entry in subject.entries:
        for link in links.dead(subject.memory, entry):
            yield _dead(subject, entry, link)
    circles = links.loops(subject.memory)
    yield from (_circle(subject, ids) for ids in circles)
    in_circles, forks = {id_ for ids in circles for id_ in ids}, links.forks(subject.memory)
    for entry in subject.memory.shelf:
        if entry.id in forks and entry.id not in in_circles:
            yield _fork(subject, entry, forks[entry.id])
        elif entry.id not in in_circles:
            yield from _replaced(subject, entry)


def _dead(subject: Subject, entry: Entry, link: DeadLink) -> Finding:
    where, name = subject.shown_key(entry, link.field), one_line(link.id, _SHORT)
    return Finding(
        "link-broken",
        (entry.id,),
        where,
        f"{one_line(entry.id, _SHORT)} links to {name}, but no entry has this ID",
        Lines(where, f"{link.field}: {name}"),
        (EditEntry(entry.id),),
        basis=f"{link.field} {link.id}",
    )


def _replaced(subject: Subject, entry: Entry) -> Iterator[Finding]:
    """Yield the findings about an entry that other entries supersede."""
    successors = links.successors_in_force(subject.memory, entry)
    in_force = entry.head.status == "accepted"
    if in_force and successors:
        yield _still_in_force(subject, entry, subject.memory.entries[successors[0]])
    if in_force:
        for id_ in entry.head.supersedes:
            other = subject.memory.entries.get(id_)
            if (
                other is not None
                and other.head.status == "accepted"
                and entry.id not in other.head.superseded_by
            ):
                yield _still_in_force(subject, other, entry)


def _fork(subject: Subject, entry: Entry, successors: tuple[str, ...]) -> Finding:
    where = subject.shown_key(entry, "superseded_by")
    names = [one_line(id_, _SHORT) for id_ in successors]
    texts = (
        f"{name}: {one_line(subject.memory.entries[id_].statement, 120)}"
        for name, id_ in zip(names, successors, strict=True)
    )
    remedies: list[Remedy] = [Supersede(other, successors[0]) for other in successors[1:]]
    return Finding(
        "superseded-twice",
        (entry.id, *successors),
        where,
        f"{one_line(entry.id, _SHORT)} was superseded by {' and '.join(names)}, and all of them are in force",
        Lines(where, "\n".join(texts)),
        (*remedies, *(Deprecate((id_,)) for id_ in successors)),
        basis=" ".join(sorted(successors)),
    )


def _circle(subject: Subject, ids: tuple[str, ...]) -> Finding:
    entries = [subject.memory.entries[id_] for id_ in ids]
    names = [one_line(id_, _SHORT) for id_ in ids]
    shown = (
        f"{name}: superseded_by {_listed(entry.head.superseded_by)}, supersedes {_listed(entry.head.supersedes)}"
        for name, entry in zip(names, entries, strict=True)
    )
    what = (
        f"{names[0]} supersedes itself"
        if len(names) == 1
        else f"{' and '.join(names)} supersede each other, so none of them is the latest"
    )
    return Finding(
        "superseded-twice",
        ids,
        subject.shown(entries[0]),
        what,
        Lines(subject.shown(entries[0]), "\n".join(shown)),
        tuple(EditEntry(id_) for id_ in ids),
        basis="circle",
    )


def _listed(ids: tuple[str, ...]) -> str:
    return ", ".join(one_line(id_, _SHORT) for id_ in ids) or "nothing"


def _still_in_force(subject: Subject, old: Entry, new: Entry) -> Finding:
    old_name, new_name = one_line(old.id, _SHORT), one_line(new.id, _SHORT)
    named_by_old = new.id in old.head.superseded_by
    where = subject.shown_key(old, "superseded_by") if named_by_old else subject.shown_key(new, "supersedes")
    line = f"superseded_by: {new_name}" if named_by_old else f"supersedes: {old_name}"
    return Finding(
        "superseded-in-force",
        (old.id, new.id),
        where,
        f"{new_name} supersedes {old_name}, but both are in force",
        Lines(where, f"{line}, but the status of {old_name} is {old.head.status}"),
        (Supersede(old.id, new.id), Deprecate((old.id,)), EditEntry(old.id)),
        basis=f"{old.digest} {new.digest}",
    )
