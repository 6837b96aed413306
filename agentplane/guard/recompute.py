"""The check that recomputes the result of an operation and compares it with the operation's record.

For most verbs a person only chooses the entries. The code that plans these operations plans them again here.
`edit`, `merge` and `adopt` bring a person's own text, so only the rest of their record can be compared.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.guard.history import Past, recalled, tops_before
from agentplane.guard.plane_at_commit import shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.memory import ids, operations, postpone, updates
from agentplane.memory.entry import INBOX_STATUS, Header, read_header
from agentplane.memory.operations import Proposal, Stamp
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger.ledger import Known, Ledger
from agentplane.plane.store import undo
from agentplane.plane.store.records import Change, Record
from agentplane.plane.store.store import Edit, Plan
from agentplane.review.conflicts import resolve
from agentplane.review.conflicts.resolve import Choice
from agentplane.text import days
from agentplane.text.markdown import document, header


LINKS = ("supersedes", "refines", "unrelated")
_DAY = timedelta(days=1)
_MOVE = ("adopt", "undo", "redo", "settle")
"""The verbs that can move an entry to another file. `guard.settle` checks the moves of settling."""
OF_A_CANDIDATE = {
    "id", "status", "proposed_by", "updated",
    *(name for name in Proposal.__struct_fields__ if name not in ("statement", "rationale")),
}  # fmt: skip
"""The keys that proposing writes. Other keys would take effect on approval without anyone's decision."""


class Pruned(Exception):
    """A required text was removed from history."""


def complaint(op: LoggedOp, done: Mapping[str, LoggedOp], past: Past) -> str | None:
    """Return why an operation doesn't match its verb, or None if it does. `guard.settle` checks settling."""
    record = op.record
    place = past.places.get(op.event.op)
    if record is None or place is None:
        return None
    if record.verb not in _CHECKS:
        return f"has the verb `{shown(record.verb, 20)}`, which agentplane doesn't know"
    try:
        return frame(record, past, place) or _CHECKS[record.verb](_Case(record, place, done, past))
    except Pruned:
        return None if not in_force(record, past) else _PRUNED
    except AgentplaneError as error:
        return f"doesn't match `{record.verb}`: {shown(error.what, 200)}"


_PRUNED = (
    "cannot be compared with what it was made of: that text was pruned, and what it left is still in force"
)


def in_force(record: Record, past: Past) -> bool:
    """True if a text that the operation left is still in force."""
    known = past.side.ledger.known
    met = past.side.ledger.met
    return any(
        change.after is not None
        and change.after in {mark.digest for mark in (known.get(change.id), *met.get(change.id, ())) if mark}
        for change in record.changes
    )


def frame(record: Record, past: Past, place: int) -> str | None:
    """Return a problem with the facts that every operation must state correctly, or None.

    These are the text that was approved before, its file, and the ids of the texts.
    """
    if odd := _not_of_its_verb(record):
        return odd
    for change in record.changes:
        name = shown(change.id, 40)
        state = past.state(change.id, place)
        if change.before != (state.digest if state else None):
            return f"names an earlier approved text of {name} that doesn't match its history"
        stays = state is not None and state.digest is not None and record.verb not in _MOVE
        if stays and change.file != state.file:  # type: ignore[union-attr]
            return f"moves {name} to another file, which `{shown(record.verb, 20)}` never does"
        text = past.text(record.op, change.left, change.file, change.id)
        if text is not None:
            block = past.block(text)
            if block is None or block.id != change.id:
                return f"is incomplete: the text recorded for {name} isn't the entry {name}"
    return None


def _not_of_its_verb(record: Record) -> str | None:
    """Return a problem with record fields that the verb must not set, or None.

    Readers of history trust these fields for every verb.
    """
    if record.undoes is not None and record.verb not in ("undo", "redo"):
        return f"claims to undo an operation, which `{shown(record.verb, 20)}` never does"
    if (record.prunes or record.redacted) and record.verb != "prune":
        return f"removes texts from history, which `{shown(record.verb, 20)}` never does"
    if record.rejected and record.verb not in ("approve", "supersede"):
        return f"claims to reject candidates, which `{shown(record.verb, 20)}` never does"
    if record.confirmed and record.verb not in ("approve", "supersede", "merge", "edit", "adopt"):
        return f"claims to confirm flags, which `{shown(record.verb, 20)}` never does"
    if record.settings:
        return f"records trust settings, which `{shown(record.verb, 20)}` never does"
    return None


class _Case(msgspec.Struct, frozen=True):
    """An operation with the history that it could know."""

    record: Record
    place: int
    done: Mapping[str, LoggedOp]
    past: Past

    def text(self, change: Change, digest: str | None) -> bytes:
        text = self.past.text(self.record.op, digest, change.file, change.id)
        if text is None:
            raise Pruned
        return text

    def head(self, change: Change) -> Header:
        """Return the header of the text that a change left."""
        block = self.past.block(self.text(change, change.left))
        if block is None:
            raise Pruned
        return read_header(block.packed)[0]

    def is_pruned(self, change: Change) -> bool:
        """True if the text that a change had found is gone. A person's own words need no comparison with
        it.
        """
        found = self.past.text(self.record.op, change.found, change.file, change.id)
        return change.found is not None and found is None

    def moved(self, change: Change) -> str | None:
        state = self.past.state(change.id, self.place)
        if state is not None and state.file == change.file:
            return None
        return f"moves {shown(change.id, 40)} to another file"

    def memory(self) -> Memory:
        """Return the entries that the operation names, in the state that it found."""
        known: dict[str, Known] = {}
        files: dict[str, list[bytes]] = {}
        for change in self.record.changes:
            if state := self.past.state(change.id, self.place):
                known[change.id] = state
            if change.found is not None:
                files.setdefault(change.file, []).append(self.text(change, change.found))
        fresh = [change for change in self.record.changes if change.id not in known and change.file != INBOX]
        return recalled(self.past, Ledger(known=known, tops=tops_before(fresh)), files)

    def compared(self, plan: Plan | None) -> str | None:
        return self.compared_edits(plan.edits if plan else ())

    def compared_edits(self, edits: Iterable[Edit]) -> str | None:
        return differing(self.record, edits, self.text)

    def moment(self, text: str | None) -> date:
        """Return the day that is stamped into an entry.

        Because of time zones and midnight it may be one day before or after the operation. Raise `ValueError`
        for any other day.
        """
        return self.near(date.fromisoformat((text or "")[:10]))

    def near(self, day: date) -> date:
        """Return a day that is at most one day before or after the operation. Raise `ValueError` for any other
        day.
        """
        if abs(day - datetime.fromisoformat(self.record.ts).date()) > _DAY:
            raise ValueError
        return day


def differing(
    record: Record, edits: Iterable[Edit], text: Callable[[Change, str | None], bytes]
) -> str | None:
    """Return how the recorded changes differ from the recomputed edits, or None if they match."""
    wanted = {(edit.id, edit.file): edit for edit in edits}
    for change in record.changes:
        edit = wanted.pop((change.id, change.file), None)
        if edit is None:
            return f"changes {shown(change.id, 40)}, which `{record.verb}` wouldn't"
        if not same(change, edit):
            differs = how(change, edit, text)
            return f"changes {shown(change.id, 40)} in a different way than `{record.verb}` would{differs}"
    if wanted:
        id_, _ = next(iter(wanted))
        return f"doesn't change {shown(id_, 40)}, but `{record.verb}` would"
    return None


def same(change: Change, edit: Edit) -> bool:
    left = None if edit.text is None else document.digest(edit.text)
    after = left if edit.after is msgspec.UNSET else edit.after
    return (change.left, change.after, change.was) == (left, after, edit.was)


def how(change: Change, edit: Edit, text: Callable[[Change, str | None], bytes]) -> str:
    """Return the fields of an entry that differ from the expected ones, for example ` (evidence, text)`."""
    if edit.text is None or change.left is None:
        return ""
    one, other = document.parse(text(change, change.left)), document.parse(edit.text)
    if len(one.blocks) != 1 or len(other.blocks) != 1:
        return ""
    is_, wanted = one.header(one.blocks[0]), other.header(other.blocks[0])
    keys = [str(key) for key in {**is_, **wanted} if is_.get(key) != wanted.get(key)]
    keys += ["text"] if one.body(one.blocks[0]) != other.body(other.blocks[0]) else []
    return f" ({', '.join(shown(key, 30) for key in keys[:5])})" if keys else ""


# One check for each verb


def _propose(case: _Case) -> str | None:
    return next(filter(None, (_new_candidate(case, change) for change in case.record.changes)), None)


def _new_candidate(case: _Case, change: Change) -> str | None:
    name = shown(change.id, 40)
    if not change.id.startswith(f"{ids.CANDIDATE_PREFIX}-") or not ids.is_plain(change.id):
        return f"assigns the ID {name}, but IDs of candidates begin with {ids.CANDIDATE_PREFIX}-"
    if case.past.is_given_apart(change.id, case.place):
        return f"assigns {name} a second time"
    block = case.past.block(case.text(change, change.left))
    fields = fields_of(block.packed) if block else {}
    if fields.get("status") != INBOX_STATUS:
        status = shown(str(fields.get("status")), 30)
        return f"adds {name} with `status: {status}` instead of `{INBOX_STATUS}`"
    if odd := sorted(shown(str(key), 30) for key in fields.keys() - OF_A_CANDIDATE):
        return f"adds {name} with fields that a proposal can't have ({', '.join(odd[:5])})"
    return None


def fields_of(packed: bytes) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.msgpack.decode(packed)
    return fields


def _replace(case: _Case) -> str | None:
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


def _relate(case: _Case) -> str | None:
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


def _approve(case: _Case) -> str | None:
    record = case.record
    come = [change for change in record.changes if change.was is not None]
    moved = {change.was for change in come}
    gone = [change for change in record.changes if change.file == INBOX and change.left is None]
    rest = [change for change in record.changes if change not in come and change not in gone]
    targets = [change for change in rest if not _is_out_of_force(case, change)]
    for change in come:
        if case.past.knew(change.id, case.place):
            return f"overwrites {shown(change.id, 40)}, which is another entry, with a candidate"
    if not come or (record.verb == "supersede") != bool(targets):
        named = targets or [change for change in record.changes if change not in gone and change not in rest]
        of = f"{shown(named[0].id, 40)}" if named else "an entry"
        return f"changes {of}, but `{record.verb}` works only on candidates"
    stamp = _stamp(case, come[0])
    if stamp is None:
        return f"gives {shown(come[0].id, 40)} a different date or approver than its own"
    if not set(record.rejected) <= {change.id for change in gone} - moved:
        return "claims to reject a candidate that it doesn't remove"
    choice = Choice(supersede=tuple(change.id for change in targets))
    alike = [change.id for change in gone if change.id not in moved]
    memory = case.memory()
    plan = resolve.approve(memory, [str(change.was) for change in come], stamp, choice, _no_conflicts, alike)
    edits = [_with_fewer_claims(case, edit, come) for edit in plan.edits]
    return case.compared(msgspec.structs.replace(plan, edits=edits))


def _is_out_of_force(case: _Case, change: Change) -> bool:
    """True if the entry was superseded or deprecated before. Then the approval only linked it to its
    successor.
    """
    block = case.past.block(case.text(change, change.found)) if change.found else None
    head = read_header(block.packed)[0] if block else None
    return head is not None and (head.arrives or head.status) in operations.ARRIVING


def _no_conflicts(entries: Sequence[object], _: object) -> list[tuple[()]]:
    """Return no conflicts, because conflicts were decided at that time and need no second decision."""
    return [()] * len(entries)


def _stamp(case: _Case, change: Change) -> Stamp | None:
    """Return the stamp of an approval from its entry, or None if this operation can't have made that
    stamp.
    """
    record, head = case.record, case.head(change)
    by = "policy" if record.channel == "policy" else record.actor
    try:
        day = case.moment(head.updated)
    except ValueError:
        return None
    if head.approved_by not in (by, record.actor):
        return None
    anchor = head.anchor if head.anchor and _is_commit(head.anchor) else None
    return Stamp(day, str(head.approved_by), anchor)


def _is_commit(text: str) -> bool:
    return 7 <= len(text) <= 64 and all(letter in "0123456789abcdef" for letter in text)


def _with_fewer_claims(case: _Case, edit: Edit, come: Sequence[Change]) -> Edit:
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


def _reject(case: _Case) -> str | None:
    for change in case.record.changes:
        if change.file != INBOX or (change.after, change.left, change.was) != (None, None, None):
            return f"changes {shown(change.id, 40)}, but `reject` works only on candidates"
    return None


def _send_back(case: _Case) -> str | None:
    changes = case.record.changes
    head = case.head(changes[0]) if changes else None
    day = days.day_of(head.snoozed_until) if head and head.snoozed_until else None
    if head is None or head.sent_back is None or day is None:
        return "doesn't send back a candidate"
    try:
        sent = case.near(_before(day, postpone.SENT_BACK_DAYS))
    except ValueError:
        return f"folds {shown(changes[0].id, 40)} until another day than `send-back` would"
    ids_ = [change.id for change in changes]
    return case.compared(postpone.send_back(case.memory(), ids_, head.sent_back, sent))


def _snooze(case: _Case) -> str | None:
    changes = case.record.changes
    until = case.head(changes[0]).snoozed_until if changes else None
    day = days.day_of(until) if until else None
    try:
        today = _before(date.fromisoformat(case.record.ts[:10]), 1)
    except ValueError:
        return "doesn't say on which day it snoozed"
    plan = postpone.snooze(case.memory(), [change.id for change in changes], day, today) if changes else None
    return case.compared(plan)


def _before(day: date, days: int) -> date:
    """Return the day some days earlier. Raise `ValueError` if the calendar has no such day."""
    return date.fromordinal(day.toordinal() - days)


def _tag(case: _Case) -> str | None:
    edits = []
    for change in case.record.changes:
        if change.found is None or change.left is None or change.found != change.before:
            return f"doesn't only change the tags of {shown(change.id, 40)}"
        tags = list(case.head(change).tags) or header.DROP
        text = header.set_fields(case.text(change, change.found), {"tags": tags})
        edits.append(Edit(change.id, change.file, text))
    return case.compared_edits(edits)


def _deprecate(case: _Case) -> str | None:
    changes = case.record.changes
    try:
        day = case.moment(case.head(changes[0]).updated) if changes else None
    except ValueError:
        return f"gives {shown(changes[0].id, 40)} a different date than its own"
    plan = day and operations.deprecate(case.memory(), [change.id for change in changes], day, None)
    return case.compared(plan or None)


def _pin(case: _Case) -> str | None:
    verb = operations.pin if case.record.verb == "pin" else operations.unpin
    return case.compared(verb(case.memory(), [change.id for change in case.record.changes]))


def _edit(case: _Case) -> str | None:
    if len(case.record.changes) != 1:
        return "changes several entries, but `edit` changes only one"
    (change,) = case.record.changes
    if change.found is None or change.left is None:
        return f"doesn't change the text of {shown(change.id, 40)}"
    if case.is_pruned(change):
        return case.moved(change)
    text = case.text(change, change.left)
    return case.compared(operations.edit(case.memory(), change.id, text, change.found))


def _merge(case: _Case) -> str | None:
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


def _merge_of_two(case: _Case, gone: Sequence[Change]) -> str | None:
    """Check a merge of two candidates into one entry, with a text that a person wrote."""
    (come,) = (change for change in case.record.changes if change not in gone)
    other = next((change.id for change in gone if change.id != come.was), None)
    if come.was not in {change.id for change in gone} or other is None or come.found is not None:
        return "doesn't merge two candidates into one new entry"
    if case.past.knew(come.id, case.place):
        return f"overwrites {shown(come.id, 40)}, which is another entry, with a candidate"
    if any(map(case.is_pruned, case.record.changes)):
        return case.moved(come)
    stamp = _stamp(case, come)
    if stamp is None:
        return f"gives {shown(come.id, 40)} a different date or approver than its own"
    memory = case.memory()
    entry = memory.get(str(come.was))
    # The person's text, before the approval stamped it.
    before = {"id": entry.id, "status": INBOX_STATUS, "approved_by": header.DROP, "anchor": header.DROP}
    text = header.set_fields(case.text(come, come.left), before)
    return case.compared(resolve.merge_candidates(memory, entry.id, other, text, entry.digest, stamp))


def _updated(case: _Case, change: Change) -> str | None:
    """Return a problem if a change by the policy differs from its candidate."""
    memory, stamp = case.memory(), _stamp(case, change)
    candidate = memory.get(str(change.was))
    entry = updates.target_of(memory, candidate)
    if stamp is None or entry is None or entry.id != change.id:
        return f"merges {shown(candidate.id, 40)} into {shown(change.id, 40)}, which it isn't an update of"
    return case.compared(updates.plan(memory, candidate, entry, stamp))


def _adopt(case: _Case) -> str | None:
    for change in case.record.changes:
        unchanged = change.left == change.found == change.after and change.was is None
        if not unchanged:
            return f"rewrites {shown(change.id, 40)}, but `adopt` never changes a text"
    return None


def _revert(case: _Case) -> str | None:
    for change in case.record.changes:
        back = change.after == change.before and change.left in (None, change.before) and change.was is None
        if not back:
            return f"doesn't restore the approved text of {shown(change.id, 40)}, as `revert` would"
    return None


def _inverse(case: _Case) -> str | None:
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
        return f"isn't the inverse of {of.name}"
    return None


def _key(change: Change, *, turned: bool = False) -> tuple[str | None, ...]:
    ends = (change.before, change.after, change.found, change.left)
    if turned:
        ends = (change.after, change.before, change.left, change.found)
    return (change.id, change.file, change.was, *ends)


def _nothing(case: _Case) -> str | None:
    if case.record.changes:
        return (
            f"changes {shown(case.record.changes[0].id, 40)}, but `{case.record.verb}` never changes an entry"
        )
    return None


_CHECKS: dict[str, Callable[[_Case], str | None]] = {
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
