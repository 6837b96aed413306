"""Resolution of conflicts between a candidate and earlier decisions. Each choice is the plan of one
operation.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.memory import operations, updates
from agentplane.memory.entry import Entry, without_label
from agentplane.memory.ids import CANDIDATE_PREFIX
from agentplane.memory.operations import Stamp
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.review.conflicts.conflicts import WEIGHTS, Conflict, find, text_of
from agentplane.text.markdown import document, header
from agentplane.text.markdown.statement import statement_of


ConflictsOf = Callable[[Sequence[Entry], Collection[str] | None], Sequence[Sequence[Conflict]]]
"""Returns the conflicts of each candidate. The second argument limits the kinds of entry, and None allows
all.
"""
EXCLUDING = frozenset(kind for kind, weight in WEIGHTS.items() if weight == "blocks")
"""Kinds of entry that never coexist with an entry that contradicts them."""
_FEW = 4
_SAYS = {
    "duplicate": "repeats",
    "contradiction": "contradicts",
    "supersession": "would supersede",
    "overlap": "overlaps",
    "near": "is similar to",
}
_MAY = _SAYS | {
    "duplicate": "may repeat",
    "contradiction": "may contradict",
    "supersession": "may supersede",
}


class NeedsChoice(Refused):
    """Error for a candidate with conflicts that a person has to resolve."""


class Choice(msgspec.Struct, frozen=True):
    """A person's choice about the conflicts of an approval."""

    supersede: tuple[str, ...] = ()
    """Entries that the candidate replaces."""
    keep_both: bool = False
    """Keep the candidate and the entries in conflict with it. Needs a reason."""
    why: str | None = None
    alike: bool = False
    """Also remove candidates that say the same thing from the inbox."""
    reject: tuple[str, ...] = ()
    """Candidates that are rejected in the same operation, because this candidate was chosen over them."""


def approve(
    memory: Memory,
    wanted: Sequence[str],
    stamp: Stamp,
    choice: Choice,
    conflicts_of: ConflictsOf,
    alike: Sequence[str] = (),
) -> Plan:
    """Plan the approval of candidates whose conflicts the choice resolves. Other candidates are refused with
    their options.

    The `alike` candidates leave the inbox in the same operation.
    """
    entries = list({entry.id: entry for entry in map(memory.get, wanted)}.values())
    targets = list(
        {entry.id: entry for entry in (_target(memory, name) for name in choice.supersede)}.values()
    )
    changed = _changed_by(memory, entries, targets)
    if targets and len(entries) != 1:
        raise BadInput(
            "--supersede needs exactly one candidate ID.", todo="Approve the candidates one by one."
        )
    if not _keeps_both(choice) or any(
        _excludes(conflict) for found in conflicts_of(entries, EXCLUDING) for conflict in found
    ):
        _check_each(memory, entries, choice, {target.id for target in targets}, conflicts_of(entries, None))
    if changed:
        return msgspec.structs.replace(updates.plan(memory, entries[0], changed, stamp), why=choice.why)
    plan = operations.approve(memory, [entry.id for entry in entries], stamp)
    if targets:
        plan = _with_supersession(memory, plan, targets, stamp)
    elif choice.keep_both:
        plan = _without_claims(memory, plan)
    removed = list(dict.fromkeys([*alike, *_rejected(memory, entries, choice)]))
    dropped = (
        [Edit(entry.id, INBOX, None) for entry in operations.candidates(memory, removed)] if removed else []
    )
    rejected = _rejected(memory, entries, choice)
    why = choice.why or (f"{entries[0].id} was approved instead." if rejected else None)
    return msgspec.structs.replace(plan, edits=[*plan.edits, *dropped], why=why, rejected=rejected)


def _rejected(memory: Memory, entries: Sequence[Entry], choice: Choice) -> list[str]:
    """Return the candidates that the choice rejects. They must not be approved in the same operation."""
    if not choice.reject:
        return []
    if len(entries) != 1:
        raise BadInput("--reject needs exactly one candidate ID.", todo="Approve the candidates one by one.")
    found = [entry.id for entry in operations.candidates(memory, choice.reject)]
    if entries[0].id in found:
        raise BadInput(f"{entries[0].id} can't be approved and rejected at the same time")
    return found


def _changed_by(memory: Memory, entries: Sequence[Entry], targets: Sequence[Entry]) -> Entry | None:
    """Return the entry that a candidate changes when it is approved. Refuse such a candidate among others."""
    found = [(entry, into) for entry in entries if (into := updates.target_of(memory, entry))]
    if not found:
        return None
    entry, into = found[0]
    if len(entries) > 1:
        what = f"{entry.id} changes {into.id}, so it can't be approved together with other candidates"
        raise Refused(what, todo=f"Approve {entry.id} separately: `agentplane approve {entry.id}`.")
    if targets:
        what = f"{entry.id} changes {into.id}, so it can't supersede {targets[0].id}"
        raise BadInput(what, todo=f"Leave out --supersede, or run `agentplane reject {entry.id}`.")
    return into


def merge(
    memory: Memory, candidate: str, target: str, text: bytes, seen_digest: str, why: str | None = None
) -> Plan:
    """Merge a candidate into an entry, with a text by a person who saw the entry with the digest `seen_digest`."""
    entry, into = operations.candidates(memory, [candidate])[0], _target(memory, target)
    operations.check_candidate(memory, entry)
    planned = operations.edit(memory, into.id, text, seen_digest)
    if planned is None:
        raise BadInput(
            f"The merged text is the same as the text of {into.id}.", todo="Reject the candidate instead."
        )
    todo = "Reword the text, or approve the candidate with --supersede {}."
    _check_reworded(memory, into, planned.edits[0].text or b"", "The merged text", todo)
    merged = msgspec.structs.replace(planned.edits[0], was=entry.id)
    return Plan("merge", [Edit(entry.id, INBOX, None), merged], why=why)


def merge_candidates(
    memory: Memory, one: str, other: str, text: bytes, seen_digest: str, stamp: Stamp, why: str | None = None
) -> Plan:
    """Approve one text that a person wrote from two candidates. `seen_digest` is the digest of the first, which is
    rewritten.
    """
    entry, absorbed = operations.candidates(memory, [one])[0], operations.candidates(memory, [other])[0]
    if entry.id == absorbed.id:
        raise BadInput(f"{entry.id} can't be merged with itself")
    for candidate in (entry, absorbed):
        operations.check_candidate(memory, candidate)
    planned = operations.edit(memory, entry.id, text, seen_digest)
    if planned is None:
        raise BadInput(
            f"The merged text is the same as the text of {entry.id}.",
            todo=f"Approve {entry.id} and reject {absorbed.id}.",
        )
    core = planned.edits[0].text or b""
    todo = "Reword the text, or approve the candidate with --supersede {}."
    _check_reworded(memory, entry, core, "The merged text", todo, before=False)
    plan = operations.approve(memory, [entry.id], stamp, {entry.id: core})
    removal, addition = plan.edits
    return Plan("merge", [removal, Edit(absorbed.id, INBOX, None), addition], why=why)


def edit(memory: Memory, wanted: str, text: bytes, seen_digest: str) -> Plan | None:
    """Replace an entry with a text by a person who saw it with the digest `seen_digest`. Return None if nothing
    changed.
    """
    planned = operations.edit(memory, wanted, text, seen_digest)
    entry = memory.get(wanted)
    if planned is not None and entry.file != INBOX and entry.head.status == "accepted":
        todo = "Reword the text, or run `agentplane deprecate {}` first."
        _check_reworded(memory, entry, planned.edits[0].text or b"", "The new text", todo)
    return planned


def _check_reworded(
    memory: Memory, into: Entry, core: bytes, what: str, todo: str, *, before: bool = True
) -> None:
    """Refuse a text that an invariant excludes, unless the invariant already excluded the text `before`."""
    old = text_of(into)
    new = msgspec.structs.replace(old, statement=statement_of(_body(core), into.label))
    rules = [
        text_of(entry)
        for entry in memory.shelf
        if entry.head.status == "accepted" and entry.head.type in EXCLUDING and entry.id != into.id
    ]
    known = {conflict.id for conflict in find(old, rules) if _excludes(conflict)} if before else ()
    for conflict in find(new, rules):
        if _excludes(conflict) and conflict.id not in known:
            raise Refused(
                f"{what} {described(conflict)}. An approved entry can't contradict an invariant",
                todo=todo.format(conflict.id),
            )


def _body(core: bytes) -> str:
    page = document.parse(core)
    return page.body(page.blocks[0])


def merged_draft(memory: Memory, candidate: str, target: str) -> tuple[Entry, bytes]:
    """Return the entry to rewrite and a draft of the merged text.

    The draft has the statement of the candidate, the rationales of both entries, and the tags and evidence of
    both. `target` is the entry that absorbs the candidate, or another candidate.
    """
    entry = operations.candidates(memory, [candidate])[0]
    other = memory.get(target)
    # Of two candidates, the one that the person decides about is rewritten.
    into, absorbed = (entry, other) if other.file == INBOX else (_target(memory, target), entry)
    core = memory.snapshot.core(into.file, into.id) or b""
    kept_values = {"tags": into.head.tags, "evidence": into.head.evidence}
    added_values = {"tags": absorbed.head.tags, "evidence": absorbed.head.evidence}
    both = {
        name: list(dict.fromkeys([*kept_values[name], *added_values[name]]))
        for name in kept_values
        if added_values[name]
    }
    with suppress(BadInput):  # a header with an unusual layout isn't changed
        core = header.set_fields(core, both)
    head, _ = header_and_body(core)
    return into, head + _merged_body(into.label, entry, other)


def header_and_body(core: bytes) -> tuple[bytes, bytes]:
    """Return the header of an entry with its two delimiters, and its body."""
    parts = document.split(core)
    if parts is None:
        return b"", core
    opening, fields, rest = parts
    delimiter, newline, body = rest.partition(b"\n")
    return opening + fields + delimiter + newline, body


def _merged_body(label: str, entry: Entry, other: Entry) -> bytes:
    """Return a body with the statement of `entry` and the rationales of both entries."""
    rationales = [rationale for rationale in map(_rationale, (entry, other)) if rationale]
    different = [
        one
        for place, one in enumerate(rationales)
        if not any(
            one in longer and (one != longer or place > at)
            for at, longer in enumerate(rationales)
            if at != place
        )
    ]
    gap = "\n\n" if any("\n" in one for one in different) else " "
    lines = [f"{label}: {entry.statement}", *([f"Rationale: {gap.join(different)}"] if different else [])]
    return "\n".join(lines).encode()


def _rationale(entry: Entry) -> str:
    """Return the text of an entry after its statement, without the label."""
    _, _, rest = entry.body.strip().partition("\n")
    return without_label(rest.strip(), "Rationale").strip()


def _target(memory: Memory, name: str) -> Entry:
    entry = memory.get(name)
    if entry.file == INBOX:
        raise BadInput(f"{entry.id} is a candidate.", todo="Use the ID of an approved entry.")
    if entry.head.status != "accepted":
        raise BadInput(f"{entry.id} is already {entry.head.status}.", todo="Use the ID of an accepted entry.")
    operations.check_untouched(memory, entry)
    return entry


def _keeps_both(choice: Choice) -> bool:
    """True if the choice keeps both and has a reason. Then only conflicts that exclude each other matter."""
    return choice.keep_both and bool((choice.why or "").strip())


def _check_each(
    memory: Memory,
    entries: Sequence[Entry],
    choice: Choice,
    targets: set[str],
    conflicts: Sequence[Sequence[Conflict]],
) -> None:
    together = {entry.id for entry in entries}
    for entry, found in zip(entries, conflicts, strict=True):
        # Conflicting candidates are decided one after the other, unless all of them are approved at once.
        blocking = [c for c in found if c.id in together or memory.entries[c.id].file != INBOX]
        _check_resolved(entry, choice, targets, blocking, together)


def _check_resolved(
    entry: Entry, choice: Choice, targets: set[str], conflicts: Sequence[Conflict], together: set[str]
) -> None:
    unresolved = [c for c in conflicts if c.needs_choice and c.id not in targets]
    if not unresolved:
        return
    first = next(filter(_excludes, unresolved), unresolved[0])
    if not choice.keep_both or _excludes(first):
        what = f"{entry.id} {described(first, len(unresolved))}"
        if _excludes(first):
            what += ". An approved entry can't contradict an invariant"
        others = [c.id for c in unresolved if c.id != first.id and c.id not in together]
        named = (*sorted(targets), *others)
        todo = choices(entry.id, first, named, together=first.id in together)
        raise NeedsChoice(what, todo=todo)
    if not (choice.why or "").strip():
        raise BadInput("--keep-both requires a reason.", todo="Pass the reason with --why.")


def _excludes(conflict: Conflict) -> bool:
    return conflict.weight == "blocks" and conflict.kind == "contradiction"


def headline(conflict: Conflict, count: int = 1) -> str:
    """Return a text such as `contradicts DEC-014 (confidence 0.87)`, or `may contradict …` for advice.

    A supersession has no score there, because the candidate itself states it.
    """
    verb = (_SAYS if conflict.needs_choice else _MAY)[conflict.kind]
    more = f" and {count - 1} more" if count > 1 else ""
    score = "" if conflict.kind == "supersession" else f" (confidence {conflict.score:.2f})"
    return f"{verb} {conflict.id}{more}{score}"


def described(conflict: Conflict, count: int = 1) -> str:
    """Return the headline of a conflict and its reasons: `contradicts DEC-014 (confidence 0.87): same subject …`."""
    text = "; ".join(reasons(conflict))
    return headline(conflict, count) + (f": {text}" if text else "")


def reasons(conflict: Conflict) -> list[str]:
    """Return the reasons for a conflict, as a person reads them next to the candidate."""
    return [named(reason, "here", f"in {conflict.id}") for reason in conflict.reasons]


def named(reason: str, here: str, there: str) -> str:
    """Return a reason with its two sides named, such as `60 s here, but an hour in DEC-014` for `60 s / an hour`."""
    mine, slash, theirs = reason.partition(" / ")
    return f"{mine} {here}, but {theirs} {there}" if slash and " / " not in theirs else reason


def choices(candidate: str, conflict: Conflict, others: Sequence[str] = (), *, together: bool = False) -> str:
    """Return the options for a conflict. `together` means that the other candidate is approved in the same
    operation.

    `others` are further entries that the candidate must replace if it replaces this one.
    """
    other = conflict.id
    supersede = " ".join(f"--supersede {name}" for name in (*others, other)[-_FEW:])
    more = " …" if len(others) >= _FEW else ""
    if together:
        options = [
            f"`agentplane approve {candidate} --reject {other}`",
            f"`agentplane approve {other} --reject {candidate}`",
            f"`agentplane approve {candidate} --merge-into {other}`",
        ]
    else:
        options = [f"{supersede}{more}", f"--merge-into {other}"]
    if together and conflict.kind == "duplicate":
        options = [f"`agentplane approve {candidate} --alike`", *options]
    options += [] if _excludes(conflict) else ["--keep-both --why …"]
    options += [] if together else [f"`agentplane reject {candidate}`"]
    text = f"{', '.join(options[:-1])}, or {options[-1]}" if len(options) > 1 else options[0]
    return f"To resolve the conflict, use {text}. To compare both statements, run `agentplane show {candidate} {other}`."


def _without_claims(memory: Memory, plan: Plan) -> Plan:
    """Remove links to superseded entries that are kept next to the new entry."""
    edits = []
    for edit in plan.edits:
        entry = memory.entries.get(edit.was or "")
        left = [name for name in entry.head.supersedes if name not in memory.entries] if entry else []
        if entry and edit.text is not None and len(left) != len(entry.head.supersedes):
            core = header.set_fields(edit.text, {"supersedes": left or header.DROP})
            edits.append(msgspec.structs.replace(edit, text=core))
        else:
            edits.append(edit)
    return msgspec.structs.replace(plan, edits=edits)


def _with_supersession(memory: Memory, plan: Plan, targets: Sequence[Entry], stamp: Stamp) -> Plan:
    """Link both sides, and mark the targets as superseded."""
    *linked, removal, addition = plan.edits
    # A link to a candidate supersedes nothing, and its id never belongs to an approved entry.
    candidates = f"{CANDIDATE_PREFIX}-"
    claimed = [name for name in memory.entries[removal.id].head.supersedes if not name.startswith(candidates)]
    names = list(dict.fromkeys([*(entry.id for entry in targets), *claimed]))
    core = header.set_fields(addition.text or b"", {"supersedes": names})
    edits = [*linked, removal, msgspec.structs.replace(addition, text=core)]
    for entry in targets:
        links = [*entry.head.superseded_by, addition.id]
        changes = {"status": "superseded", "superseded_by": links, "updated": stamp.today}
        old = memory.snapshot.core(entry.file, entry.id) or b""
        edits.append(Edit(entry.id, entry.file, header.set_fields(old, changes)))
    return Plan("supersede", edits)
