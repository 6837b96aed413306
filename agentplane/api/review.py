"""Proposing and deciding."""

import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.api import plans
from agentplane.api.changes import Changes, Committed, LeftContradiction
from agentplane.commands import (
    Adopt,
    Approve,
    ApproveClean,
    Deprecate,
    Edit,
    Mask,
    MemoryCommand,
    Merge,
    Pin,
    Propose,
    Redo,
    Reject,
    Revert,
    Undo,
    Unpin,
)
from agentplane.memory import verbs
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Proposal, Stamp
from agentplane.plane import git, stamp
from agentplane.plane.layout import INBOX
from agentplane.plane.store import Plan
from agentplane.review import policy, promote
from agentplane.review.confirm import Confirmation
from agentplane.tools.ground import Change


# What does the work is loaded when it is asked for: looking at the shelf needs little of it.
if TYPE_CHECKING:
    from agentplane.review.conflicts import Conflict
    from agentplane.review.inbox import Reviewed, Reviewer
    from agentplane.review.looked import Looks
    from agentplane.review.offer import Offered
    from agentplane.review.relation import Relation
    from agentplane.review.resolve import Choice


_BLOCK = 100
"""So many candidates are looked at before it is seen whether the plane was changed."""
_KEEP_SECONDS = 3.0
_KEEP_SHARE = 10
"""What was found is kept so seldom that it takes a tenth of the time, or less."""


class Promoted(msgspec.Struct, frozen=True):
    """What became of a fact: a candidate, or an entry where the policy approved it."""

    id: str
    approved: bool


class Review(Changes):
    """The inbox and the shelf."""

    def propose(self, proposal: Proposal, *, again: bool = False) -> str:
        """Puts a candidate into the inbox, unless the gate refuses it. Returns its id.

        `again` lets in what was rejected before; the reviewer sees the earlier rejection. The doors ask for it
        only on behalf of a person.
        """
        return self._propose(self.memory(), Propose(proposal, again)).ids[0]

    def offer(self, proposal: Proposal, relation: "Relation | None" = None) -> "Offered":
        """Proposes, and says at once how that stands to what is there. A statement of the same proposer that waits
        already gets the relation instead of a copy.
        """
        from agentplane.review import offer

        self.step("reading the plane")
        memory, who = self.memory(), self.origin.actor
        proposal = offer.with_relation(memory, proposal, relation)
        verbs.check_proposal(memory, proposal)
        proposal = verbs.unlabelled(memory, proposal)
        copy = offer.waiting_copy(memory, proposal, who)
        if copy is None:
            done: Committed | None = self._propose(memory, Propose(proposal))
        else:
            wanted = copy.id
            done = self._commit(lambda now: offer.relate(now, wanted, who, proposal), self.origin)
        id_ = done.ids[0] if done else copy.id if copy else ""
        self.step("looking for conflicts")
        reviewer = self.reviewer(Memory(done.snapshot) if done else memory)
        (reviewed,) = reviewer.look([id_])
        self.keep_badge(reviewer.memory)
        return offer.Offered(
            reviewed=reviewed,
            met=offer.met(reviewer.memory, reviewed),
            earlier=reviewer.earlier(reviewed.entry),
            waiting=len(reviewer.memory.inbox_ids),
            again=copy is not None,
            seen=reviewer.memory,
        )

    def reviewer(self, memory: Memory | None = None) -> "Reviewer":
        """What looks at candidates as things are now, or were when `memory` was read, some at a time."""
        from agentplane.review.inbox import Reviewer

        return Reviewer(memory or self.memory(), self._today())

    def review(self, wanted: Sequence[str] = ()) -> "list[Reviewed]":
        """The candidates with their conflicts and flags as things are now; none named: all."""
        reviewer = self.reviewer()
        found = reviewer.look(wanted)
        self.keep_badge(reviewer.memory)
        return found

    def look_at_all(self) -> None:
        """Checks every candidate that was not checked as things are now, without the plane's lock.

        What was found is kept every few seconds, so that the next one goes on where this one was ended.
        """
        from agentplane.review.looked import Looks

        looks = Looks(self.layout)
        while not self._looked_at_all(looks):
            pass

    def _looked_at_all(self, looks: "Looks") -> bool:
        """False where the plane was changed meanwhile."""
        from agentplane.review.inbox import Reviewer

        memory, mark = self.memory(), stamp.of(str(self.layout.root))
        reviewer = Reviewer(memory, self._today(), looks=looks, in_parts=True)
        touched = reviewer.touched()
        total = len(memory.inbox)
        left = [entry.id for entry in memory.inbox if entry.id in touched]
        keep_at = time.monotonic() + _KEEP_SECONDS
        for begin in range(0, len(left), _BLOCK):
            self.progress(total - len(left) + begin, total)
            if stamp.of(str(self.layout.root)) != mark:
                return False
            reviewer.look(left[begin : begin + _BLOCK])
            began = time.monotonic()
            if began >= keep_at:
                reviewer.conflicts.keep()
                keep_at = time.monotonic() + max(_KEEP_SECONDS, _KEEP_SHARE * (time.monotonic() - began))
        reviewer.conflicts.keep()
        self.keep_badge(memory)
        self.progress(total, total)
        return True

    def do(self, command: MemoryCommand) -> Committed | None:
        """Carry out a command as one operation. Return None if there was nothing to change."""
        if isinstance(command, Propose):
            return self._propose(self.memory(), command)
        by = self._by()
        if isinstance(command, Undo | Redo):
            return self._plain(lambda snapshot: plans.of(command, Memory(snapshot), by).plan)
        if isinstance(command, ApproveClean):
            # Without the lock. What is left to do under it is what changes meanwhile.
            self.look_at_all()
        met: dict[str, Sequence[Conflict]] = {}

        def plan(memory: Memory) -> Plan | None:
            planned = plans.of(command, memory, by)
            met.update(planned.conflicts)
            return planned.plan

        done = self._commit(plan, self.origin)
        left = _left_contradicting(done, met) if done else ()
        return msgspec.structs.replace(done, left_contradicting=left) if done else None

    def preview(self, command: MemoryCommand) -> tuple[Change, ...]:
        """Return the memory files that a command would change, without writing anything."""
        memory = self.memory()
        plan = plans.of(command, memory, self._by()).plan
        if plan is None:
            return ()
        snapshot = memory.snapshot
        before = {file: page.document.data for file, page in snapshot.pages.items()}
        after = self.store.preview(plan, snapshot)
        return tuple(
            Change(snapshot.layout.shown(file), before.get(file), data)
            for file, data in after.items()
            if before.get(file) != data
        )

    def approve(
        self,
        wanted: Sequence[str],
        choice: "Choice | None" = None,
        confirmed: Confirmation | None = None,
    ) -> Committed:
        """Move candidates to the shelf. Refuse those with conflicts that the choice doesn't resolve."""
        return self._require(self.do(Approve(tuple(wanted), choice, confirmed)))

    def approve_clean(
        self,
        *,
        source: str | None = None,
        kind: str | None = None,
        tag: str | None = None,
        why: str | None = None,
    ) -> Committed:
        """Approve every candidate without a conflict or flag, in one operation."""
        return self._require(self.do(ApproveClean(source, kind, tag, why)))

    def merge(
        self,
        candidate: str,
        target: str,
        text: bytes,
        seen: str,
        why: str | None = None,
        confirmed: Confirmation | None = None,
    ) -> Committed:
        """Merge a candidate into an entry, or into another candidate."""
        return self._require(self.do(Merge(candidate, target, text, seen, why, confirmed)))

    def reject(self, wanted: Sequence[str], why: str | None = None, *, alike: bool = False) -> Committed:
        """Drop candidates. `alike` also drops the candidates that say the same."""
        return self._require(self.do(Reject(tuple(wanted), why, alike)))

    def deprecate(self, wanted: Sequence[str], why: str | None = None) -> Committed:
        return self._require(self.do(Deprecate(tuple(wanted), why)))

    def pin(self, wanted: Sequence[str]) -> Committed:
        return self._require(self.do(Pin(tuple(wanted))))

    def unpin(self, wanted: Sequence[str]) -> Committed:
        return self._require(self.do(Unpin(tuple(wanted))))

    def edit(
        self, id_: str, text: bytes, seen: str, confirmed: Confirmation | None = None
    ) -> Committed | None:
        """Replace an entry by what a person wrote. Return None if the text is the same."""
        return self.do(Edit(id_, text, seen, confirmed))

    def mask(self, id_: str, seen: str | None = None) -> Committed:
        """Replace the likely secrets in an entry or a candidate."""
        return self._require(self.do(Mask(id_, seen)))

    def adopt(
        self,
        wanted: Collection[str] = (),
        seen: Mapping[str, str | None] | None = None,
        confirmed: Confirmation | None = None,
    ) -> Committed:
        """Approve manual edits. Without ids, all of them. `seen` has the digests of what the person was shown."""
        told = None if seen is None else tuple(seen.items())
        return self._require(self.do(Adopt(tuple(wanted), told, confirmed)))

    def revert(self, wanted: Collection[str] = ()) -> Committed:
        """Put back what was approved before a manual edit. Without ids, all of them."""
        return self._require(self.do(Revert(tuple(wanted))))

    def undo(self, op: str | None = None) -> Committed:
        return self._require(self.do(Undo(op)))

    def redo(self) -> Committed:
        return self._require(self.do(Redo()))

    def promote_fact(self, fact: Mapping[str, Any] | str) -> Promoted:
        """Propose a fact, and approve it if the policy allows that and nothing is flagged.

        With the id of an accepted entry, it proposes a change to that entry. A known fact isn't proposed again.
        """
        from agentplane.runs import events

        memory = self.memory()
        proposal = verbs.unlabelled(memory, promote.fact_proposal(fact, memory))
        if known := promote.said_already(memory, proposal):
            return Promoted(known.id, approved=known.file != INBOX)
        id_ = self.propose(proposal)
        allowed = policy.may_auto_approve(self.store.settings(), proposal)
        if not (allowed and events.is_logged(self.layout, proposal.source)):
            return Promoted(id_, approved=False)
        by = msgspec.structs.replace(self.origin, channel="policy")
        done = self._commit(partial(promote.approve_clean, id_=id_, stamp=self._stamp("policy")), by)
        return Promoted(done.ids[-1], approved=True) if done else Promoted(id_, approved=False)

    def _by(self) -> plans.By:
        actor, today = self.origin.actor, self.today()
        return plans.By(actor, Stamp(today, actor, git.head(self.layout.project)), today, self.store.token)

    def _propose(self, memory: Memory, command: Propose) -> Committed:
        from agentplane.review import gate_answers, suppressed

        self.step("asking the gate")
        who, today = self.origin.actor, self._today()
        proposal, verdict = plans.judged(command, memory, today)
        if verdict.refused:
            earlier = verdict.earlier
            times = suppressed.add(self.layout, who, earlier.id) if earlier else 1
            raise gate_answers.refusal(verdict, times)

        def plan(now: Memory) -> Plan:
            self.step("writing")
            return verbs.propose(now, proposal, who, today, self.store.token)

        return self._do(plan)


def _left_contradicting(
    done: Committed, met: "Mapping[str, Sequence[Conflict]]"
) -> tuple[LeftContradiction, ...]:
    return tuple(
        LeftContradiction(
            done.renamed.get(id_, id_), done.renamed.get(conflict.id, conflict.id), conflict.score
        )
        for id_, found in met.items()
        for conflict in found
        if conflict.kind == "contradiction" and conflict.id not in done.ids
    )
