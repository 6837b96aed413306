"""Running a command as a run: opened before, recorded while it runs, sealed when it ends, however it ends."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.origin import Origin
from agentplane.plane.settings import Runs
from agentplane.plane.store import Store
from agentplane.runs import events, relay, seal, session
from agentplane.runs.session import Asked
from agentplane.runs.tape import Recorded, Tape


class Ran(msgspec.Struct, frozen=True):
    run_id: str
    code: int
    """For our own exit."""
    words: str
    unsealed: AgentplaneError | None = None
    """What kept the run from being sealed; the next command tries again."""


class Recorder:
    """The tapes of one run, one for each output that says something."""

    def __init__(self, folder: Path, settings: Runs) -> None:
        self.folder, self.settings = folder, settings
        self.tapes: dict[str, Tape] = {}

    def take(self, stream: str, data: bytes) -> None:
        if stream not in self.tapes:
            limit, free = self.settings.keep_output, self.settings.keep_free
            self.tapes[stream] = Tape(self.folder, stream, limit, free)
        self.tapes[stream].take(data)

    def close(self) -> list[Recorded]:
        return [tape.close() for tape in self.tapes.values()]


def run(store: Store, asked: Asked, by: Origin, variables: Mapping[str, str]) -> Ran:
    """Runs a command in a capsule of its own. The command finds its run id in its environment."""
    opened = session.begin(store, asked, by, variables)
    given = {**variables, events.RUN_ID: opened.run_id}
    if asked.task is not None:
        given[events.TASK] = asked.task
    recorder = Recorder(session.work(store.layout, opened.run_id), store.settings().runs)
    try:
        ending = relay.run(asked.command, env=given, cwd=Path(asked.cwd), sink=recorder.take)
    except AgentplaneError as error:
        seal.seal(store, opened, seal.Ending(error.exit_code, f"Could not be started: {error.what}"))
        raise
    words = _words(ending)
    try:
        seal.seal(store, opened, seal.Ending(ending.code, words), recorder.close())
    except AgentplaneError as error:
        return Ran(opened.run_id, ending.code, words, error)
    return Ran(opened.run_id, ending.code, words)


def _words(ending: relay.Ending) -> str:
    told = "Its terminal went away, or it was told to end; " if ending.told is not None else ""
    if ending.left_running:
        return f"{told}it runs on without being recorded"
    words = (
        f"{told}ended by signal {ending.signal}"
        if ending.signal
        else f"{told}ended with exit code {ending.code}"
    )
    lost = f"; not all of its output could be recorded: {ending.sink_error}" if ending.sink_error else ""
    return words[:1].upper() + words[1:] + lost
