"""What an operation that brings branches together may do without a person: what settling those branches gives, and no more.

Settling is a function of the log, so it is worked out here once more from the history that the operation follows, and
compared with what its record says. Nothing else counts: not that a text stood approved once, nor that an id looks moved.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from agentplane.memory import ids, leftover, meeting
from agentplane.memory.entry import INBOX_STATUS
from agentplane.memory.meeting import Story
from agentplane.memory.shelf import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger import Ledger
from agentplane.plane.records import Change, Record
from agentplane.plane.store import Edit, Plan
from agentplane.runs import guard_replay
from agentplane.runs.guard_past import Past, recalled, tops_before
from agentplane.runs.sides import Side, shown
from agentplane.text import document


_LINKS = ("supersedes", "superseded_by", "refines", "unrelated", "evidence")
_BY = ("agentplane", "git")
"""Actor and program of every such operation."""


def complaint(record: Record, base: Side, past: Past) -> str | None:
    """Why an op that says it brings branches together does other things than that; None where it does not."""
    place = past.places.get(record.op)
    if place is None:
        return None
    if (record.actor, record.program) != _BY:
        return f"says that {shown(record.actor, 40)} settled, and settling is nobody's decision"
    if framed := guard_replay.frame(record, past, place):
        return framed
    replay = _Replay(record, place, base, past)
    return replay.complaint()


class _Replay:
    """Not frozen; lives only inside `complaint`."""

    def __init__(self, record: Record, place: int, base: Side, past: Past) -> None:
        self.record = record
        self.place = place
        self.base = base
        self.past = past
        self.pruned = False

    def complaint(self) -> str | None:
        plan = self._plan()
        wanted = {(edit.id, edit.file): edit for edit in plan.edits} if plan else {}
        exact = True
        for change in self.record.changes:
            edit = wanted.pop((change.id, change.file), None)
            if edit is not None and guard_replay.same(change, edit):
                continue
            exact = False
            if not (self._is_harmless(change) or self._was_pruned(change)):
                return self._said(change, edit, plan)
        for edit in wanted.values():
            if not (self.pruned or self._only_links(edit)):
                return f"leaves {shown(edit.id, 40)} out, which settling these branches changes"
        stored = self.past.stored(self.record.op)
        if exact and not self.pruned and stored and plan and stored.why not in (plan.why, None):
            return "gives another reason than settling these branches gives"
        return None

    def _said(self, change: Change, edit: Edit | None, plan: Plan | None) -> str:
        name = shown(change.id, 40)
        if plan is None:
            return f"changes {name}, and no branches meet there that would have to be settled"
        if edit is None:
            return f"changes {name}, which settling these branches does not"
        how = guard_replay.how(change, edit, self._text)
        return f"does not leave {name} as settling these branches does{how}"

    def _plan(self) -> Plan | None:
        ledger, braid, versions = self.past.before(self.place)
        return meeting.plan(self._memory(ledger), Story(braid, versions))

    def _memory(self, ledger: Ledger) -> Memory:
        """The memory as the operation found it: where its record does not say otherwise, as it was approved."""
        found = {(change.id, change.file): change for change in self.record.changes}
        files: dict[str, list[bytes]] = {}
        for change in found.values():
            if change.found is not None:
                files.setdefault(change.file, []).append(self._text(change, change.found))
        for id_, mark in ledger.known.items():
            if mark.digest is not None and (id_, mark.file) not in found:
                text = self.past.text(mark.op, mark.digest, mark.file, id_)
                self.pruned = self.pruned or text is None
                files.setdefault(mark.file, []).extend([text] if text is not None else [])
        for id_ in ledger.met:
            lost = [v for v in self.past.versions.get(id_, ()) if v.digest]
            self.pruned = self.pruned or any(self.past.text(v.op, v.digest) is None for v in lost)
        fresh = [change for change in found.values() if change.was and change.id not in ledger.known]
        tops = dict(ledger.tops)
        for prefix, number in tops_before(fresh).items():
            tops[prefix] = max(tops.get(prefix, 0), number)
        return recalled(self.past, msgspec.structs.replace(ledger, tops=tops), files)

    def _text(self, change: Change, digest: str | None) -> bytes:
        text = self.past.text(self.record.op, digest, change.file, change.id)
        self.pruned = self.pruned or text is None
        return text or b""

    def _is_harmless(self, change: Change) -> bool:
        """Whether a change that could not be worked out approves nothing: it depends on what was in the files then."""
        if change.was is not None:
            return False
        if change.before == change.after and change.left in (change.after, change.found):
            return True
        if change.file == INBOX and (change.before, change.found) == (None, None):
            return self._is_leftover(change)
        return self._is_back_at_base(change)

    def _is_leftover(self, change: Change) -> bool:
        """An edit by hand that stood where another text is now: it waits in the inbox."""
        fields = self._fields(change)
        return (
            change.left == change.after
            and change.id.startswith(f"{ids.CANDIDATE_PREFIX}-")
            and (fields.get("status"), fields.get("proposed_by")) == (INBOX_STATUS, leftover.PROPOSED_BY)
            and not {"approved_by", "anchor"} & fields.keys()
        )

    def _is_back_at_base(self, change: Change) -> bool:
        """What git took out of the log on this branch is taken back: the entry is as at the base."""
        mark = self.base.ledger.known.get(change.id)
        old = (mark.digest, mark.file) if mark and mark.digest else (None, change.file)
        return change.left == change.after and (change.after, change.file) == old

    def _was_pruned(self, change: Change) -> bool:
        """Texts that the plan needs are gone: then one that an end of a branch had is believed, and what no longer counts."""
        if not self.pruned:
            return False
        of = change.was or change.id
        moved = change.was is not None and change.id != change.was
        known = change.after in self.past.tips(of, self.place) and not moved
        return known or not guard_replay.in_force(
            msgspec.structs.replace(self.record, changes=[change]), self.past
        )

    def _only_links(self, edit: Edit) -> bool:
        """Whether a change that is missing would only have followed an id: an edit by hand may have had no such link."""
        state = self.past.state(edit.id, self.place)
        text = self.past.text(state.op, state.digest, state.file, edit.id) if state else None
        return text is not None and edit.text is not None and _bare(text) == _bare(edit.text)

    def _fields(self, change: Change) -> dict[str, Any]:
        block = self.past.block(self._text(change, change.left))
        return guard_replay.fields_of(block.packed) if block else {}


def _bare(text: bytes | None) -> tuple[Mapping[str, Any], str] | None:
    """Header and body without links."""
    read = document.parse(text) if text else None
    if read is None or len(read.blocks) != 1:
        return None
    fields = read.header(read.blocks[0])
    return {name: value for name, value in fields.items() if name not in _LINKS}, read.body(read.blocks[0])
