"""What runs leave behind."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.api.review import Promoted, Review
from agentplane.errors import AgentplaneError


# What does the work is loaded when it is asked for: looking at the shelf needs little of it.
if TYPE_CHECKING:
    from agentplane.runs.session import Asked
    from agentplane.runs.wrap import Ran


_LOOKS = 4
_LOOK_SECONDS = 0.05


class Logged(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run that was added to the log, and what became of the facts that it found out."""

    run_id: str
    promoted: tuple[Promoted, ...] = ()
    refused: tuple[str, ...] = ()
    """Why the gate refused some of them."""
    awaited: tuple[str, ...] = ()
    """Ids of facts that the run names and that have no statement yet."""


class Runs(Review):
    """The log and the capsules."""

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
        finder = type(self)(
            self.store, msgspec.structs.replace(self.origin, actor=run.tool or self.origin.actor)
        )
        named = [str(fact) for fact in run.derived_facts if facts.is_reference(fact)]
        for fact in run.derived_facts:
            if facts.is_reference(fact):
                continue
            try:
                promoted.append(finder.promote_fact(facts.of(run, fact, self.layout.root.name)))
            except AgentplaneError as error:
                refused.append(error.what)
        waiting = self.memory().awaited() if named else {}
        awaited = tuple(dict.fromkeys(id_ for id_ in named if id_ in waiting))
        return Logged(run_id, tuple(promoted), tuple(refused), awaited)
