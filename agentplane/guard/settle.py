"""The check that an operation that joins branches does exactly what settling those branches gives.

Settling is a function of the log and needs no person. This module recomputes it from the history that the
operation follows, and compares the result with the record. No other argument counts. A text that was approved
once and an id that looks moved prove nothing.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from agentplane.guard import recorded
from agentplane.guard.history import Past, recalled, tops_before
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.memory import ids
from agentplane.memory.entry import INBOX_STATUS, REFERENCES
from agentplane.memory.reconcile import branch_merge, replaced_text
from agentplane.memory.reconcile.branch_merge import Story
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.records import Change, Record
from agentplane.text.markdown import document


_OF_A_LEFTOVER = frozenset(recorded.OF_A_CANDIDATE) - {"superseded_by"}
"""The keys of a text that settling moved to the inbox. `replaced_text.as_candidate` removes what took its place."""
_BY = ("agentplane", "git")
"""Actor and program of every such operation."""


def complaint(record: Record, base: Side, past: Past) -> str | None:
    """Return how an operation that claims to join branches differs from settling them, or None if it
    matches.
    """
    place = past.places.get(record.op)
    if place is None:
        return None
    if (record.actor, record.program) != _BY:
        return f"names {shown(record.actor, 40)} as its actor, but only agentplane itself reconciles branches"
    if wrong := recorded.wrong_facts(record, past, place):
        return wrong
    replay = _Replay(record, place, base, past)
    return replay.complaint()


class _Replay:
    """The recomputed settling. It is mutable and used only inside `complaint`."""

    def __init__(self, record: Record, place: int, base: Side, past: Past) -> None:
        self.record = record
        self.place = place
        self.base = base
        self.past = past
        self.gone = frozenset(past.side.ledger.pruned)
        self.lost = frozenset[str]()
        """The ids with a branch end whose text is gone, because an operation pruned it."""
        self.met = frozenset[str]()

    def complaint(self) -> str | None:
        plan = self._plan()
        wanted = {(edit.id, edit.file): edit for edit in plan.edits} if plan else {}
        exact = True
        for change in self.record.changes:
            edit = wanted.pop((change.id, change.file), None)
            if edit is not None and recorded.same(change, edit):
                continue
            exact = False
            if not (self._is_harmless(change) or self._was_pruned(change, edit)):
                return self._difference(change, edit, plan)
        for edit in wanted.values():
            if not (self._needs_pruned(edit) or self._only_links(edit)):
                return f"doesn't change {shown(edit.id, 40)}, but reconciling these branches would change that entry"
        stored = self.past.stored(self.record.op)
        if exact and not self.lost and stored and plan and stored.why not in (plan.why, None):
            return "gives a different reason than reconciling these branches would give"
        return None

    def _difference(self, change: Change, edit: Edit | None, plan: Plan | None) -> str:
        name = shown(change.id, 40)
        if plan is None:
            return f"changes {name}, but there are no branches to reconcile"
        if edit is None:
            return f"changes {name}, but reconciling these branches wouldn't change that entry"
        differs = recorded.unexpected_fields(change, edit, self._text)
        return f"changes {name} differently than reconciling these branches would{differs}"

    def _plan(self) -> Plan | None:
        ledger, graph, versions = self.past.before(self.place)
        self.met = frozenset(ledger.met)
        if any(graph.strands):
            self.lost = frozenset(id_ for id_ in versions if self._lost_an_end(id_))
        joined = branch_merge.join(self._memory(ledger), Story(graph, versions))
        return joined.plan if joined else None

    def _memory(self, ledger: Ledger) -> Memory:
        """Return the memory that the operation found.

        Entries that the record doesn't mention have their approved text.
        """
        found = {(change.id, change.file): change for change in self.record.changes}
        files: dict[str, list[bytes]] = {}
        for change in found.values():
            if change.found is not None:
                files.setdefault(change.file, []).append(self._text(change, change.found))
        for id_, mark in ledger.known.items():
            if mark.digest is not None and (id_, mark.file) not in found:
                text = self.past.text(mark.op, mark.digest, mark.file, id_)
                files.setdefault(mark.file, []).extend([text] if text is not None else [])
        fresh = [change for change in found.values() if change.was and change.id not in ledger.known]
        tops = dict(ledger.tops)
        for prefix, number in tops_before(fresh).items():
            tops[prefix] = max(tops.get(prefix, 0), number)
        return recalled(self.past, msgspec.structs.replace(ledger, tops=tops), files)

    def _lost_an_end(self, id_: str) -> bool:
        if self.gone.isdisjoint(version.digest for version in self.past.versions.get(id_, ())):
            return False
        ends = self.past.ends(id_, self.place)
        return any(end.digest in self.gone and self.past.text(end.op, end.digest) is None for end in ends)

    def _text(self, change: Change, digest: str | None) -> bytes:
        return self.past.text(self.record.op, digest, change.file, change.id) or b""

    def _is_harmless(self, change: Change) -> bool:
        """True if a change that can't be recomputed approves nothing.

        Such a change depends on the content of the files at that time.
        """
        if change.was is not None:
            return False
        if change.before == change.after and change.left in (change.after, change.found):
            return change.id not in self.met and self._is_in_its_file(change)
        if change.file == INBOX and (change.before, change.found) == (None, None):
            return self._is_leftover(change)
        return self._is_back_at_base(change)

    def _is_new(self, change: Change) -> bool:
        """True if no other text has the id. Otherwise the text would replace a text that a person has
        read.
        """
        graph, found = self.past.graph, self.past.versions.get(change.id, ())
        return not any(
            v.before is None and v.digest not in (None, change.after)
            for v in found
            if not graph.reaches(self.place, v.place)
        )

    def _is_in_its_file(self, change: Change) -> bool:
        state = self.past.state(change.id, self.place)
        return state is None or state.digest is None or state.file == change.file

    def _is_leftover(self, change: Change) -> bool:
        """True if the change moves a manual edit to the inbox, because another text now has its place."""
        fields = self._fields(change)
        allowed = _OF_A_LEFTOVER if self._is_new(change) else frozenset[str]()
        return (
            change.left == change.after
            and change.id.startswith(f"{ids.CANDIDATE_PREFIX}-")
            and (fields.get("status"), fields.get("proposed_by")) == (INBOX_STATUS, replaced_text.PROPOSED_BY)
            and fields.keys() <= allowed
        )

    def _is_back_at_base(self, change: Change) -> bool:
        """True if the change restores the entry of the base, after git dropped log lines on this branch.

        The operation must know everything that the base knows about the entry. Otherwise it would put an
        older text in force.
        """
        mark = self.base.ledger.known.get(change.id)
        old = (mark.digest, mark.file) if mark and mark.digest else (None, change.file)
        return (
            change.left == change.after
            and (change.after, change.file) == old
            and self._follows_base(change.id)
        )

    def _follows_base(self, id_: str) -> bool:
        graph = self.past.graph
        return all(
            graph.reaches(version.place, self.place)
            for version in self.past.versions.get(id_, ())
            if graph.lines[version.place] in self.base.lines
        )

    def _was_pruned(self, change: Change, edit: Edit | None) -> bool:
        """True if a pruned text makes the change impossible to recompute, and no other text took effect.

        The entry is then the version at an end of one of its branches. Or the text that this operation left
        is pruned too and counts for no entry. The text that the record claims to have found proves nothing.
        """
        if change.left != change.after:
            return self._is_pruned_hand_edit(change, edit)
        if change.was is None and change.id in self.lost:
            ends = self.past.ends(change.id, self.place)
            if any(
                change.after == end.digest and (end.digest is None or end.file == change.file) for end in ends
            ):
                return True
        of_one = (change.was or change.id) in self.lost or self._is_new_candidate(change)
        return of_one and self._is_gone(change, change.after) and not self._is_in_force(change)

    def _is_pruned_hand_edit(self, change: Change, edit: Edit | None) -> bool:
        """True if the operation updated a link in the approved text, and the untouched manual edit was
        pruned.
        """
        followed = edit is not None and edit.text is not None and edit.was == change.was
        return (
            followed
            and change.after == document.digest(edit.text)  # type: ignore[union-attr, arg-type]
            and change.left == change.found
            and self._is_gone(change, change.found)
        )

    def _is_gone(self, change: Change, digest: str | None) -> bool:
        return digest in self.gone and not self._text(change, digest)

    def _is_in_force(self, change: Change) -> bool:
        return recorded.in_force(msgspec.structs.replace(self.record, changes=[change]), self.past)

    def _is_new_candidate(self, change: Change) -> bool:
        fresh = (change.before, change.found, change.was) == (None, None, None)
        return fresh and change.file == INBOX and change.id.startswith(f"{ids.CANDIDATE_PREFIX}-")

    def _needs_pruned(self, edit: Edit) -> bool:
        """True if a missing change depends on a pruned text. The operation then leaves the entries that met
        unchanged.
        """
        if edit.file == INBOX and edit.was is None:
            return not self.gone.isdisjoint(
                version.digest for id_ in self.met | self.lost for version in self.past.versions.get(id_, ())
            )
        return edit.id in self.lost or edit.was in self.lost

    def _only_links(self, edit: Edit) -> bool:
        """True if a missing change would only have updated links. A manual edit may have had no such link."""
        state = self.past.state(edit.id, self.place)
        text = self.past.text(state.op, state.digest, state.file, edit.id) if state else None
        return text is not None and edit.text is not None and _bare(text) == _bare(edit.text)

    def _fields(self, change: Change) -> dict[str, Any]:
        block = self.past.block(self._text(change, change.left))
        return recorded.fields_of(block.packed) if block else {}


def _bare(text: bytes | None) -> tuple[Mapping[str, Any], str] | None:
    """Return header and body without references."""
    read = document.parse(text) if text else None
    if read is None or len(read.blocks) != 1:
        return None
    fields = read.header(read.blocks[0])
    return {name: value for name, value in fields.items() if name not in REFERENCES}, read.body(
        read.blocks[0]
    )
