"""The check that recomputes the result of an operation and compares it with the operation's record.

For most verbs a person only chooses the entries. The code that plans these operations plans them again here.
`edit`, `merge`, `adopt`, `merge-entries` and `split-entry` bring a person's own text, so only the rest of their
record can be compared.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.guard import recorded
from agentplane.guard.history import Past
from agentplane.guard.plane_at_commit import shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.guard.recorded import Case
from agentplane.memory import entry_changes, ids, operations, postpone, updates
from agentplane.memory.entry import ARRIVING, INBOX_STATUS, LINKS, Header, read_header
from agentplane.memory.operations import Stamp
from agentplane.plane.layout import INBOX
from agentplane.plane.store import undo
from agentplane.plane.store.plan import Edit
from agentplane.plane.store.records import Change
from agentplane.review.conflicts import resolve
from agentplane.review.conflicts.resolve import Choice
from agentplane.text import days
from agentplane.text.markdown import document, header


_PRUNED = (
    "can't be checked, because the text that it changed was pruned, but the operation is still in effect"
)


def complaint(op: LoggedOp, done: Mapping[str, LoggedOp], past: Past) -> str | None:
    """Return why an operation doesn't match its verb, or None if it does. `guard.settle` checks settling."""
    record = op.record
    place = past.places.get(op.event.op)
    if record is None or place is None:
        return None
    if record.verb not in _CHECKS:
        return f"has the unknown verb `{shown(record.verb, 20)}`"
    try:
        return recorded.wrong_facts(record, past, place) or _CHECKS[record.verb](
            Case(record, place, done, past)
        )
    except recorded.Pruned:
        return None if not recorded.in_force(record, past) else _PRUNED
    except AgentplaneError as error:
        return f"isn't a valid `{record.verb}`: {shown(error.what, 200)}"


def _propose(case: Case) -> str | None:
    return next(filter(None, (_new_candidate(case, change) for change in case.record.changes)), None)


def _new_candidate(case: Case, change: Change) -> str | None:
    name = shown(change.id, 40)
    if not change.id.startswith(f"{ids.CANDIDATE_PREFIX}-") or not ids.is_plain(change.id):
        return f"assigns the ID {name}, but IDs of candidates begin with {ids.CANDIDATE_PREFIX}-"
    if case.past.is_given_apart(change.id, case.place):
        return f"assigns {name} a second time"
    block = case.past.block(case.text(change, change.left))
    fields = recorded.fields_of(block.packed) if block else {}
    if fields.get("status") != INBOX_STATUS:
        status = shown(str(fields.get("status")), 30)
        return f"adds {name} with `status: {status}` instead of `{INBOX_STATUS}`"
    if odd := sorted(shown(str(key), 30) for key in fields.keys() - recorded.OF_A_CANDIDATE):
        return f"adds {name} with fields that a proposal can't have ({', '.join(odd[:5])})"
    return None


def _replace(case: Case) -> str | None:
    gone = [change for change in case.record.changes if change.left is None]
    come = [change for change in case.record.changes if change.left is not None]
    if len(gone) != 1 or len(come) != 1 or come[0].file != INBOX or come[0].found is not None:
        return "doesn't replace one candidate with another"
    (old,) = gone
    name = shown(old.id, 40)
    if old.file != INBOX or old.before is None or old.found != old.before or old.after is not None:
        return f"replaces {name}, but `replace` works only on candidates"
    before, after = _read_head(case.text(old, old.before)), case.head(come[0])
    if before is None or before.sent_back is None:
        return f"replaces {name}, which wasn't sent back"
    if before.proposed_by != after.proposed_by:
        return f"replaces {name}, which someone else proposed"
    return _new_candidate(case, come[0])


def _read_head(text: bytes) -> Header | None:
    blocks = document.parse(text).blocks
    return read_header(blocks[0].packed)[0] if blocks else None


def _relate(case: Case) -> str | None:
    edits = []
    for change in case.record.changes:
        if change.file != INBOX or change.before is None or change.found != change.before:
            return f"changes {shown(change.id, 40)}, but `relate` works only on candidates"
        old, new = _links(case.text(change, change.before)), _links(case.text(change, change.after))
        grown = {name: links for name, links in new.items() if links != old[name]}
        for name, links in grown.items():
            added = links[len(old[name]) :]
            if links[: len(old[name])] != old[name] or not all(map(ids.is_plain, added)):
                return f"does more than add IDs to `{name}` of {shown(change.id, 40)}"
        text = header.set_fields(case.text(change, change.found), grown)
        edits.append(Edit(change.id, INBOX, text))
    return case.compared_edits(edits)


def _links(text: bytes) -> dict[str, list[str]]:
    head = _read_head(text)
    return {name: list(getattr(head, name, ())) for name in LINKS}


def _approve(case: Case) -> str | None:
    record = case.record
    come = [change for change in record.changes if change.was is not None]
    moved = {change.was for change in come}
    gone = [change for change in record.changes if change.file == INBOX and change.left is None]
    rest = [change for change in record.changes if change not in come and change not in gone]
    targets = [change for change in rest if not _is_out_of_force(case, change)]
    for change in come:
        if case.past.knew(change.id, case.place):
            return f"overwrites {shown(change.id, 40)}, which is a different entry, with a candidate"
    if not come or (record.verb == "supersede") != bool(targets):
        named = targets or [change for change in record.changes if change not in gone and change not in rest]
        of = f"{shown(named[0].id, 40)}" if named else "an entry"
        return f"changes {of}, but `{record.verb}` works only on candidates"
    stamp = _stamp(case, come[0])
    if stamp is None:
        return f"gives {shown(come[0].id, 40)} a date or an approver that differs from the operation"
    if not set(record.rejected) <= {change.id for change in gone} - moved:
        return "is recorded as rejecting a candidate, but doesn't remove that candidate"
    choice = Choice(supersede=tuple(change.id for change in targets))
    alike = [change.id for change in gone if change.id not in moved]
    memory = case.memory()
    plan = resolve.approve(memory, [str(change.was) for change in come], stamp, choice, _no_conflicts, alike)
    edits = [_with_fewer_claims(case, edit, come) for edit in plan.edits]
    return case.compared(msgspec.structs.replace(plan, edits=edits))


def _is_out_of_force(case: Case, change: Change) -> bool:
    """True if the entry was superseded or deprecated before. Then the approval only linked it to its
    successor.
    """
    block = case.past.block(case.text(change, change.found)) if change.found else None
    head = read_header(block.packed)[0] if block else None
    return head is not None and (head.arrives or head.status) in ARRIVING


def _no_conflicts(entries: Sequence[object], _: object) -> list[tuple[()]]:
    """Return no conflicts, because conflicts were decided at that time and need no second decision."""
    return [()] * len(entries)


def _stamp(case: Case, change: Change) -> Stamp | None:
    """Return the stamp of an approval from its entry, or None if this operation can't have made that
    stamp.
    """
    record, head = case.record, case.head(change)
    by = "policy" if record.channel == "policy" else record.actor
    try:
        day = case.stamped_day(head.updated)
    except ValueError:
        return None
    if head.approved_by not in (by, record.actor):
        return None
    anchor = head.anchor if head.anchor and _is_commit(head.anchor) else None
    return Stamp(day, str(head.approved_by), anchor)


def _is_commit(text: str) -> bool:
    return 7 <= len(text) <= 64 and all(letter in "0123456789abcdef" for letter in text)


def _with_fewer_claims(case: Case, edit: Edit, come: Sequence[Change]) -> Edit:
    """Return the edit without `supersedes` claims that the approval dropped.

    An entry that was approved despite a conflict doesn't claim to replace the other entry.
    """
    change = next((one for one in come if one.id == edit.id), None)
    if change is None or edit.text is None or case.record.verb != "approve":
        return edit
    claimed, remaining = _links(edit.text)["supersedes"], case.head(change).supersedes
    if list(remaining) == claimed or [name for name in claimed if name in remaining] != list(remaining):
        return edit
    text = header.set_fields(edit.text, {"supersedes": list(remaining) or header.DROP})
    return msgspec.structs.replace(edit, text=text)


def _reject(case: Case) -> str | None:
    for change in case.record.changes:
        if change.file != INBOX or (change.after, change.left, change.was) != (None, None, None):
            return f"changes {shown(change.id, 40)}, but `reject` works only on candidates"
    return None


def _send_back(case: Case) -> str | None:
    changes = case.record.changes
    head = case.head(changes[0]) if changes else None
    day = days.day_of(head.snoozed_until) if head and head.snoozed_until else None
    if head is None or head.sent_back is None or day is None:
        return "is a `send-back` that doesn't send back a candidate"
    try:
        sent = case.near(_before(day, postpone.SENT_BACK_DAYS))
    except ValueError:
        return f"folds {shown(changes[0].id, 40)} until a different day than `send-back` would"
    ids_ = [change.id for change in changes]
    return case.compared(postpone.send_back(case.memory(), ids_, head.sent_back, sent))


def _snooze(case: Case) -> str | None:
    changes = case.record.changes
    until = case.head(changes[0]).snoozed_until if changes else None
    day = days.day_of(until) if until else None
    try:
        today = _before(date.fromisoformat(case.record.ts[:10]), 1)
    except ValueError:
        return "has no readable time, so the day of the snooze is unknown"
    plan = postpone.snooze(case.memory(), [change.id for change in changes], day, today) if changes else None
    return case.compared(plan)


def _before(day: date, days: int) -> date:
    """Return the day some days earlier. Raise `ValueError` if the calendar has no such day."""
    return date.fromordinal(day.toordinal() - days)


def _tag(case: Case) -> str | None:
    edits = []
    for change in case.record.changes:
        if change.found is None or change.left is None or change.found != change.before:
            return f"changes more than the tags of {shown(change.id, 40)}"
        tags = list(case.head(change).tags) or header.DROP
        text = header.set_fields(case.text(change, change.found), {"tags": tags})
        edits.append(Edit(change.id, change.file, text))
    return case.compared_edits(edits)


def _set_fields(case: Case) -> str | None:
    edits = []
    for change in case.record.changes:
        if change.found is None or change.left is None or change.found != change.before:
            return f"changes more than the fields of {shown(change.id, 40)}"
        found = case.text(change, change.found)
        before, after = _raw_fields(case, found), _raw_fields(case, case.text(change, change.left))
        fields = {
            name: after.get(name, header.DROP)
            for name in entry_changes.SETTABLE
            if before.get(name) != after.get(name)
        }
        edits.append(Edit(change.id, change.file, header.set_fields(found, fields)))
    return case.compared_edits(edits)


def _raw_fields(case: Case, text: bytes) -> dict[str, Any]:
    block = case.past.block(text)
    return recorded.fields_of(block.packed) if block else {}


def _supersede_by(case: Case) -> str | None:
    if len(case.record.changes) != 2:
        return "doesn't link one entry to its successor"
    old, new = case.record.changes
    try:
        day = case.stamped_day(case.head(old).updated)
    except ValueError:
        return f"gives {shown(old.id, 40)} a different date than its own"
    return case.compared(entry_changes.supersede(case.memory(), old.id, new.id, day))


def _merge_entries(case: Case) -> str | None:
    changes = case.record.changes
    if any(change.found is None or change.left is None for change in changes):
        return "doesn't merge entries into one of them"
    if any(map(case.is_pruned, changes)):
        return next(filter(None, map(case.moved, changes)), None)
    stamp = _stamp(case, changes[0]) if changes else None
    if stamp is None:
        return "gives an entry a different date or approver than its own"
    wanted = [change.id for change in changes]
    seen = {change.id: change.found for change in changes if change.found is not None}
    text = case.text(changes[0], changes[0].left)
    return case.compared(entry_changes.merge_entries(case.memory(), wanted, text, seen, stamp))


def _split_entry(case: Case) -> str | None:
    changes = case.record.changes
    if len(changes) < 3 or changes[0].found is None:
        return "doesn't split an entry"
    gone, *parts = changes
    if taken := _overwritten(case, parts):
        return taken
    stamp = _stamp(case, parts[0])
    if stamp is None:
        return f"gives {shown(parts[0].id, 40)} a different date or approver than its own"
    texts = [case.text(change, change.left) for change in parts]
    return case.compared(entry_changes.split_entry(case.memory(), gone.id, texts, changes[0].found, stamp))


def _change_kind(case: Case) -> str | None:
    if len(case.record.changes) != 2:
        return "doesn't change the kind of one entry"
    old, new = case.record.changes
    if taken := _overwritten(case, [new]):
        return taken
    stamp = _stamp(case, new)
    if stamp is None:
        return f"gives {shown(new.id, 40)} a different date or approver than its own"
    return case.compared(entry_changes.change_kind(case.memory(), old.id, case.head(new).type, stamp))


def _overwritten(case: Case, new: Sequence[Change]) -> str | None:
    """Return a problem if an operation gives a new entry an id that was used before."""
    for change in new:
        if change.found is not None or case.past.knew(change.id, case.place):
            return f"overwrites {shown(change.id, 40)}, which is another entry"
    return None


def _deprecate(case: Case) -> str | None:
    changes = case.record.changes
    try:
        day = case.stamped_day(case.head(changes[0]).updated) if changes else None
    except ValueError:
        return f"gives {shown(changes[0].id, 40)} a date that differs from the operation"
    plan = day and operations.deprecate(case.memory(), [change.id for change in changes], day, None)
    return case.compared(plan or None)


def _pin(case: Case) -> str | None:
    verb = operations.pin if case.record.verb == "pin" else operations.unpin
    return case.compared(verb(case.memory(), [change.id for change in case.record.changes]))


def _edit(case: Case) -> str | None:
    if len(case.record.changes) != 1:
        return "changes several entries, but `edit` changes only one"
    (change,) = case.record.changes
    if change.found is None or change.left is None:
        return f"doesn't change the text of {shown(change.id, 40)}"
    if case.is_pruned(change):
        return case.moved(change)
    text = case.text(change, change.left)
    return case.compared(operations.edit(case.memory(), change.id, text, change.found, reads_check=False))


def _merge(case: Case) -> str | None:
    gone = [change for change in case.record.changes if change.file == INBOX and change.left is None]
    if len(gone) == 2 and len(case.record.changes) == 3:
        return _merge_of_two(case, gone)
    into = [change for change in case.record.changes if change.was is not None]
    if len(into) != 1 or len(case.record.changes) != 2:
        return "doesn't merge one candidate into one entry"
    (change,) = into
    if change.found is None or change.left is None:
        return f"doesn't change the text of {shown(change.id, 40)}"
    if any(map(case.is_pruned, case.record.changes)):
        return case.moved(change)
    if case.record.channel == "policy":
        return _updated(case, change)
    text = case.text(change, change.left)
    plan = resolve.merge(case.memory(), str(change.was), change.id, text, change.found)
    return case.compared(plan)


def _merge_of_two(case: Case, gone: Sequence[Change]) -> str | None:
    """Check a merge of two candidates into one entry, with a text that a person wrote."""
    (come,) = (change for change in case.record.changes if change not in gone)
    other = next((change.id for change in gone if change.id != come.was), None)
    if come.was not in {change.id for change in gone} or other is None or come.found is not None:
        return "doesn't merge two candidates into one new entry"
    if case.past.knew(come.id, case.place):
        return f"overwrites {shown(come.id, 40)}, which is a different entry, with a candidate"
    if any(map(case.is_pruned, case.record.changes)):
        return case.moved(come)
    stamp = _stamp(case, come)
    if stamp is None:
        return f"gives {shown(come.id, 40)} a date or an approver that differs from the operation"
    memory = case.memory()
    entry = memory.get(str(come.was))
    # The person's text, before the approval stamped it.
    before = {"id": entry.id, "status": INBOX_STATUS, "approved_by": header.DROP, "anchor": header.DROP}
    text = header.set_fields(case.text(come, come.left), before)
    return case.compared(resolve.merge_candidates(memory, entry.id, other, text, entry.digest, stamp))


def _updated(case: Case, change: Change) -> str | None:
    """Return a problem if a change by the policy differs from its candidate."""
    memory, stamp = case.memory(), _stamp(case, change)
    candidate = memory.get(str(change.was))
    entry = updates.target_of(memory, candidate)
    if stamp is None or entry is None or entry.id != change.id:
        return (
            f"merges {shown(candidate.id, 40)} into {shown(change.id, 40)}, but isn't an update of that entry"
        )
    return case.compared(updates.plan(memory, candidate, entry, stamp))


def _adopt(case: Case) -> str | None:
    for change in case.record.changes:
        unchanged = change.left == change.found == change.after and change.was is None
        if not unchanged:
            return f"rewrites {shown(change.id, 40)}, but `adopt` never changes text"
    return None


def _revert(case: Case) -> str | None:
    for change in case.record.changes:
        back = change.after == change.before and change.left in (None, change.before) and change.was is None
        if not back:
            return f"doesn't restore the approved text of {shown(change.id, 40)}, but `revert` would"
    return None


def _inverse(case: Case) -> str | None:
    record = case.record
    of = case.done.get(record.undoes or "")
    place = case.past.places.get(record.undoes or "")
    if of is None or of.record is None or place is None or not case.past.graph.reaches(place, case.place):
        return f"undoes operation {shown(record.undoes or '(none)', 40)}, which isn't in its history"
    if of.record.verb in undo.FINAL or (record.verb == "redo" and of.record.verb != "undo"):
        return f"undoes {of.name}, which can't be undone"
    swapped = {_key(change, turned=True) for change in of.record.changes}
    if {_key(change) for change in record.changes} != swapped or len(record.changes) != len(
        of.record.changes
    ):
        return f"doesn't exactly reverse {of.name}"
    return None


def _key(change: Change, *, turned: bool = False) -> tuple[str | None, ...]:
    ends = (change.before, change.after, change.found, change.left)
    if turned:
        ends = (change.after, change.before, change.left, change.found)
    return (change.id, change.file, change.was, *ends)


def _nothing(case: Case) -> str | None:
    if case.record.changes:
        return (
            f"changes {shown(case.record.changes[0].id, 40)}, but `{case.record.verb}` never changes an entry"
        )
    return None


_CHECKS: dict[str, Callable[[Case], str | None]] = {
    "init": _nothing,
    "prune": _nothing,
    "propose": _propose,
    "relate": _relate,
    "replace": _replace,
    "approve": _approve,
    "supersede": _approve,
    "reject": _reject,
    "send-back": _send_back,
    "snooze": _snooze,
    "deprecate": _deprecate,
    "supersede-by": _supersede_by,
    "merge-entries": _merge_entries,
    "split-entry": _split_entry,
    "change-kind": _change_kind,
    "set-fields": _set_fields,
    "renew": _nothing,
    "dismiss": _nothing,
    "pin": _pin,
    "unpin": _pin,
    "tag": _tag,
    "edit": _edit,
    "merge": _merge,
    "adopt": _adopt,
    "revert": _revert,
    "undo": _inverse,
    "redo": _inverse,
}
