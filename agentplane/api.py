"""What the doors and other programs use: one object per plane, over the rooms."""

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.memory import ids, verbs
from agentplane.memory.kinds import kind_named
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Proposal, Stamp
from agentplane.plane import badges, git, history, layout, origin, prune, recover, undo
from agentplane.plane.badges import Badge
from agentplane.plane.history import OpView
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store import Clock, Done, Plan, Snapshot, Store, Token, random_token, utc_now
from agentplane.retrieval.scan import IN_FORCE, Result, Wanted, scan
from agentplane.review import policy, promote


# What reviews candidates or settles branches takes a while to load, and looking at the shelf does not need it.
if TYPE_CHECKING:
    from agentplane.context.choose import Ask
    from agentplane.context.pack import Pack
    from agentplane.memory.settle import Settled
    from agentplane.review.inbox import Reviewed, Reviewer
    from agentplane.review.offer import Offered
    from agentplane.review.relation import Relation
    from agentplane.review.resolve import Choice
    from agentplane.runs.guard import Checked
    from agentplane.runs.session import Asked
    from agentplane.runs.wrap import Ran
    from agentplane.tools.deliver import Delivered
    from agentplane.tools.ground import Change
    from agentplane.tools.harvest import Harvest
    from agentplane.tools.restart import Outcome
    from agentplane.tools.room import Packs
    from agentplane.tools.sessions import Session
    from agentplane.tools.sync import Standing, Synced
    from agentplane.tools.table import Tool
    from agentplane.tools.wire import Wired, Wiring

_LOOKS = 4
_LOOK_SECONDS = 0.05


class Status(msgspec.Struct, frozen=True):
    revision: str
    waiting: int
    conflicts: int
    hand_edits: int
    broken: int
    """Pieces of the files that cannot be read."""
    damaged: bool
    """The log and the files do not fit together; doctor says how."""
    next: str


class Promoted(msgspec.Struct, frozen=True):
    """What became of a fact: a candidate, or an entry where the policy approved it."""

    id: str
    approved: bool


class Harvested(msgspec.Struct, frozen=True):
    """What became of each offer of a harvest, in their order: the candidate's id, or why the gate refused it."""

    ids: tuple[str | None, ...] = ()
    refused: tuple[str | None, ...] = ()


class Logged(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run that was added to the log, and what became of the facts that it found out."""

    run_id: str
    promoted: tuple[Promoted, ...] = ()
    refused: tuple[str, ...] = ()
    """Why the gate refused some of them."""


class Plane:
    """One plane. Every call reads what is on disk now; every change is one op."""

    def __init__(self, store: Store, by: Origin, settled: "Callable[[Settled], None] | None" = None) -> None:
        self.store = store
        self.origin = by
        self.settled = settled
        """Is told what a change had to settle first: what branches left that git merged."""
        self.delivered: Delivered | None = None
        """What the last change brought to the files of tools; None where there was nothing to bring."""
        self.restarting: tuple[Session, ...] = ()
        """The sessions that were asked after the last change to start again, where the settings say so."""
        self.step: Callable[[str], None] = _unheard
        """Is told what a proposal is at; what it raises stops it, before anything was written."""

    @property
    def layout(self) -> Layout:
        return self.store.layout

    def memory(self) -> Memory:
        """The shelf, the inbox and the hand edits, as they are now."""
        return Memory(self.store.snapshot())

    def status(self) -> Status:
        memory = self.memory()
        damaged = self.is_damaged()
        # What a change that is not completed left in the files is nobody's edit.
        waiting, edits = len(memory.inbox), 0 if damaged else len(memory.hand_edits)
        return Status(
            revision=memory.snapshot.ledger.revision(),
            waiting=waiting,
            conflicts=self._contested(memory),
            hand_edits=edits,
            broken=memory.broken,
            damaged=damaged,
            next="agentplane doctor" if damaged else _next_step(memory),
        )

    def _contested(self, memory: Memory) -> int:
        """How many candidates conflict with something."""
        if not memory.inbox_ids:
            return 0
        from agentplane.review import inbox

        found = inbox.Conflicts(memory).of_each(memory.inbox)
        self.keep_badge(memory)
        return sum(map(bool, found))

    def is_damaged(self) -> bool:
        """Whether something is left that opening the plane could not mend."""
        for _ in range(_LOOKS):
            if not recover.unfit(self.layout):
                return False
            time.sleep(_LOOK_SECONDS)  # another process may be in the middle of an op
        return True

    def badge(self) -> Badge:
        """What waits, counted anew and kept for `agentplane badge`."""
        return self.keep_badge(self.memory())

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
            met=offer.met(reviewer.memory, reviewed, reviewer.context),
            earlier=reviewer.earlier(reviewed.entry),
            waiting=len(reviewer.memory.inbox_ids),
            again=copy is not None,
        )

    def _propose(self, memory: Memory, proposal: Proposal, *, again: bool = False) -> Done:
        from agentplane.review import gate, gate_answers, inbox, suppressed

        verbs.check_proposal(memory, proposal)
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

    def approve(self, wanted: Sequence[str], choice: "Choice | None" = None) -> Done:
        """Moves candidates to the shelf. Refuses those with conflicts that the choice does not resolve."""
        from agentplane.review import inbox, resolve

        stamp, choice = self._stamp(self.origin.actor), choice or resolve.Choice()

        def plan(memory: Memory) -> Plan:
            same = inbox.alike(memory, wanted).same if choice.alike else ()
            return resolve.approve(memory, wanted, stamp, choice, inbox.deciding(memory), same)

        return self._do(plan)

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

        stamp, today = self._stamp(self.origin.actor), self._today()

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
                raise BadInput(
                    "no candidate is clean", todo="`agentplane inbox` says what stands in the way."
                )
            return msgspec.structs.replace(verbs.approve(memory, clean, stamp), why=why)

        return self._do(plan)

    def merge(self, candidate: str, target: str, text: bytes, seen: str, why: str | None = None) -> Done:
        """Takes a candidate up into an entry that was seen with the digest `seen`."""
        from agentplane.review import resolve

        return self._do(lambda memory: resolve.merge(memory, candidate, target, text, seen, why))

    def reject(self, wanted: Sequence[str], why: str | None = None, *, alike: bool = False) -> Done:
        """Drops candidates; `alike`: and those that say the same."""
        from agentplane.review import inbox

        def plan(memory: Memory) -> Plan:
            same = inbox.alike(memory, wanted).same if alike else ()
            return verbs.reject(memory, [*wanted, *same], why)

        return self._do(plan)

    def deprecate(self, wanted: Sequence[str], why: str | None = None) -> Done:
        return self._do(partial(verbs.deprecate, wanted=wanted, today=self._today(), why=why))

    def edit(self, id_: str, text: bytes, seen: str) -> Done | None:
        """Replaces an entry by what a person wrote, who saw it with the digest `seen`; None: nothing changed."""
        return self._commit(partial(verbs.edit, wanted=id_, text=text, seen=seen), self.origin)

    def adopt(self, wanted: Collection[str] = ()) -> Done:
        """Approves hand edits; none named: all."""
        return self._do(partial(verbs.adopt, wanted=wanted))

    def revert(self, wanted: Collection[str] = ()) -> Done:
        """Puts back what was approved; none named: all."""
        return self._do(partial(verbs.revert, wanted=wanted))

    def undo(self, op: str | None = None) -> Done:
        return self._plain(partial(undo.plan_undo, actor=self.origin.actor, op=op))

    def redo(self) -> Done:
        return self._plain(partial(undo.plan_redo, actor=self.origin.actor))

    def settle(self, *, deep: bool = True) -> "Settled":
        """Brings branches together that git merged; `deep`: and back what git took out of the log."""
        from agentplane.memory import settle as settling

        done = settling.settle(self.store, deep=deep)
        if done.op or done.joined:
            self.keep_badge(self.memory())
        if done.did and self.settled:
            self.settled(done)
        return done

    def check_prune(self, needle: str) -> prune.Found:
        """Raises what `prune` would raise, says where the text stands, and changes nothing."""
        from agentplane.runs import pruned

        snapshot = self.store.snapshot()
        found = prune.search(snapshot, needle)
        prune.plan(found, pruned.elsewhere(self.layout, needle, pruned.search(self.layout, needle)), None)
        return found

    def prune(self, needle: str, why: str | None = None) -> Done:
        """Takes a text out of history, and out of the capsules of runs."""
        from agentplane.runs import pruned

        hits: list[pruned.Hit] = []

        def plan(snapshot: Snapshot) -> Plan:
            hits[:] = pruned.search(self.layout, needle)
            found = prune.search(snapshot, needle)
            return prune.plan(found, pruned.elsewhere(self.layout, needle, hits), why)

        done = self._plain(plan)
        pruned.write(self.layout, hits)
        return done

    def ops(self, limit: int | None = None) -> list[OpView]:
        """The ops, newest first."""
        return history.ops(self.store.snapshot(), limit)

    def history(self, wanted: str) -> tuple[str, list[history.Step]]:
        """An entry's id, and what happened to it, oldest first, also under the ids that it had before."""
        memory = self.memory()
        id_ = ids.match(wanted, memory.snapshot.ledger.known.keys() | memory.ids_in_files)
        return id_, history.of(memory.snapshot, id_)

    def write_log(self, event: Mapping[str, Any]) -> str:
        """Adds a run to the log. Returns its run id."""
        return self.log(event).run_id

    def log(self, event: Mapping[str, Any]) -> Logged:
        """The same, and says what became of the facts that the run found out."""
        from agentplane.runs import events

        return self._with_facts(events.write(self.store, event))

    def note(self, run_id: str, event: Mapping[str, Any]) -> None:
        """Adds fields of an event to a run that is open."""
        from agentplane.runs import session

        session.note(self.layout, run_id, event)

    def run(self, asked: "Asked") -> "tuple[Ran, tuple[Promoted, ...]]":
        """Runs a command in a capsule. Seals first what was left open by processes that are gone."""
        from agentplane.runs import wrap
        from agentplane.tools import restart

        # What cannot be sealed stays as it is, for the next command and for `doctor` to name.
        with suppress(AgentplaneError):
            self.seal_left()
        restarter = restart.restarter(self.store, asked, os.environ)
        ran = wrap.run(self.store, asked, self.origin, os.environ, restarter)
        sealed = [one for one in (*ran.earlier, ran) if not one.unsealed]
        return ran, tuple(fact for one in sealed for fact in self._with_facts(one.run_id).promoted)

    def seal_left(self) -> list[str]:
        """Seals the runs whose process is gone. Says which."""
        from agentplane.runs import seal

        done = seal.seal_left(self.store)
        for run_id in done:
            self._with_facts(run_id)
        return done

    def take_up(self, run_id: str) -> None:
        """Writes down what a session's run starts from, and seals what others left."""
        from agentplane.runs import session

        session.complete(self.store, run_id, os.environ)
        self.seal_left()

    def end_session(self, run_id: str, words: str) -> bool:
        """Seals a session's run; False where there was nothing in it, or another process does so."""
        from agentplane.plane.store import timestamp
        from agentplane.runs import seal, session

        opened = session.load(self.layout, run_id)
        for _ in range(_LOOKS * 10):
            if opened is None:
                return False
            ending = session.Ending(None, words, timestamp(self.store.clock()))
            if seal.seal(self.store, opened, ending):
                self._with_facts(run_id)
                return True
            opened = session.load(self.layout, run_id)
            time.sleep(_LOOK_SECONDS)  # its beginning may be written down at this moment
        return False

    def _with_facts(self, run_id: str) -> Logged:
        """Proposes what a run found out. A refusal is said and stops nothing: the run is in the log already."""
        from agentplane.runs import capsule, facts

        promoted, refused = [], []
        run = capsule.load(self.layout, run_id)
        finder = Plane(self.store, msgspec.structs.replace(self.origin, actor=run.tool or self.origin.actor))
        for fact in run.derived_facts:
            try:
                promoted.append(finder.promote_fact(facts.of(run, fact, self.layout.root.name)))
            except AgentplaneError as error:
                refused.append(error.what)
        return Logged(run_id, tuple(promoted), tuple(refused))

    def harvest(self, sources: Sequence[str], home: Path | None = None) -> "Harvest":
        """What tools remembered and people wrote down elsewhere that was not offered yet. Changes nothing."""
        from agentplane.tools import harvest

        return harvest.look(self.memory(), sources, home)

    def take_in(self, found: "Harvest") -> Harvested:
        """Proposes what a harvest found, in one op; each goes through the gate as any other proposal."""
        from agentplane.review import gate, gate_answers, inbox

        memory, today, me = self.memory(), self._today(), self.origin.actor
        context = inbox.gate_context(memory, today)
        # What stands in the plane word for word was left out when it was looked for, much faster than one by one.
        context = msgspec.structs.replace(context, actions={**context.actions, "known": "off"})
        refused = []
        for offer in found.offers:
            verbs.check_proposal(memory, offer.proposal)
            verdict = gate.check(offer.proposal, context)
            refused.append(gate_answers.refusal(verdict).what if verdict.refused else None)
        passed = [offer for offer, why in zip(found.offers, refused, strict=True) if why is None]
        if not passed:
            return Harvested(tuple(None for _ in refused), tuple(refused))
        places = list(dict.fromkeys(place for haul in found.hauls for place in haul.places))
        source = self.write_log({"summary": f"Harvested {len(passed)} candidates.", "inputs": places[:200]})
        proposals = [
            (msgspec.structs.replace(offer.proposal, source=source), offer.by or me) for offer in passed
        ]
        done = self._do(lambda now: verbs.propose_many(now, proposals, today, self.store.token))
        ids_ = iter(done.ids)
        return Harvested(tuple(next(ids_) if why is None else None for why in refused), tuple(refused))

    def promote_fact(self, fact: Mapping[str, Any] | str) -> Promoted:
        """Proposes a fact; approves it where the policy allows that and nothing is to be said of it."""
        from agentplane.runs import events

        proposal = promote.fact_proposal(fact)
        id_ = self.propose(proposal)
        allowed = policy.may_auto_approve(self.store.settings(), proposal)
        if not (allowed and events.is_logged(self.layout, proposal.source)):
            return Promoted(id_, approved=False)
        by = msgspec.structs.replace(self.origin, channel="policy")
        done = self._commit(partial(promote.approve_clean, id_=id_, stamp=self._stamp("policy")), by)
        return Promoted(done.ids[-1], approved=True) if done else Promoted(id_, approved=False)

    def pack(self, ask: "Ask") -> "Pack":
        """What a tool would be given."""
        from agentplane.context import active, pack

        return pack.make(active.sources(self.memory(), ask, self._today()), ask)

    def write_pack(self, made: "Pack") -> bool:
        """Puts a pack into context/active.md. Says whether that changed it."""
        from agentplane.context import active

        return active.write(self.layout, made)

    def synced(self, tools: "Sequence[Tool]", made: "Pack") -> "list[Standing]":
        """How the files of these tools stand to a pack."""
        from agentplane.tools import sync

        return sync.standings(*self._ground, tools, self._packs(made))

    def sync(self, tools: "Sequence[Tool]", made: "Pack") -> "Synced":
        """Writes a pack into the files of these tools, each within its limit. What was written into a block by others
        is proposed first; where the gate refuses that, the file stays as it is.
        """
        from agentplane.tools import sync

        self.write_pack(made)
        return sync.bring(*self._ground, tools, self._packs(made), self._propose_line)

    def wiring(self, tools: "Sequence[Tool]") -> "list[Wiring]":
        """How these tools are wired: the file they read, their hooks, their MCP server."""
        from agentplane.tools import wire

        return wire.wirings(*self._ground, tools, self._packs())

    def rewiring(self, tools: "Sequence[Tool]", *, out: bool = False) -> "list[Change]":
        """What `wire` would write, or `unwire`."""
        from agentplane.tools import wire

        if out:
            return wire.removals(self.layout.project, tools)
        return wire.changes(*self._ground, tools, self._packs())

    def wire(self, tools: "Sequence[Tool]") -> "Wired":
        """Brings the memory, our hooks and our MCP server into the files of these tools."""
        from agentplane.tools import wire

        packs = self._packs()
        self.write_pack(packs.whole)
        return wire.wire(*self._ground, tools, packs, self._propose_line)

    def unwire(self, tools: "Sequence[Tool]") -> "Wired":
        """Takes all that out again, and nothing else."""
        from agentplane.tools import wire

        return wire.unwire(*self._ground, tools, self._packs(), self._propose_line)

    def unsync(self, tools: "Sequence[Tool]") -> "Synced":
        """Takes the memory out of the files of these tools, and leaves their hooks and servers."""
        from agentplane.tools import sync

        return sync.take_out(*self._ground, tools, self._packs(), self._propose_line)

    @property
    def _ground(self) -> tuple[Path, str]:
        return self.layout.project, self.layout.root.name

    def _packs(self, whole: "Pack | None" = None) -> "Packs":
        from agentplane.tools import room

        return room.packs(self.memory, self._today(), whole)

    def _propose_line(self, path: str, line: str) -> str:
        why = f"It was written into the managed block of {path}."
        return self.propose(Proposal(type="fact", statement=line, rationale=why, evidence=[path]))

    def sessions(self, *, closely: bool = True) -> "list[Session]":
        """The sessions of coding tools that run here, and what memory each was given. `closely`: the ids of those that
        have no hooks are looked for, too.
        """
        from agentplane.tools import sessions

        revision = self.store.snapshot().ledger.revision()
        return sessions.here(self.layout, revision, os.environ, closely=closely)

    def restart(self, wanted: "Sequence[Session]", patience: float | None = None) -> "list[Outcome]":
        """Asks for those that `agentplane run` runs to be started again once they are idle. Waits a moment for it."""
        from agentplane.tools import restart

        asked = restart.ask(self.store, wanted, self.origin.actor)
        return restart.outcomes(self.layout, asked, restart.PATIENCE if patience is None else patience)

    def check(self, base: str) -> "Checked":
        """What is wrong with what the checkout does to the plane, compared with where it left the commit `base`."""
        from agentplane.runs import guard

        return guard.check(self.layout, base)

    def recall(self, query: str, *, limit: int = 5, wanted: Wanted = IN_FORCE) -> list[Result]:
        """The trusted entries that are nearest to a query; unless asked for others, those in force."""
        memory = self.memory()
        if wanted.kind is not None:
            wanted = msgspec.structs.replace(wanted, kind=kind_named(memory.kinds, wanted.kind).name)
        return scan([entry for entry in memory.shelf if wanted.takes(entry)], query, limit)

    def keep_badge(self, memory: Memory) -> Badge:
        """Keeps the counts of a memory that was just looked at."""
        waiting = memory.inbox_ids
        present = memory.ids_in_files if waiting else ()
        contested = badges.contested(self.layout, waiting, present) if waiting else ()
        found = Badge(len(waiting), len(contested), len(memory.hand_edits))
        snapshot = memory.snapshot
        shas = {file: page.sha256 for file, page in snapshot.pages.items()}
        badges.keep(self.layout, found, shas, snapshot.ledger.size)
        return found

    def _today(self) -> date:
        return self.store.clock().date()

    def _stamp(self, actor: str) -> Stamp:
        return Stamp(self._today(), actor, git.head(self.layout.project))

    def _plain(self, plan: Callable[[Snapshot], Plan]) -> Done:
        """An op of the plane itself, which needs no look at the entries."""
        if self.store.settings().trust.hand_edits == "accept":
            self._take_in_hand_edits()
        done = self._require(self._settled(plan, self.origin))
        self._bring(Memory(done.snapshot))
        return done

    def _do(self, plan: Callable[[Memory], Plan]) -> Done:
        return self._require(self._commit(plan, self.origin))

    def _commit(self, plan: Callable[[Memory], Plan | None], by: Origin) -> Done | None:
        if self.store.settings().trust.hand_edits == "accept":
            self._take_in_hand_edits()
        done = self._settled(lambda snapshot: plan(Memory(snapshot)), by)
        if done is not None:
            self._bring(Memory(done.snapshot))
        return done

    def _bring(self, memory: Memory) -> None:
        """What everybody should know after an op: the badge, and the files of tools that hold older memory."""
        from agentplane.tools import deliver

        self.keep_badge(memory)
        self.delivered = None
        if not memory.snapshot.ledger.unsettled:
            settings = self.store.settings().tools
            self.delivered = deliver.deliver(memory, self._today, write=settings.deliver)
            self.restarting = self._restart_old(memory) if settings.restart == "auto" else ()

    def _restart_old(self, memory: Memory) -> "tuple[Session, ...]":
        """Never raises: what it follows is done already."""
        from agentplane.tools import restart, sessions

        with suppress(AgentplaneError, OSError):
            revision = memory.snapshot.ledger.revision()
            found = sessions.here(self.layout, revision, os.environ, closely=False)
            wanted = [one for one in sessions.old(found) if one.hooked]
            return tuple(restart.ask(self.store, wanted, self.origin.actor, auto=True))
        return ()

    def _settled(self, plan: Callable[[Snapshot], Plan | None], by: Origin) -> Done | None:
        """Commits; where branches meet in the plane, brings them together first."""

        def checked(snapshot: Snapshot) -> Plan | None:
            if snapshot.ledger.unsettled and not snapshot.ledger.gaps:
                raise _BranchesMeet
            return plan(snapshot)

        try:
            return self.store.commit(checked, by)
        except _BranchesMeet:
            # What cannot be settled as its files are now stays open, and doctor names it.
            with suppress(BadInput, Refused):
                self.settle(deep=False)
            return self.store.commit(plan, by)

    def _take_in_hand_edits(self) -> None:
        """Where the settings accept hand edits, they get an op of their own before the next one."""
        by = msgspec.structs.replace(self.origin, channel="policy")
        # Where branches meet, what stands in the files may be nobody's edit.
        self._settled(lambda snapshot: verbs.adopt_what_counts(Memory(snapshot)), by)

    @staticmethod
    def _require(done: Done | None) -> Done:
        if done is None:
            raise BadInput("nothing to do")
        return done


def _unheard(_doing: str) -> None:
    """Nobody wants to know."""


class _BranchesMeet(Exception):
    """Raised under the lock, where nothing was written yet."""


def _next_step(memory: Memory) -> str:
    if memory.snapshot.ledger.unsettled and not memory.snapshot.ledger.gaps:
        return "agentplane settle"
    if memory.broken:
        return "agentplane doctor"
    if memory.hand_edits or memory.inbox_ids:
        return "agentplane inbox"
    return "nothing waits" if memory.shelf else 'agentplane propose --type decision "…"'


def open_plane(
    path: str | os.PathLike[str] = ".",
    *,
    channel: str = "api",
    actor: str | None = None,
    clock: Clock = utc_now,
    token: Token = random_token,
) -> Plane:
    """The plane that `path` is in, or that `path` is."""
    start = Path(path)
    found = layout.at(start) if layout.is_plane(start) else layout.find(start)
    return Plane(Store(found, clock, token), origin.here(channel, found.project, actor))
