"""Open runs, with everything that is known about a run before it is sealed.

An open run already has its capsule's folder. In `work/`, `open.json` names the process and the ending. Notes
and recordings are next to it. Sealing removes `work/`. The running command can write there too, so invalid
content is ignored.
"""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from agentplane.agents.catalog import BY_PROGRAM
from agentplane.errors import AgentplaneError, BadInput, Damaged
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.settings import Runs
from agentplane.plane.store.store import Store, timestamp
from agentplane.runs import events, reports
from agentplane.runs.capsule import capsule, file_copies, gitignore
from agentplane.runs.capsule.file_copies import Copy
from agentplane.runs.events import RunEvent
from agentplane.runs.open import git_state, hook_marker
from agentplane.runs.open.git_state import Git
from agentplane.scan.secrets.mask import masked_value, masked_words
from agentplane.system import processes
from agentplane.text import files
from agentplane.text.json import decode
from agentplane.text.visible import one_line


_MOST_NOTES = 4 << 20
_LARGEST = 16 << 20
"""Size limit for a marker. A command line and a prompt may be long."""
_OLD = 60.0
"""Seconds after which a folder without a marker counts as left by a killed process."""
_NEAR = 2.0
"""Maximum difference in seconds between two readings of one process's start time."""


class RunSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """The caller's description of a run."""

    command: list[str] = []
    cwd: str = ""
    task: str | None = None
    tool: str | None = None
    prompt: str | None = None
    plan: str | None = None
    layer: str | None = None
    systemic_scale: float | None = None
    impact: str | None = None
    title: str | None = None
    """A short name for the run. A session gets it from its first prompt."""
    followed: list[Any] = []
    """The plan of the run, by path and hash, in the form of an event's inputs."""
    parent_run_id: str | None = None
    receipts: list[Any] = []
    inputs: list[str] = []
    """Files that are kept with the run, as named by the caller."""


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """The end of a run, with its exit code (None if unknown) and a description."""

    code: int | None
    words: str
    at: str | None = None
    """Time of the end, or None if unknown."""
    full: dict[str, tuple[int, str | None]] = {}
    """Size and hash of each complete output."""
    restarted: bool = False
    """True if it was ended so that another command could replace it."""


class GivenMemory(msgspec.Struct, frozen=True):
    """The last memory that a session received. The notes contain its receipt."""

    revision: str
    at: str
    sha256: str
    """Hash of the context pack's text."""


class ToolSession(msgspec.Struct, frozen=True, omit_defaults=True):
    """The session of a coding tool whose hooks opened the run, with the data to name it and resume it."""

    id: str = ""
    """The tool's own id of the session, or empty if the tool states none."""
    transcript: str = ""
    """Path of the tool's session file."""
    source: str = ""
    """Reason of the start, for example `startup`, `resume` or `clear`."""
    given: GivenMemory | None = None
    pid: int = 0
    """The tool's own process, if another process runs the tool."""


class OpenRun(msgspec.Struct, frozen=True, omit_defaults=True):
    run_id: str
    started: str
    pid: int
    born: float
    """Start time of the process that runs it. Another process may have its number now."""
    asked: RunSpec
    actor: str
    revision: str
    environment: dict[str, str]
    before: Git = Git()
    ending: Ending | None = None
    """The ending of a run that could not be sealed immediately."""
    inputs: list[Copy] = []
    """The copies of `asked.inputs` that were made before the command began."""
    session: ToolSession | None = None
    """The session, if a tool's hooks reported it. `asked.cwd` is the tool's working directory."""


_codec = decode.Json(OpenRun)


def tool_of(command: Sequence[str]) -> str | None:
    """Return the coding tool that a command starts, or None."""
    tool = BY_PROGRAM.get(Path(command[0]).name) if command else None
    return tool.name if tool else None


def tool_named(name: str) -> str:
    """Return agentplane's name of a tool, for a tool that a person names by its command."""
    tool = BY_PROGRAM.get(name)
    return tool.name if tool else name


def begin(
    store: Store, asked: RunSpec, by: Origin, variables: Mapping[str, str], pid: int | None = None
) -> OpenRun:
    """Open a run. Create its folder and record its starting state."""
    given = file_copies.check_inputs(asked.inputs, store.layout, Path(asked.cwd))
    run_id = events.new_run_id(store)
    layout, now, owner = store.layout, store.clock(), pid or os.getpid()
    settings = store.settings().runs
    opened = OpenRun(
        run_id=run_id,
        started=timestamp(now),
        pid=owner,
        born=processes.started_at(owner),
        asked=_masked(asked),
        actor=by.actor,
        revision=store.snapshot().ledger.revision(),
        environment=git_state.environment(variables, settings.environment),
    )
    make_folders(layout, run_id)
    # The marker comes first, so that all later files have an owner.
    keep(layout, opened)
    gitignore.keep(layout, settings)
    before = _git_before(layout, run_id, settings)
    taken = file_copies.take_inputs(given, layout, work(layout, run_id), settings)
    opened = msgspec.structs.replace(opened, before=before, inputs=taken)
    keep(layout, opened)
    return opened


def _git_before(layout: Layout, run_id: str, settings: Runs) -> Git:
    folder = work(layout, run_id)
    before = git_state.look(layout.project, folder, layout.root.name, settings.keep_free)
    file_copies.note_untracked(layout.project, folder, before.dirty)
    return before


def complete(store: Store, run_id: str, variables: Mapping[str, str]) -> None:
    """Add the data that takes longer to collect (Git, environment) to a run that a hook opened."""
    layout, settings = store.layout, store.settings().runs
    gitignore.keep(layout, settings)
    before = _git_before(layout, run_id, settings)
    with claimed(layout, run_id) as ours:
        opened = load(layout, run_id)
        if not ours or opened is None:
            return
        kept = git_state.environment(variables, settings.environment)
        revision = opened.revision or store.snapshot().ledger.revision()
        asked = _masked(opened.asked)
        keep(
            layout,
            msgspec.structs.replace(opened, before=before, environment=kept, revision=revision, asked=asked),
        )


def make_folders(layout: Layout, run_id: str) -> None:
    """Create the folders of an open run, even if a program deleted them in the meantime."""
    files.make_folder(layout.runs)
    files.make_folder(capsule.folder(layout, run_id))
    files.make_folder(work(layout, run_id))


def keep(layout: Layout, run: OpenRun) -> None:
    """Write the marker of an open run."""
    folder = work(layout, run.run_id)
    try:
        data = hook_marker.marked(str(folder), run.run_id, msgspec.json.encode(run))
    except FileNotFoundError as error:
        raise Damaged(
            "The folder for this open run is missing.", where=layout.shown(f"runs/{run.run_id}")
        ) from error
    files.write_atomic(folder / capsule.OPEN, data)


def _masked(asked: RunSpec) -> RunSpec:
    masked = masked_value(msgspec.to_builtins(asked)) | {"command": masked_words(asked.command), "inputs": []}
    return msgspec.convert(masked, RunSpec)


def load(layout: Layout, run_id: str) -> OpenRun | None:
    """Return an open run of this user on this machine, or None if no such run is open."""
    try:
        data = _believed(layout, run_id)
        found = _codec.decode(data) if data else None
    except (msgspec.MsgspecError, RecursionError):
        return None
    return found if found and found.run_id == run_id and _is_time(found.started) else None


def is_foreign(layout: Layout, run_id: str) -> bool:
    """True if a folder of an open run has a marker that this user did not write on this machine."""
    return _has_marker(layout, run_id) and _believed(layout, run_id) is None


def is_ours_to_clear(layout: Layout, run: RunEvent) -> bool:
    """True if this machine created the files in the `work/` folder of a sealed run."""
    return run.made_at == capsule.place_of(layout) and not is_foreign(layout, run.run_id)


def _believed(layout: Layout, run_id: str) -> bytes | None:
    """Return the content of a marker that this user wrote on this machine, else None."""
    if not events.is_run_id(run_id):
        return None
    try:
        folder = work(layout, run_id)
        path = folder / capsule.OPEN
        if not folder.is_dir() or not os.path.lexists(path) or os.lstat(path).st_size > _LARGEST:
            return None
        return hook_marker.believed(str(folder), run_id, files.read(path))
    except (AgentplaneError, OSError):
        return None


def every(layout: Layout) -> list[OpenRun]:
    """Return the open runs, oldest first, including runs whose process is gone. `doctor` reports invalid
    folders.
    """
    return [found for name in _folders(layout) if _has_marker(layout, name) and (found := load(layout, name))]


def _has_marker(layout: Layout, name: str) -> bool:
    """True if the folder has a marker. This is a quick check, because there may be very many capsules."""
    return os.path.lexists(f"{layout.runs}/{name}/{capsule.WORK}/{capsule.OPEN}")


def left_over(layout: Layout) -> list[str]:
    """Return folders of runs that never began, because their process was killed before it wrote any file."""
    return [name for name in _folders(layout) if _never_began(layout.runs / name)]


def _folders(layout: Layout) -> list[str]:
    try:
        files.plain_folder(layout.runs, layout.root)
        return sorted(name for name in os.listdir(layout.runs) if events.is_run_id(name))
    except (AgentplaneError, OSError):
        return []


def _never_began(folder: Path) -> bool:
    try:
        inside = set(os.listdir(folder)) if not folder.is_symlink() else {""}
        below = os.listdir(folder / capsule.WORK) if inside == {capsule.WORK} else []
        old = time.time() - os.stat(folder).st_mtime > _OLD
    except OSError:
        return False
    return old and inside <= {capsule.WORK} and all(map(files.is_temp, below))


def _is_time(text: str) -> bool:
    with suppress(ValueError):
        return datetime.fromisoformat(text).tzinfo is not None
    return False


@contextmanager
def claimed(layout: Layout, run_id: str) -> Iterator[bool]:
    """Claim an open run for sealing. Yield True if this process got the claim, which only one process can
    have.

    The kernel holds the claim and releases it when the process ends.
    """
    try:
        fd = os.open(work(layout, run_id), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:  # another process sealed the run in the meantime
        yield False
        return
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:  # a file system without locks
            pass
        yield True
    finally:
        os.close(fd)


def is_alive(run: OpenRun) -> bool:
    """True if the process of the run still exists."""
    started_at = processes.started_at(run.pid)
    return started_at > 0 and abs(started_at - run.born) < _NEAR


def note(layout: Layout, run_id: str, fields: Mapping[str, Any]) -> None:
    """Add event fields from a program to an open run. Takes no lock."""
    if load(layout, run_id) is None:
        raise BadInput(f"Open run not found: {run_id[:40]}.", todo="Run `agentplane timeline` to list runs.")
    path = work(layout, run_id) / capsule.NOTES
    read = reports.read(fields)
    if isinstance(read.outputs, dict) and read.outputs.keys() - {"summary"}:
        named = ", ".join(sorted(one_line(key, 40) for key in read.outputs.keys() - {"summary"})[:5])
        raise BadInput(
            f"Invalid keys in `outputs` of an open run: {named}",
            where="event",
            todo="Pass the output files as a list, or log them as a separate run.",
        )
    reports.outputs_of(
        layout, read.files
    )  # Refuses files that can't be read. The hash is computed when the run ends.
    masked = masked_value(_given_fields(read))
    if not (path.exists() and path.stat().st_size > _MOST_NOTES):
        files.append(path, msgspec.json.encode(masked) + b"\n")


def notes(layout: Layout, run_id: str) -> list[reports.RunReport]:
    """Return the notes of programs about a run. Invalid notes are skipped."""
    try:
        data = files.read_if(work(layout, run_id) / capsule.NOTES) or b""
    except AgentplaneError:
        return []
    return [event for line in data.split(b"\n") if (event := _note(line))]


def _note(line: bytes) -> reports.RunReport | None:
    try:
        return reports.read(decode.Json(dict[str, Any]).decode(line))
    except (AgentplaneError, msgspec.MsgspecError):
        return None


def _given_fields(event: reports.RunReport) -> dict[str, Any]:
    """Return the fields that a program gave, without missing ones."""
    return {key: value for key, value in msgspec.to_builtins(event).items() if value not in (None, [])}


def work(layout: Layout, run_id: str) -> Path:
    """Return the folder that an open run uses until it is sealed."""
    path = capsule.folder(layout, run_id) / capsule.WORK
    try:
        if os.path.lexists(path):
            files.plain_folder(path, layout.root)
    except Damaged:
        if os.path.lexists(path):
            raise
        # Another process sealed the run and removed the folder in the meantime.
    return path
