"""Proposing and deciding."""

import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.api.changes import Beside, Changes
from agentplane.errors import BadInput
from agentplane.memory import verbs
from agentplane.memory.entry import Entry
from agentplane.memory.kinds import kind_named
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Proposal
from agentplane.plane import stamp
from agentplane.plane.layout import INBOX
from agentplane.plane.store import Done, Plan
from agentplane.review import confirm, policy, promote
from agentplane.review.confirm import Confirmation


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
        return self._propose(self.memory(), proposal, again=again).ids[0]

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
            done: Done | None = self._propose(memory, proposal)
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

    def approve(self, wanted: Sequence[str], choice: "Choice | None" = None) -> Done:
        """Moves candidates to the shelf. Refuses those with conflicts that the choice does not resolve."""
        from agentplane.review import inbox, resolve

        made, choice = self._stamp(self.origin.actor), choice or resolve.Choice()
        met: dict[str, Sequence[Conflict]] = {}

        def plan(memory: Memory) -> Plan:
            conflicts_of = inbox.deciding(memory)

            def kept(
                entries: Sequence[Entry], kinds: Collection[str] | None
            ) -> "Sequence[Sequence[Conflict]]":
                found = conflicts_of(entries, kinds)
                met.update(zip([entry.id for entry in entries], found, strict=True))
                return found

            same = inbox.alike(memory, wanted).same if choice.alike else ()
            planned = resolve.approve(memory, wanted, made, choice, kept, same)
            return confirm.checked(memory, planned, choice.confirmed)

        done = self._do(plan)
        if not choice.keep_both:
            self.beside = tuple(
                Beside(done.renamed.get(id_, id_), done.renamed.get(conflict.id, conflict.id), conflict.score)
                for id_, found in met.items()
                for conflict in found
                if conflict.kind == "contradiction" and conflict.id not in done.ids
            )
        return done

    def approve_clean(
        self,
        *,
        source: str | None = None,
        kind: str | None = None,
        tag: str | None = None,
        why: str | None = None,
    ) -> Done:
        """Approves every candidate without a conflict or flag, in one op; narrowed by run, kind and tag."""
        from agentplane.review import inbox

        # Without the lock; what is left to do under it is what changes meanwhile.
        self.look_at_all()
        made, today = self._stamp(self.origin.actor), self._today()

        def plan(memory: Memory) -> Plan:
            name = kind_named(memory.kinds, kind).name if kind else None
            clean = [
                reviewed.entry.id
                for reviewed in inbox.Reviewer(memory, today).look()
                if reviewed.clean
                and source in (None, reviewed.entry.head.source)
                and name in (None, reviewed.entry.head.type)
                and (tag is None or tag in reviewed.entry.head.tags)
            ]
            if not clean:
                narrowed = " of those that were asked for" if source or kind or tag else ""
                todo = "`agentplane inbox` says what stands in the way."
                raise BadInput(f"no candidate is clean{narrowed}", todo=todo)
            return msgspec.structs.replace(verbs.approve(memory, clean, made), why=why)

        return self._do(plan)

    def merge(
        self,
        candidate: str,
        target: str,
        text: bytes,
        seen: str,
        why: str | None = None,
        confirmed: Confirmation | None = None,
    ) -> Done:
        """Takes a candidate up into an entry that was seen with the digest `seen`.

        If the target is a candidate as well, the text is approved as a new entry and both leave the inbox. Then `seen`
        is the digest of `candidate`.
        """
        from agentplane.review import resolve

        made = self._stamp(self.origin.actor)

        def plan(memory: Memory) -> Plan:
            if memory.get(target).file == INBOX:
                planned = resolve.merge_candidates(memory, candidate, target, text, seen, made, why)
            else:
                planned = resolve.merge(memory, candidate, target, text, seen, why)
            return confirm.checked(memory, planned, confirmed)

        return self._do(plan)

    def reject(self, wanted: Sequence[str], why: str | None = None, *, alike: bool = False) -> Done:
        """Drops candidates; `alike`: and those that say the same."""
        from agentplane.review import inbox

        def plan(memory: Memory) -> Plan:
            same = inbox.alike(memory, wanted).same if alike else ()
            return verbs.reject(memory, [*wanted, *same], why)

        return self._do(plan)

    def deprecate(self, wanted: Sequence[str], why: str | None = None) -> Done:
        return self._do(partial(verbs.deprecate, wanted=wanted, today=self._today(), why=why))

    def pin(self, wanted: Sequence[str]) -> Done:
        """Puts entries in front of what is not pinned, in every pack that they are about."""
        return self._do(partial(verbs.pin, wanted=wanted))

    def unpin(self, wanted: Sequence[str]) -> Done:
        return self._do(partial(verbs.unpin, wanted=wanted))

    def edit(self, id_: str, text: bytes, seen: str, confirmed: Confirmation | None = None) -> Done | None:
        """Replaces an entry by what a person wrote, who saw it with the digest `seen`; None: nothing changed."""
        from agentplane.review import resolve

        def plan(memory: Memory) -> Plan | None:
            planned = resolve.edit(memory, id_, text, seen)
            return planned and confirm.checked(memory, planned, confirmed)

        return self._commit(plan, self.origin)

    def mask(self, id_: str, seen: str | None = None) -> Done:
        """Replaces the likely secrets in an entry or a candidate. `seen`: the digest of what a person was shown."""
        from agentplane.review import masking

        return self._do(lambda memory: masking.plan(memory, id_, seen))

    def adopt(
        self,
        wanted: Collection[str] = (),
        seen: Mapping[str, str | None] | None = None,
        confirmed: Confirmation | None = None,
    ) -> Done:
        """Approves hand edits; none named: all. `seen`: the digests of what a person was shown."""
        return self._do(lambda memory: confirm.checked(memory, verbs.adopt(memory, wanted, seen), confirmed))

    def revert(self, wanted: Collection[str] = ()) -> Done:
        """Puts back what was approved; none named: all."""
        return self._do(partial(verbs.revert, wanted=wanted))

    def promote_fact(self, fact: Mapping[str, Any] | str) -> Promoted:
        """Proposes a fact; approves it where the policy allows that and nothing is to be said of it.

        With the id of an entry in force it proposes a change of that entry. What is known already isn't proposed again.
        """
        from agentplane.runs import events

        memory = self.memory()
        proposal = verbs.unlabelled(memory, promote.fact_proposal(fact, memory))
        if known := promote.known_as(memory, proposal):
            return Promoted(known.id, approved=known.file != INBOX)
        id_ = self.propose(proposal)
        allowed = policy.may_auto_approve(self.store.settings(), proposal)
        if not (allowed and events.is_logged(self.layout, proposal.source)):
            return Promoted(id_, approved=False)
        by = msgspec.structs.replace(self.origin, channel="policy")
        done = self._commit(partial(promote.approve_clean, id_=id_, stamp=self._stamp("policy")), by)
        return Promoted(done.ids[-1], approved=True) if done else Promoted(id_, approved=False)

    def _propose(self, memory: Memory, proposal: Proposal, *, again: bool = False) -> Done:
        from agentplane.review import gate, gate_answers, inbox, suppressed

        verbs.check_proposal(memory, proposal)
        proposal = verbs.unlabelled(memory, proposal)
        self.step("asking the gate")
        context = inbox.gate_context(memory, self._today())
        verdict = gate.check(proposal, gate.let_in_again(context) if again else context)
        who = self.origin.actor
        if verdict.refused:
            earlier = verdict.earlier
            times = suppressed.add(self.layout, who, earlier.id) if earlier else 1
            raise gate_answers.refusal(verdict, times)

        def plan(now: Memory) -> Plan:
            self.step("writing")
            return verbs.propose(now, proposal, who, self._today(), self.store.token)

        return self._do(plan)
