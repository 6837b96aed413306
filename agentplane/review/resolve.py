"""What becomes of a candidate that meets what was decided before: each choice is the plan of one op."""

from collections.abc import Callable, Sequence

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.memory import verbs
from agentplane.memory.entry import Entry
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Stamp
from agentplane.plane.layout import INBOX
from agentplane.plane.store import Edit, Plan
from agentplane.review.conflicts import Conflict
from agentplane.text import header


ConflictsOf = Callable[[Sequence[Entry]], Sequence[Sequence[Conflict]]]


class Choice(msgspec.Struct, frozen=True):
    """What a person says about the conflicts of what is being approved."""

    supersede: tuple[str, ...] = ()
    """Entries that it takes the place of."""
    keep_both: bool = False
    """It stands beside what it met; needs a reason."""
    why: str | None = None
    alike: tuple[str, ...] = ()
    """Candidates that say the same and leave the inbox with it."""


def approve(
    memory: Memory, wanted: Sequence[str], stamp: Stamp, choice: Choice, conflicts_of: ConflictsOf
) -> Plan:
    """Approves candidates whose conflicts are resolved by the choice; refuses the others with what can be chosen."""
    targets = [_target(memory, name) for name in choice.supersede]
    if targets and len(wanted) != 1:
        raise BadInput("--supersede goes with one candidate", todo="approve them one by one.")
    entries = [memory.get(name) for name in wanted]
    together = {entry.id for entry in entries}
    for entry, found in zip(entries, conflicts_of(entries), strict=True):
        # Candidates that conflict with one another are decided one after the other, unless all are approved at once.
        met = [c for c in found if c.id in together or memory.entries[c.id].file != INBOX]
        _check_resolved(entry, choice, {target.id for target in targets}, met, together)
    plan = verbs.approve(memory, wanted, stamp)
    if targets:
        plan = _with_supersession(memory, plan, targets, stamp)
    alike = verbs.candidates(memory, choice.alike) if choice.alike else []
    dropped = [Edit(entry.id, INBOX, None) for entry in alike]
    return msgspec.structs.replace(plan, edits=[*plan.edits, *dropped], why=choice.why)


def merge(memory: Memory, candidate: str, target: str, text: bytes, seen: str) -> Plan:
    """Takes a candidate up into an entry, in the words of a person who saw the entry with the digest `seen`."""
    entry, into = verbs.candidates(memory, [candidate])[0], _target(memory, target)
    verbs.check_candidate(memory, entry)
    planned = verbs.edit(memory, into.id, text, seen)
    if planned is None:
        raise BadInput(f"the merged text is that of {into.id}", todo="reject the candidate instead.")
    merged = msgspec.structs.replace(planned.edits[0], was=entry.id)
    return Plan("merge", [Edit(entry.id, INBOX, None), merged])


def merged_draft(memory: Memory, candidate: str, target: str) -> tuple[Entry, bytes]:
    """The entry to merge into, and a first draft: its text, then that of the candidate."""
    entry, into = verbs.candidates(memory, [candidate])[0], _target(memory, target)
    core = memory.snapshot.core(into.file, into.id) or b""
    return into, core + b"\n\n" + entry.raw.strip()


def _target(memory: Memory, name: str) -> Entry:
    entry = memory.get(name)
    if entry.file == INBOX:
        raise BadInput(f"{entry.id} is a candidate", todo="name an entry on the shelf.")
    if not entry.trusted:
        raise Refused(
            f"{entry.id} was edited by hand",
            where=f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
            todo=f"`agentplane adopt {entry.id}` or `agentplane revert {entry.id}` first.",
        )
    return entry


def _check_resolved(
    entry: Entry, choice: Choice, targets: set[str], met: Sequence[Conflict], together: set[str]
) -> None:
    open_ones = [
        conflict
        for conflict in met
        if conflict.weight != "warns" and conflict.kind != "overlap" and conflict.id not in targets
    ]
    if not open_ones:
        return
    if not choice.keep_both:
        what = f"{entry.id} {described(open_ones[0], len(open_ones))}"
        raise Refused(what, todo=choices(entry.id, open_ones[0].id, together=open_ones[0].id in together))
    if not (choice.why or "").strip():
        raise BadInput("--keep-both needs a reason", todo="say why with --why.")
    blocking = [
        conflict for conflict in open_ones if conflict.weight == "blocks" and conflict.kind == "contradiction"
    ]
    if blocking:
        raise Refused(
            f"{entry.id} {described(blocking[0], len(blocking))}, an invariant, which cannot stand beside it",
            todo=f"--supersede {blocking[0].id}, or reject.",
        )


def described(conflict: Conflict, count: int = 1) -> str:
    """`contradicts DEC-014 (0.87): same subject …`."""
    verb = {
        "duplicate": "repeats",
        "contradiction": "contradicts",
        "supersession": "would supersede",
        "overlap": "overlaps",
    }[conflict.kind]
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{verb} {conflict.id}{more} ({conflict.score:.2f}): {'; '.join(conflict.reasons)}"


def choices(candidate: str, other: str, *, together: bool = False) -> str:
    """What can be done about a conflict; `together`: with one that is being approved with it."""
    shown = f"`agentplane show {candidate} {other}` shows both."
    if together:
        return f"approve one and reject the other, or --keep-both --why …; {shown}"
    return f"--supersede {other}, --merge-into {other}, --keep-both --why …, or `agentplane reject {candidate}`; {shown}"


def _with_supersession(memory: Memory, plan: Plan, targets: Sequence[Entry], stamp: Stamp) -> Plan:
    """Both sides get their links; the superseded ones their status."""
    gone, come = plan.edits
    names = [entry.id for entry in targets]
    core = header.set_fields(come.text or b"", {"supersedes": names})
    edits = [gone, msgspec.structs.replace(come, text=core)]
    for entry in targets:
        links = [*entry.head.superseded_by, come.id]
        changes = {"status": "superseded", "superseded_by": links, "updated": stamp.today}
        old = memory.snapshot.core(entry.file, entry.id) or b""
        edits.append(Edit(entry.id, entry.file, header.set_fields(old, changes)))
    return Plan("supersede", edits)
