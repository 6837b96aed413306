"""What coding tools are given, and what they remembered."""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentplane.api.runs import Runs
from agentplane.errors import AgentplaneError
from agentplane.memory import verbs
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Proposal
from agentplane.plane.store import deliverable, settings_changed
from agentplane.text.visible import visible


# What does the work is loaded when it is asked for: looking at the shelf needs little of it.
if TYPE_CHECKING:
    from agentplane.agents.model import Tool
    from agentplane.context.choose import Ask
    from agentplane.context.pack import Pack
    from agentplane.tools.ground import Change
    from agentplane.tools.harvest import Harvest
    from agentplane.tools.restart import Outcome
    from agentplane.tools.room import Packs
    from agentplane.tools.sessions import Session
    from agentplane.tools.sync import Propose, Standing, Synced, Written
    from agentplane.tools.wire import Wired, Wiring


_SCOPE = re.compile(r" \(only for [^()]*\)\Z")
"""What a pack says behind a statement that is about some paths only."""


class Harvested(msgspec.Struct, frozen=True):
    """What became of each offer of a harvest, in their order: the candidate's id, or why the gate refused it."""

    ids: tuple[str | None, ...] = ()
    refused: tuple[str | None, ...] = ()


class Tools(Runs):
    """Packs, the files of tools, and their sessions."""

    def pack(self, ask: "Ask") -> "Pack":
        """What a tool would be given."""
        from agentplane.context import active, pack

        return pack.make(active.sources(self.memory_for_tools(), ask, self._today()), ask)

    def imported_pack(self, ask: "Ask", tools: "Sequence[Tool]" = ()) -> "Pack":
        """Return the pack for context/active.md, without entries that the importing files already say. `tools` are
        the tools whose files are about to import it.
        """
        return self._imported(self.pack(ask), tools)

    def write_pack(self, made: "Pack", tools: "Sequence[Tool]" = ()) -> bool:
        """Puts a pack into context/active.md, as `imported_pack` has it. Says whether that changed it."""
        from agentplane.context import active

        self.store.require_noted(self.origin)
        return active.write(self.layout, self._imported(made, tools))

    def _imported(self, made: "Pack", tools: "Sequence[Tool]") -> "Pack":
        from agentplane.context import active, pack
        from agentplane.tools import room, sync

        def make(budget: int, said: "Mapping[str, str]") -> "Pack":
            ask = msgspec.structs.replace(made.ask, budget=budget)
            memory = Memory(deliverable(self.store.snapshot()))
            return pack.make(active.sources(memory, ask, self._today()), ask, said=said)

        return sync.imported(self.layout.project, room.Packs(made, make), tools)

    def make_context(self) -> bool:
        """Make context/active.md if a tool's file imports it and it is missing or out of date.

        Return True if it was made. A file that Git tracks is never changed.
        """
        from agentplane.agents.catalog import TOOLS
        from agentplane.context import active
        from agentplane.plane import git
        from agentplane.tools import sync

        layout = self.layout
        if not sync.importing(*self._ground, TOOLS):
            return False
        snapshot = self.store.snapshot()
        ledger = snapshot.ledger
        if ledger.unsettled or active.revision(layout.root) == ledger.revision():
            return False
        if settings_changed(snapshot.settings, ledger):
            return False  # the log is to have these first, and a hook of git writes no log
        if git.tracked(layout.root, (active.ACTIVE,)):
            return False
        return self.write_pack(self._packs().whole)

    def synced(self, tools: "Sequence[Tool]", made: "Pack") -> "list[Standing]":
        """How the files of these tools stand to a pack."""
        from agentplane.tools import sync

        return sync.standings(*self._ground, tools, self._packs(made))

    def sync(self, tools: "Sequence[Tool]", made: "Pack") -> "Synced":
        """Writes a pack into the files of these tools, each within its limit. What was written into a block by others
        is proposed first; where the gate refuses that, the file stays as it is.
        """
        from agentplane.tools import sync

        self.write_pack(made, tools)
        done = sync.bring(*self._ground, tools, self._packs(made), self._line_taker())
        # Files that import active.md may import blocks that were written just now.
        self.write_pack(made, tools)
        return done

    def unsync(self, tools: "Sequence[Tool]") -> "Synced":
        """Takes the memory out of the files of these tools, and leaves their hooks and servers."""
        from agentplane.tools import sync

        done = sync.take_out(*self._ground, tools, self._packs(), self._line_taker())
        self._write_imported_again()
        return done

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
        self.write_pack(packs.whole, tools)
        done = wire.wire(*self._ground, tools, packs, self._line_taker())
        self.write_pack(packs.whole, tools)
        return done

    def unwire(self, tools: "Sequence[Tool]") -> "Wired":
        """Takes all that out again, and nothing else."""
        from agentplane.tools import wire

        done = wire.unwire(*self._ground, tools, self._packs(), self._line_taker())
        self._write_imported_again()
        return done

    def _write_imported_again(self) -> None:
        """Bring into context/active.md what a block that was taken out gave until now."""
        from agentplane.agents.catalog import TOOLS
        from agentplane.tools import sync

        if sync.importing(*self._ground, TOOLS):
            self.write_pack(self._packs().whole)

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
        refused: list[str | None] = []
        for offer in found.offers:
            try:
                verbs.check_proposal(memory, offer.proposal)
            except AgentplaneError as error:
                # What somebody else wrote cannot keep the rest out.
                refused.append(error.what)
                continue
            verdict = gate.check(offer.proposal, context)
            refused.append(gate_answers.refusal(verdict).what if verdict.refused else None)
        passed = [offer for offer, why in zip(found.offers, refused, strict=True) if why is None]
        if not passed:
            return Harvested(tuple(None for _ in refused), tuple(refused))
        places = list(dict.fromkeys(place for haul in found.hauls for place in haul.places))
        told = {
            "activity": "import",
            "summary": f"Harvested {len(passed)} candidates.",
            "inputs": places[:200],
        }
        source = self.write_log(told)
        proposals = [
            (msgspec.structs.replace(offer.proposal, source=source), offer.by or me) for offer in passed
        ]
        place_of = {offer.proposal.harvested: place for place, offer in enumerate(passed)}
        successors = {
            place: [place_of[mark] for mark in offer.successors if mark in place_of]
            for place, offer in enumerate(passed)
        }
        done = self._do(lambda now: verbs.propose_many(now, proposals, today, self.store.token, successors))
        ids_ = iter(done.ids)
        return Harvested(tuple(next(ids_) if why is None else None for why in refused), tuple(refused))

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

    @property
    def _ground(self) -> tuple[Path, str]:
        return self.layout.project, self.layout.root.name

    def _packs(self, whole: "Pack | None" = None) -> "Packs":
        from agentplane.tools import room

        def read() -> Memory:
            return Memory(deliverable(self.store.snapshot()))

        return room.packs(read, self._today(), whole)

    def _line_taker(self) -> "Propose":
        """Proposes what was written into a block; not what was approved once, and taken out of force since."""
        said, memory = cache(self._ever_said), cache(self.memory)

        def take(path: str, line: "Written") -> str | None:
            known = memory().entries.get(line.id)
            lines = said(line.id) if line.id else ()
            text = line.bare if line.bare and (known or lines) else line.text
            bare = _SCOPE.sub("", text)
            if any(one == bare or one.endswith(f": {bare}") for one in lines):
                return None
            why = f"It was written into the managed block of {path}{f', with {known.id}' if known else ''}."
            kind = known.head.type if known else "fact"
            return self.propose(Proposal(type=kind, statement=text, rationale=why, evidence=[path]))

        return take

    def _ever_said(self, id_: str) -> frozenset[str]:
        """All lines that an entry ever had."""
        from agentplane.plane import history

        steps = history.of(self.store.snapshot(), id_)
        texts = [text for step in steps for text in (step.before, step.after) if text]
        return frozenset(line.strip() for text in texts for line in visible(text).splitlines())
