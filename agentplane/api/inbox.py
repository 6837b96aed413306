"""`plane.inbox`, which proposes, checks and decides about candidates."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.api import plans
from agentplane.api.committer import Committer, required
from agentplane.api.results import Committed, Promoted
from agentplane.commands import Approve, ApproveClean, Merge, Propose, Reject, SendBack, Snooze
from agentplane.memory import proposing
from agentplane.memory.proposing import Proposal
from agentplane.memory.view import Memory
from agentplane.plane.derived.badge_counts import Badge
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Plan
from agentplane.review import attention, policy, promote
from agentplane.review.attention import Attention
from agentplane.review.confirm import Confirmation


# These modules are loaded on use, because reading the memory needs few of them.
if TYPE_CHECKING:
    from agentplane.review.conflicts.resolve import Choice
    from agentplane.review.gate.gate import Context
    from agentplane.review.inbox import Reviewed, Reviewer
    from agentplane.review.proposals import Offered


class _Entered(msgspec.Struct, frozen=True):
    """A proposal that is now in the inbox."""

    id: str
    done: Committed | None
    """None if a candidate already had the relation."""
    read: Memory
    """The memory before the proposal."""
    context: "Context | None"
    """The context that the gate compared the proposal with. None if the statement was already a candidate."""

    @property
    def seen(self) -> Memory:
        """The memory with the proposal."""
        return Memory(self.done.snapshot) if self.done else self.read


class Inbox:
    """The candidates of one plane."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    def propose(self, proposal: Proposal, *, again: bool = False) -> str:
        """Put a candidate into the inbox, unless the gate refuses it. Return its ID.

        `again` allows a statement that was rejected before. The reviewer then sees the earlier rejection. The
        doors set it only for a person.
        """
        return self._enter(Propose(proposal, again)).id

    def put(self, command: Propose) -> Committed | None:
        """Carry out a `Propose`. Return None if an existing candidate already has all of it."""
        return self._enter(command).done

    def offer(self, command: Propose) -> "Offered":
        """Carry out a `Propose`, and return how the candidate relates to the entries and the other candidates."""
        from agentplane.review import inbox, proposals

        self._committer.listeners.step("reading memory")
        entered = self._enter(command, badge=False)
        self._committer.listeners.step("looking for conflicts")
        seen = entered.seen
        judged = entered.context if inbox.same_for_gate(entered.read, seen) else None
        reviewer = inbox.Reviewer(seen, self._committer.today(), judged=judged)
        (reviewed,) = reviewer.look([entered.id])
        self._committer.keep_badge(seen)
        return proposals.Offered(reviewed, reviewer, again=entered.context is None)

    def reviewer(self, memory: Memory | None = None) -> "Reviewer":
        """Return a reviewer that checks candidates a few at a time.

        It reads `memory` [default: the current memory].
        """
        from agentplane.review.inbox import Reviewer

        return Reviewer(memory or self._committer.read(), self._committer.today())

    def review(self, wanted: Sequence[str] = ()) -> "list[Reviewed]":
        """Return the candidates with these IDs, with their conflicts and flags.

        Without IDs, return all candidates.
        """
        reviewer = self.reviewer()
        found = reviewer.look(wanted)
        self.keep_badge(reviewer.memory)
        return found

    def check_all(self) -> None:
        """Check every candidate that has no current result, without the plane's lock."""
        from agentplane.api import checking

        checking.check_all(self._committer)

    def badge(self) -> Badge:
        """Count the pending decisions, and store the counts for `agentplane badge`."""
        return self.keep_badge(self._committer.read())

    def keep_badge(self, memory: Memory) -> Badge:
        """Store the counts of a memory for `agentplane badge`."""
        return self._committer.keep_badge(memory)

    def contested(self, memory: Memory) -> tuple[int, int]:
        """Return the number of candidates that need a choice, and the number of unchecked ones.

        If only a few candidates are unchecked, they are checked now.
        """
        if not memory.inbox_ids:
            return 0, 0
        from agentplane.review import inbox_conflicts

        conflicts = inbox_conflicts.Conflicts(memory)
        known = conflicts.known()
        left = [entry for entry in memory.inbox if entry.id not in known]
        if 0 < len(left) <= inbox_conflicts.AT_ONCE:
            found = conflicts.of_each(left)
            known.update(zip((entry.id for entry in left), found, strict=True))
            left = []
        self.keep_badge(memory)
        asking = attention.divide(memory, self._committer.today()).asking_ids
        contested = (any(one.needs_choice for one in found) for id_, found in known.items() if id_ in asking)
        return sum(contested), len(left)

    def approve(
        self,
        wanted: Sequence[str],
        choice: "Choice | None" = None,
        confirmed: Confirmation | None = None,
    ) -> Committed:
        """Approve candidates. Refuse those with conflicts that the choice doesn't resolve."""
        return required(self._committer.do(Approve(tuple(wanted), choice, confirmed)))

    def approve_clean(
        self,
        *,
        source: str | None = None,
        kind: str | None = None,
        tag: str | None = None,
        why: str | None = None,
    ) -> Committed:
        """Approve every candidate without a conflict or flag, in one operation."""
        return required(self._committer.do(ApproveClean(source, kind, tag, why)))

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
        return required(self._committer.do(Merge(candidate, target, text, seen, why, confirmed)))

    def reject(self, wanted: Sequence[str], why: str | None = None, *, alike: bool = False) -> Committed:
        """Reject candidates. `alike` also rejects candidates with the same statement."""
        return required(self._committer.do(Reject(tuple(wanted), why, alike)))

    def send_back(self, wanted: Sequence[str], comment: str) -> Committed:
        """Send candidates back to their proposers, with one comment. They stay in the inbox."""
        return required(self._committer.do(SendBack(tuple(wanted), comment)))

    def snooze(self, wanted: Sequence[str], until: date | None) -> Committed:
        """Keep candidates folded until a day. With None, they ask for attention again."""
        return required(self._committer.do(Snooze(tuple(wanted), until)))

    def attention(self, memory: Memory) -> Attention:
        """Return which candidates ask for attention today."""
        return attention.divide(memory, self._committer.today())

    def promote_fact(self, fact: Mapping[str, Any] | str) -> Promoted:
        """Propose a fact. Approve it if the policy allows that and nothing is flagged.

        With the ID of an accepted entry, it proposes a change to that entry. A known fact isn't proposed
        again.
        """
        from agentplane.runs import events

        committer = self._committer
        memory = committer.read()
        proposal = proposing.unlabelled(memory, promote.fact_proposal(fact, memory))
        if known := promote.existing_of(memory, proposal):
            return Promoted(known.id, approved=known.file != INBOX)
        entered = self._enter(Propose(proposal), memory)
        settings = entered.seen.snapshot.settings
        allowed = policy.may_auto_approve(settings, proposal)
        if not (allowed and events.is_logged(committer.layout, proposal.source)):
            return Promoted(entered.id, approved=False)
        by = msgspec.structs.replace(committer.origin, channel="policy")
        plan = partial(promote.approve_clean, id_=entered.id, stamp=committer.stamp("policy"))
        done = committer.commit(plan, by)
        return Promoted(done.ids[-1], approved=True) if done else Promoted(entered.id, approved=False)

    def _enter(self, command: Propose, memory: Memory | None = None, *, badge: bool = True) -> _Entered:
        """Put a proposal into the inbox. The gate checks it before the plane is locked.

        Without `badge`, the caller calls `keep_badge`.
        """
        from agentplane.review.gate import repeat_counts, verdicts

        committer = self._committer
        memory, actor = memory or committer.read(), committer.origin.actor
        committer.listeners.step("checking the proposal")
        ready = plans.prepared(command, memory, actor, committer.today())
        if ready.verdict and ready.verdict.refused:
            earlier = ready.verdict.earlier
            times = repeat_counts.add(committer.layout, actor, earlier.id) if earlier else 1
            raise verdicts.refusal(ready.verdict, times)

        def plan(now: Memory) -> Plan | None:
            committer.listeners.step("writing")
            return ready.plan(now, committer.store.token)

        done = committer.commit(plan, badge=badge)
        return _Entered(ready.joined or required(done).ids[0], done, memory, ready.context)
