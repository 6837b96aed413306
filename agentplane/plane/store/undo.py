"""Undo and redo, as in an editor. Repeated undo goes further back, and redo goes forward again.

A person's stack consists of that person's own operations. The inverse of an operation swaps `found` with
`left`, and `before` with `after`. It applies only if nothing has touched those entries since.

    approve A, edit B, undo, undo, redo:   A B -> A -> (nothing) -> A
"""

from collections.abc import Sequence

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger.ledger import Ledger, OpNote
from agentplane.plane.store import records
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.records import Change, Stored
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.trust import rules
from agentplane.text.markdown import document
from agentplane.text.visible import one_line


# These can't be undone. Their text is gone permanently, there is nothing to undo, or two branches would
# conflict again.
FINAL = frozenset({"prune", "init", "settle", rules.VERB})


class Pruned(Refused):
    """The text that an undo would restore was removed permanently."""


class Stacks(msgspec.Struct, frozen=True):
    """The operations that undo and redo can reverse. The last item is next."""

    undo: tuple[OpNote, ...]
    redo: tuple[OpNote, ...]


def stacks(ops: Sequence[OpNote], actor: str) -> Stacks:
    undo: list[OpNote] = []
    redo: list[OpNote] = []
    out = out_of_force(ops)
    for note in ops:
        if note.actor != actor or note.verb in FINAL:
            continue
        if note.undoes is None:
            undo.append(note)
            redo.clear()
        elif note.verb == "undo":
            undo = [other for other in undo if other.op != note.undoes]
            redo.append(note)
        else:
            redo = [other for other in redo if other.op != note.undoes]
            undo.append(note)
    # An operation that somebody else undid by its id is no longer a step of this person.
    undo = [note for note in undo if note.op not in out]
    redo = [note for note in redo if note.op not in out]
    return Stacks(tuple(undo), tuple(redo))


def out_of_force(ops: Sequence[OpNote]) -> set[str]:
    """Return the operations that were undone and not redone."""
    out: set[str] = set()
    for note in reversed(ops):
        if note.undoes is not None and note.op not in out:
            out.add(note.undoes)
    return out


def plan_undo(snapshot: Snapshot, actor: str, op: str | None = None) -> Plan:
    """Plan the undo of the last operation of `actor`, or of the operation `op`."""
    if op is not None:
        return _inverse(snapshot, _named(snapshot.ledger, op), "undo")
    mine = stacks(snapshot.ledger.ops, actor).undo
    if not mine:
        raise BadInput(
            f"Nothing to undo: no changes by {actor}.", todo="Run `agentplane history` to list all changes."
        )
    try:
        return _inverse(snapshot, mine[-1], "undo")
    except Pruned as error:
        earlier = _before_pruned(snapshot, mine)
        todo = f"Run `agentplane undo {earlier}` to undo an earlier change instead." if earlier else None
        raise Refused(error.what, where=error.where, todo=todo) from None


def _before_pruned(snapshot: Snapshot, mine: Sequence[OpNote]) -> str | None:
    """Return the last operation that touched no entry whose text is gone."""
    wanted = {note.op: note for note in mine}
    touched: dict[str, tuple[set[str], bool]] = {}
    for line in records.each(snapshot.layout):
        stored = records.readable(line)
        if stored is not None and stored.record.op in wanted:
            changes = stored.record.changes
            lost = any(change.found and stored.raw(change.found) is None for change in changes)
            touched[stored.record.op] = ({change.id for change in changes}, lost)
    gone: set[str] = set()
    for note in reversed(mine):
        ids, lost = touched.get(note.op, (set(), True))
        if lost:
            gone |= ids
        elif not ids & gone:
            return note.op
    return None


def plan_redo(snapshot: Snapshot, actor: str) -> Plan:
    mine = stacks(snapshot.ledger.ops, actor).redo
    if not mine:
        raise BadInput("Nothing to redo.", todo="You can redo a change only immediately after you undo it.")
    return _inverse(snapshot, mine[-1], "redo")


def _named(ledger: Ledger, op: str) -> OpNote:
    found = [note for note in ledger.ops if note.op == op or note.op.endswith(f"-{op}")]
    if len(found) != 1:
        raise BadInput(
            f"Change not found: {one_line(op, 40)}.", todo="Run `agentplane history` to list changes."
        )
    if found[0].verb in FINAL:
        verb = "reconcile" if found[0].verb == "settle" else found[0].verb
        raise Refused(f"Change {found[0].op} ({verb}) can't be undone.")
    out = out_of_force(ledger.ops)
    roots = ledger.roots()
    redone = [note for note in ledger.ops if note.verb == "redo" and roots[note.op] == found[0]]
    for note in (*reversed(redone), found[0]):
        if note.op not in out:
            return note
    raise BadInput(
        f"Change {found[0].op} was already undone.", todo="Run `agentplane history` to list changes."
    )


def _inverse(snapshot: Snapshot, note: OpNote, verb: str) -> Plan:
    stored = records.load(snapshot.layout, note.op)
    for change in stored.record.changes:
        _check_clear(snapshot, change, note)
    edits = [_inverse_edit(change, stored) for change in reversed(stored.record.changes)]
    return Plan(verb=verb, edits=edits, undoes=note.op)


def _inverse_edit(change: Change, stored: Stored) -> Edit:
    text = stored.text(change.found)
    if text is None and change.found is not None:
        raise Pruned(
            f"The earlier text of {change.id} was permanently removed.",
            where=stored.record.op,
            todo=f"Run `agentplane edit {change.id}` instead.",
        )
    return Edit(
        id=change.id,
        file=change.file,
        text=text,
        after=change.before,
        after_text=stored.text(change.before),
        gap=change.gap,
        was=change.was,
    )


def _check_clear(snapshot: Snapshot, change: Change, note: OpNote) -> None:
    """Raise Refused with the obstacle, if anything touched the entry since."""
    mark = snapshot.ledger.known.get(change.id)
    if (mark.digest if mark else None) != change.after:
        later = next((other for other in snapshot.ledger.ops if mark and other.op == mark.op), None)
        by = f"{later.verb} by {later.actor}, {later.op}" if later else "a later change"
        raise Refused(
            f"Can't undo this change ({note.verb} {change.id}): the entry was changed later ({by}).",
            where=note.op,
            todo=f"Run `agentplane undo {later.op}` first." if later else None,
        )
    core = snapshot.core(change.file, change.id)
    if (None if core is None else document.digest(core)) != change.left:
        # In the inbox, the ID alone means the candidate.
        edit = f"--edits {change.id}" if change.file == INBOX else change.id
        raise Refused(
            f"Can't undo this change ({note.verb} {change.id}): the entry was later edited manually.",
            where=snapshot.layout.shown(change.file),
            todo=f"First run `agentplane approve {edit}` to accept that edit or `agentplane reject {edit}` to discard it.",
        )
