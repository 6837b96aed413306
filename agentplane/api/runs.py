"""`plane.runs`, which adds runs to the log and seals their capsules."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentplane.api.committer import Committer
from agentplane.api.inbox import Inbox
from agentplane.api.results import Logged, Promoted
from agentplane.errors import AgentplaneError
from agentplane.review import promote


# These modules are loaded on use, because reading the memory needs few of them.
if TYPE_CHECKING:
    from agentplane.runs.command import RunResult
    from agentplane.runs.events import RunEvent
    from agentplane.runs.open.open_run import RunSpec


_LOOKS = 4
_LOOK_SECONDS = 0.05


class Runs:
    """The runs of one plane."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self._store = committer.store
        self._layout = committer.layout

    def log(self, event: Mapping[str, Any]) -> Logged:
        """Add a run to the log, and propose its facts."""
        from agentplane.runs import reports

        return self._with_facts(reports.write(self._store, event))

    def note(self, run_id: str, event: Mapping[str, Any]) -> None:
        """Add fields of an event to an open run."""
        from agentplane.runs.open import open_run

        open_run.note(self._layout, run_id, event)

    def run(self, asked: "RunSpec") -> "tuple[RunResult, tuple[Promoted, ...]]":
        """Run a command in a capsule.

        Open runs of ended processes are sealed first.
        """
        from agentplane.runs import command
        from agentplane.tools.sessions import restart

        # A run that can't be sealed stays open, for the next command and for `doctor`.
        with suppress(AgentplaneError):
            self.seal_left()
        restarter = restart.restarter(self._store, asked, os.environ)
        ran = command.run(self._store, asked, self._committer.origin, os.environ, restarter)
        sealed = [one.event for one in (*ran.earlier, ran) if one.event]
        return ran, tuple(fact for event in sealed for fact in self._with_facts(event).promoted)

    def seal_left(self) -> list[str]:
        """Seal the open runs whose process has ended. Return their IDs."""
        from agentplane.runs.capsule import seal

        done = seal.seal_left(self._store)
        for run in done:
            self._with_facts(run)
        return [run.run_id for run in done]

    def begin_session(self, run_id: str) -> None:
        """Record the starting state of a session's run. Seal the open runs of ended processes."""
        from agentplane.runs.open import open_run

        open_run.complete(self._store, run_id, os.environ)
        self.seal_left()

    def end_session(self, run_id: str, words: str) -> bool:
        """Seal a session's run. Return False if the run is empty or another process seals it."""
        from agentplane.plane.store.store import timestamp
        from agentplane.runs.capsule import seal
        from agentplane.runs.open import open_run

        opened = open_run.load(self._layout, run_id)
        for _ in range(_LOOKS * 10):
            if opened is None:
                return False
            ending = open_run.Ending(None, words, timestamp(self._store.clock()))
            if run := seal.seal(self._store, opened, ending):
                self._with_facts(run)
                return True
            opened = open_run.load(self._layout, run_id)
            time.sleep(_LOOK_SECONDS)  # its start may be recorded at this moment
        return False

    def _with_facts(self, run: "RunEvent") -> Logged:
        """Propose the facts of a run that was just logged.

        A refusal is returned and not raised, because the log already has the run.
        """
        from agentplane.runs.query import facts

        promoted, refused = [], []
        finder = Inbox(self._committer.acting_as(run.tool or self._committer.origin.actor))
        named = [str(fact) for fact in run.derived_facts if facts.is_reference(fact)]
        for fact in run.derived_facts:
            if facts.is_reference(fact):
                continue
            try:
                promoted.append(finder.promote_fact(facts.of(run, fact, self._layout.root.name)))
            except AgentplaneError as error:
                refused.append(error.what)
        waiting = promote.awaited(self._committer.read()) if named else {}
        awaited = tuple(dict.fromkeys(id_ for id_ in named if id_ in waiting))
        return Logged(run.run_id, tuple(promoted), tuple(refused), awaited)
