"""`plane.tools`, which manages context, files and sessions of coding tools, and imports their memories."""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import msgspec

from agentplane.api.committer import Committer, required
from agentplane.api.inbox import Inbox
from agentplane.api.results import Harvested, SyncResult, WrittenPack
from agentplane.api.runs import Runs
from agentplane.commands import Sync, ToolCommand, Unwire, Wire
from agentplane.errors import AgentplaneError
from agentplane.memory import proposing
from agentplane.memory.proposing import Proposal
from agentplane.memory.view import Memory
from agentplane.plane.store.snapshot import deliverable, settings_changed
from agentplane.text.numbers import counted
from agentplane.text.visible import visible
from agentplane.tools.foreign_file import Change


# These modules are loaded on use, because reading the memory needs few of them.
if TYPE_CHECKING:
    from agentplane.agents.model import Tool
    from agentplane.context.choose import Ask
    from agentplane.context.pack import Pack
    from agentplane.tools.connections import Wired, Wiring
    from agentplane.tools.harvest.harvest import Harvest
    from agentplane.tools.memory_file.edited_lines import LineProposer, Written
    from agentplane.tools.memory_file.size_limit import Packs
    from agentplane.tools.memory_file.sync import Standing, Synced
    from agentplane.tools.receivers import Receivers
    from agentplane.tools.sessions.restart import Outcome
    from agentplane.tools.sessions.sessions import Session


_SCOPE = re.compile(r" \(only for [^()]*\)\Z")
"""The suffix of a statement in a context pack, if the statement is only about some paths."""


class Tools:
    """The coding tools that use one plane."""

    def __init__(self, committer: Committer, inbox: Inbox, runs: Runs) -> None:
        self._committer = committer
        self._inbox = inbox
        self._runs = runs
        self._store = committer.store
        self._layout = committer.layout

    def preview(self, command: ToolCommand) -> tuple[Change, ...]:
        """Return the files that a command would change, without writing anything.

        The receipt of a context pack is left out.
        """
        from agentplane.tools import presence
        from agentplane.tools.memory_file import sync

        changes: Sequence[Change]
        match command:
            case Unwire():
                changes = self.wiring_changes(presence.named(command.ids), out=True)
            case Wire():
                tools = presence.named(command.ids)
                changes = [*self.wiring_changes(tools), self._context_change(self.pack(_lasting()), tools)]
            case Sync():
                tools, made = presence.named(command.ids), self.pack(command.ask or _lasting())
                changes = sync.changes(*self._project_and_plane, tools, self._packs(made))
                changes = [*changes, self._context_change(made, tools)]
            case _:
                assert_never(command)
        return tuple(change for change in changes if change.before != change.after)

    def bring(self, command: Sync) -> SyncResult:
        """Carry out a `Sync`."""
        from agentplane.tools import presence

        made = self.pack(command.ask or _lasting())
        # Tools that import context/active.md get a requested context pack through that file.
        is_changed = command.ask is not None and self.write_pack(made).changed
        return SyncResult(self.sync(presence.named(command.ids), made), made, is_changed)

    def pack(self, ask: "Ask") -> "Pack":
        """Return the context pack that a tool would get."""
        from agentplane.context import active, pack

        memory = self._committer.read_for_tools()
        return pack.make(active.sources(memory, ask, self._committer.today()), ask)

    def imported_pack(self, ask: "Ask") -> "Pack":
        """Return the context pack for context/active.md.

        It has no entries that the importing files already have.
        """
        return self._imported(self.pack(ask))

    def write_pack(self, whole: "Pack", tools: "Sequence[Tool]" = ()) -> WrittenPack:
        """Write a context pack into context/active.md, without the entries that the importing files already have.

        `tools` are the tools whose files are about to import it.
        """
        from agentplane.context import active

        self._store.require_noted(self._committer.origin)
        imported = self._imported(whole, tools)
        return WrittenPack(imported, active.write(self._layout, imported))

    def _imported(self, whole: "Pack", tools: "Sequence[Tool]" = ()) -> "Pack":
        from agentplane.context import active, pack
        from agentplane.tools.memory_file import size_limit, sync

        def make(budget: int, repeated: "Mapping[str, str]") -> "Pack":
            ask = msgspec.structs.replace(whole.ask, budget=budget)
            memory = Memory(deliverable(self._store.snapshot()))
            return pack.make(active.sources(memory, ask, self._committer.today()), ask, repeated=repeated)

        return sync.imported(self._layout.project, size_limit.Packs(whole, make), tools)

    def make_context(self) -> bool:
        """Write context/active.md if a tool file imports it and it is missing or out of date.

        Return True if it changed. A file that Git tracks is never changed.
        """
        from agentplane.agents.catalog import TOOLS
        from agentplane.context import active
        from agentplane.plane.git import git
        from agentplane.tools.memory_file import sync

        layout = self._layout
        if not sync.importing(*self._project_and_plane, TOOLS):
            return False
        snapshot = self._store.snapshot()
        ledger = snapshot.ledger
        if ledger.unsettled or active.revision(layout.root) == ledger.revision():
            return False
        if settings_changed(snapshot.settings, ledger):
            return False  # the log must record these first, and a Git hook doesn't write the log
        if git.tracked(layout.root, (active.ACTIVE,)):
            return False
        return self.write_pack(self._packs().whole).changed

    def receivers(self, memory: Memory) -> "Receivers":
        """Return the tools that get this memory, the ones that have an older revision, and the ones without it."""
        from agentplane.tools import receivers

        revision = memory.snapshot.ledger.revision()
        return receivers.look(self._layout, revision)

    def standings(self, tools: "Sequence[Tool]", made: "Pack") -> "list[Standing]":
        """Compare the files of these tools with a context pack."""
        from agentplane.tools.memory_file import sync

        return sync.standings(*self._project_and_plane, tools, self._packs(made))

    def sync(self, tools: "Sequence[Tool]", made: "Pack") -> "Synced":
        """Write a context pack into the files of these tools, each within its limit.

        Lines that other writers added to agentplane's block are proposed first. If the gate refuses a line,
        its file isn't changed.
        """
        from agentplane.tools.memory_file import sync

        self.write_pack(made, tools)
        done = sync.bring(*self._project_and_plane, tools, self._packs(made), self._line_proposer())
        # Files that import active.md may also import blocks that were just written.
        self.write_pack(made, tools)
        return done

    def unsync(self, tools: "Sequence[Tool]") -> "Synced":
        """Remove the memory from the files of these tools. Their hooks and MCP servers stay."""
        from agentplane.tools.memory_file import sync

        done = sync.take_out(*self._project_and_plane, tools, self._packs(), self._line_proposer())
        self._write_imported_again()
        return done

    def wiring(self, tools: "Sequence[Tool]") -> "list[Wiring]":
        """Return the connections of these tools, which are the memory file, the hooks and the MCP server."""
        from agentplane.tools import connections

        return connections.wirings(*self._project_and_plane, tools, self._packs())

    def wiring_changes(self, tools: "Sequence[Tool]", *, out: bool = False) -> list[Change]:
        """Return the changes that `wire` would make to the tools' files.

        If `out` is true, return the changes of `unwire`.
        """
        from agentplane.tools import connections

        if out:
            return connections.removals(self._layout.project, tools)
        return connections.changes(*self._project_and_plane, tools, self._packs())

    def wire(self, tools: "Sequence[Tool]") -> "Wired":
        """Add the memory, agentplane's hooks and its MCP server to the files of these tools."""
        from agentplane.tools import connections

        packs = self._packs()
        self.write_pack(packs.whole, tools)
        done = connections.wire(*self._project_and_plane, tools, packs, self._line_proposer())
        self.write_pack(packs.whole, tools)
        return done

    def unwire(self, tools: "Sequence[Tool]") -> "Wired":
        """Remove exactly the additions of `wire` from the files of these tools."""
        from agentplane.tools import connections

        done = connections.unwire(*self._project_and_plane, tools, self._packs(), self._line_proposer())
        self._write_imported_again()
        return done

    def _write_imported_again(self) -> None:
        """Add to context/active.md the entries that a removed block had until now."""
        from agentplane.agents.catalog import TOOLS
        from agentplane.tools.memory_file import sync

        if sync.importing(*self._project_and_plane, TOOLS):
            self.write_pack(self._packs().whole)

    def harvest(self, sources: Sequence[str], home: Path | None = None) -> "Harvest":
        """Find statements in tool memories and documents that were not imported yet. Changes nothing."""
        from agentplane.tools.harvest import harvest

        report = self._committer.listeners.progress
        return harvest.look(self._committer.read(), sources, home, report=report)

    def take_in(self, found: "Harvest") -> Harvested:
        """Propose the statements of a harvest in one operation. The gate checks each proposal."""
        from agentplane.review import inbox
        from agentplane.review.gate import gate, verdicts

        committer = self._committer
        report = committer.listeners.progress
        memory, today, me = committer.read(), committer.today(), committer.origin.actor
        context = inbox.gate_context(memory, today)
        # The search already left out exact copies of entries, which is much faster than checking each here.
        context = msgspec.structs.replace(context, actions={**context.actions, "known": "off"})
        refused: list[str | None] = []
        for number, offer in enumerate(found.offers):
            report(number, len(found.offers), "Checking proposals")
            try:
                proposing.check_proposal(memory, offer.proposal)
            except AgentplaneError as error:
                # An invalid statement from another author must not block the rest.
                refused.append(error.what)
                continue
            verdict = gate.check(offer.proposal, context)
            refused.append(verdicts.refusal(verdict).what if verdict.refused else None)
        passed = [offer for offer, why in zip(found.offers, refused, strict=True) if why is None]
        report(0, 0, "Writing candidates")
        if not passed:
            return Harvested(tuple(None for _ in refused), tuple(refused))
        places = list(dict.fromkeys(place for haul in found.hauls for place in haul.places))
        event = {
            "activity": "import",
            "summary": f"Imported {counted(len(passed), 'candidate')}.",
            "inputs": places[:200],
        }
        source = self._runs.log(event).run_id
        proposals = [
            (msgspec.structs.replace(offer.proposal, source=source), offer.by or me) for offer in passed
        ]
        place_of = {offer.proposal.harvested: place for place, offer in enumerate(passed)}
        successors = {
            place: [place_of[mark] for mark in offer.successors if mark in place_of]
            for place, offer in enumerate(passed)
        }
        done = committer.commit(
            lambda now: proposing.propose_many(now, proposals, today, self._store.token, successors)
        )
        ids_ = iter(required(done).ids)
        return Harvested(tuple(next(ids_) if why is None else None for why in refused), tuple(refused))

    def sessions(self, revision: str | None = None, *, closely: bool = True) -> "list[Session]":
        """Return the running sessions of coding tools, and the memory that each one got.

        `revision` is the current memory revision, if the caller knows it. `closely` also looks for the IDs of
        sessions without hooks.
        """
        from agentplane.tools.sessions import sessions

        current = revision or self._store.snapshot().ledger.revision()
        return sessions.here(self._layout, current, os.environ, closely=closely)

    def restart(self, wanted: "Sequence[Session]") -> "list[Outcome]":
        """Ask sessions under `agentplane run` to restart once they are idle.

        Wait a moment for the results and return them.
        """
        from agentplane.tools.sessions import restart

        asked = restart.ask(self._store, wanted, self._committer.origin.actor)
        return restart.outcomes(self._layout, asked, restart.PATIENCE)

    def _context_change(self, made: "Pack", tools: "Sequence[Tool]") -> Change:
        """Return the change of context/active.md, which some tools read directly."""
        from agentplane.context import active
        from agentplane.text import files

        before = files.read_if(self._layout.root / active.ACTIVE)
        after = self._imported(made, tools).text.encode()
        return Change(f"{self._layout.root.name}/{active.ACTIVE}", before, after)

    @property
    def _project_and_plane(self) -> tuple[Path, str]:
        return self._layout.project, self._layout.root.name

    def _packs(self, whole: "Pack | None" = None) -> "Packs":
        from agentplane.tools.memory_file import size_limit

        def read() -> Memory:
            return Memory(deliverable(self._store.snapshot()))

        return size_limit.packs(read, self._committer.today(), whole)

    def _line_proposer(self) -> "LineProposer":
        """Return a function that proposes a line of a block, unless an entry once had that line."""
        lines_of, memory = cache(self._lines_ever), cache(self._committer.read)

        def take(path: str, line: "Written") -> str | None:
            known = memory().entries.get(line.id)
            lines = lines_of(line.id) if line.id else ()
            text = line.bare if line.bare and (known or lines) else line.text
            bare = _SCOPE.sub("", text)
            if any(one == bare or one.endswith(f": {bare}") for one in lines):
                return None
            why = f"Someone added this text to {f'{known.id} in ' if known else ''}agentplane's block in {path}."
            kind = known.head.type if known else "fact"
            return self._inbox.propose(Proposal(type=kind, statement=text, rationale=why, evidence=[path]))

        return take

    def _lines_ever(self, id_: str) -> frozenset[str]:
        """Return all lines that an entry ever had."""
        from agentplane.plane.store import history

        steps = history.of(self._store.snapshot(), id_)
        texts = [text for step in steps for text in (step.before, step.after) if text]
        return frozenset(line.strip() for text in texts for line in visible(text).splitlines())


def _lasting() -> "Ask":
    """Return the request for a context pack about the whole project, as tool files have it."""
    from agentplane.context.choose import Ask

    return Ask(passing=False)
