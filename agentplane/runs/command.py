"""Running a command as a run, which is opened before the command, recorded meanwhile, and sealed after any
ending.

A command may be ended so that another one can replace it. For example, a session of a coding tool restarts
with new memory. The new command has a separate run.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError, Damaged
from agentplane.plane.origin import Origin
from agentplane.plane.settings import Runs
from agentplane.plane.store.store import Store, timestamp
from agentplane.runs import events
from agentplane.runs.capsule import seal
from agentplane.runs.events import RunEvent
from agentplane.runs.open import hook_notes, open_run
from agentplane.runs.open.open_run import Ending, OpenRun, RunSpec
from agentplane.runs.record.output_file import Recording, Tape
from agentplane.runs.restart.requests import Again, Decision, Request, Waits, Watch
from agentplane.runs.terminal import relay
from agentplane.runs.terminal.signals import held


class RunResult(msgspec.Struct, frozen=True):
    run_id: str
    code: int
    """Exit code for agentplane."""
    words: str
    event: RunEvent | None = None
    """The event in the log, or None if this process didn't seal the run."""
    unsealed: AgentplaneError | None = None
    """The error that prevented sealing. The next command tries again."""
    earlier: "tuple[RunResult, ...]" = ()
    """The runs of the commands that this command replaced, oldest first."""


Restarter = Callable[[OpenRun, RunSpec, Request], Decision]
"""Decides about a request to replace a command. The second argument is the unmasked description of the
run.
"""


class Recorder:
    """The tapes of one run, with one tape for each output that has content.

    Created before the command starts. If the command replaces the folder, the tapes never write to the
    replacement.
    """

    def __init__(self, folder: Path, settings: Runs) -> None:
        self.folder, self.settings = folder, settings
        self.tapes: dict[str, Tape] = {}
        self._place: int | None = None
        with suppress(OSError):  # each tape then reports the error of the folder
            self._place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def take(self, stream: str, data: bytes) -> None:
        if stream not in self.tapes:
            limit, free = self.settings.keep_output, self.settings.keep_free
            self.tapes[stream] = Tape(self.folder, stream, limit, free, self._place)
        self.tapes[stream].take(data)

    @property
    def error(self) -> Exception | None:
        """The reason why the recording is incomplete, or None."""
        return next((tape.error for tape in self.tapes.values() if tape.error), None)

    def close(self) -> list[Recording]:
        closed = [tape.close() for tape in self.tapes.values()]
        if self._place is not None:
            os.close(self._place)
            self._place = None
        return closed


def run(
    store: Store, asked: RunSpec, by: Origin, variables: Mapping[str, str], restarter: Restarter | None = None
) -> RunResult:
    """Run a command with a separate capsule. The command's environment contains its run id."""
    opened, earlier = open_run.begin(store, asked, by, variables), list[RunResult]()
    with held() as signals:
        while True:
            ran, again = _one(store, opened, asked, variables, restarter)
            if again is None or signals:
                return msgspec.structs.replace(ran, earlier=tuple(earlier))
            earlier.append(ran)
            asked = RunSpec(
                again.command,
                asked.cwd,
                asked.task,
                asked.tool,
                layer=asked.layer,
                systemic_scale=asked.systemic_scale,
                impact=asked.impact,
                parent_run_id=ran.run_id,
                inputs=asked.inputs,
            )
            opened = open_run.begin(store, asked, by, variables)
            if signals:
                ending = Ending(
                    128 + signals[0], "Stopped before the command started", timestamp(store.clock())
                )
                ran = _sealed(store, opened, ending, [], ran.code)
                return msgspec.structs.replace(ran, earlier=tuple(earlier))


def _one(
    store: Store, opened: OpenRun, asked: RunSpec, variables: Mapping[str, str], restarter: Restarter | None
) -> tuple[RunResult, Again | None]:
    """Run one command. Return its result and the command that replaces it, if any."""
    given = {**variables, events.RUN_ID: opened.run_id}
    if asked.task is not None:
        given[events.TASK] = asked.task
    work = open_run.work(store.layout, opened.run_id)
    recorder = Recorder(work, store.settings().runs)
    watch = None
    if restarter:
        watch = Watch(
            work,
            lambda request: _decide(store, opened, asked, request, restarter),
            lambda: _now(store, opened).session is not None,
        )
    try:
        ending = relay.run(asked.command, env=given, cwd=Path(asked.cwd), sink=recorder.take, watch=watch)
    except AgentplaneError as error:
        recorder.close()
        words = f"The command could not be started: {error.what}"
        failed = Ending(error.exit_code, words, timestamp(store.clock()))
        _sealed(store, opened, failed, [], error.exit_code)
        raise
    again = watch.again if watch and not (ending.hung_up or ending.left_running) else None
    if watch and again:
        _say(watch.left_on.undone(), again.words)
    recorded = recorder.close()
    full = {one.name: (one.size, one.sha256) for one in recorded}
    words = _words(ending, recorder.error or ending.sink_error, again)
    ended = Ending(ending.code, words, timestamp(store.clock()), full, restarted=again is not None)
    return _sealed(store, opened, ended, recorded, ending.code), again


def _decide(
    store: Store, opened: OpenRun, asked: RunSpec, request: Request, restarter: Restarter
) -> Decision:
    if hook_notes.at_work(str(store.layout.root), opened.run_id):
        return Waits("the tool is working on a request")
    return restarter(_now(store, opened), asked, request)


def _now(store: Store, opened: OpenRun) -> OpenRun:
    """Return the open run with the latest reports of hooks about the session."""
    return open_run.load(store.layout, opened.run_id) or opened


def _say(undone: bytes, words: str) -> None:
    """Undo the last command's terminal modes, and print a line about the next step."""
    with suppress(OSError):
        os.write(1, undone)
        os.write(2, f"agentplane: {words}\n".encode())


def _sealed(store: Store, opened: OpenRun, ending: Ending, recorded: list[Recording], code: int) -> RunResult:
    """Seal the run. `code` is the exit code for agentplane.

    The ending is recorded first, so that the next attempt knows it.
    """
    ran = RunResult(opened.run_id, code, ending.words)
    with suppress(AgentplaneError):  # a full disk or a missing plane is reported by sealing
        open_run.make_folders(store.layout, opened.run_id)
        open_run.keep(store.layout, msgspec.structs.replace(opened, ending=ending))
    try:
        event = seal.seal(store, opened, ending, recorded)
    except AgentplaneError as error:
        return msgspec.structs.replace(ran, unsealed=error)
    except OSError as error:
        damaged = Damaged(_reason(error).lower(), where=store.layout.shown(f"runs/{opened.run_id}"))
        return msgspec.structs.replace(ran, unsealed=damaged)
    return msgspec.structs.replace(ran, event=event)


def _words(ending: relay.Exit, lost: Exception | None, again: Again | None = None) -> str:
    cause = f"Restarted with memory revision {again.revision}. " if again else _cause(ending)
    if ending.left_running:
        return f"{cause}The command is still running, but it is no longer being recorded"
    how = f"Ended by signal {ending.signal}" if ending.signal else f"Ended with exit code {ending.code}"
    missing = f". Some of the output could not be recorded: {_reason(lost)}" if lost else ""
    return cause + how + missing


def _cause(ending: relay.Exit) -> str:
    return "The terminal was closed, or another process told the command to end. " if ending.hung_up else ""


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
