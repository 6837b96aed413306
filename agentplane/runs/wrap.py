"""Running a command as a run: opened before, recorded while it runs, sealed when it ends, however it ends."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError, Damaged
from agentplane.plane.origin import Origin
from agentplane.plane.settings import Runs
from agentplane.plane.store import Store, timestamp
from agentplane.runs import events, relay, seal, session
from agentplane.runs.session import Asked, Ending, OpenRun
from agentplane.runs.signals import held
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

    @property
    def error(self) -> Exception | None:
        """Why not all of it could be kept."""
        return next((tape.error for tape in self.tapes.values() if tape.error), None)

    def close(self) -> list[Recorded]:
        return [tape.close() for tape in self.tapes.values()]


def run(store: Store, asked: Asked, by: Origin, variables: Mapping[str, str]) -> Ran:
    """Runs a command in a capsule of its own. The command finds its run id in its environment."""
    opened = session.begin(store, asked, by, variables)
    given = {**variables, events.RUN_ID: opened.run_id}
    if asked.task is not None:
        given[events.TASK] = asked.task
    recorder = Recorder(session.work(store.layout, opened.run_id), store.settings().runs)
    with held():
        try:
            ending = relay.run(asked.command, env=given, cwd=Path(asked.cwd), sink=recorder.take)
        except AgentplaneError as error:
            words = f"Could not be started: {error.what}"
            _sealed(store, opened, Ending(error.exit_code, words, timestamp(store.clock())), [])
            raise
        recorded = recorder.close()
        full = {one.name: (one.size, one.sha256) for one in recorded}
        words = _words(ending, recorder.error or ending.sink_error)
        ended = Ending(ending.code, words, timestamp(store.clock()), full)
        return Ran(opened.run_id, ending.code, words, _sealed(store, opened, ended, recorded))


def _sealed(
    store: Store, opened: OpenRun, ending: Ending, recorded: list[Recorded]
) -> AgentplaneError | None:
    """Seals the run, or says what kept it from being sealed. How it ended is written down before, for the next try."""
    with suppress(AgentplaneError):  # a full disk, or a plane that is gone: sealing says so
        session.make_folders(store.layout, opened.run_id)
        session.keep(store.layout, msgspec.structs.replace(opened, ending=ending))
    try:
        seal.seal(store, opened, ending, recorded)
    except AgentplaneError as error:
        return error
    except OSError as error:
        return Damaged(_reason(error).lower(), where=store.layout.shown(f"runs/{opened.run_id}"))
    return None


def _words(ending: relay.Ending, lost: Exception | None) -> str:
    told = "Its terminal went away, or it was told to end; " if ending.told is not None else ""
    if ending.left_running:
        return f"{told}it runs on without being recorded"
    how = f"ended by signal {ending.signal}" if ending.signal else f"ended with exit code {ending.code}"
    missing = f"; not all of its output could be recorded: {_reason(lost)}" if lost else ""
    return (told + how)[:1].upper() + (told + how)[1:] + missing


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
