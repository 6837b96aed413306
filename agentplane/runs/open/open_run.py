"""Open runs: what is known of a run before it is sealed.

An open run has its capsule's folder already. In `work/` there lie `open.json`, which says who runs it and how it
ended, what was noted meanwhile, and what is being recorded; sealing removes it. The command that runs can write there
as well, so nothing of it is believed that does not fit.
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
from agentplane.runs import events
from agentplane.runs.capsule import capsule, file_copies, gitignore
from agentplane.runs.capsule.file_copies import Copy
from agentplane.runs.open import git_state, hook_marker
from agentplane.runs.open.git_state import Git
from agentplane.scan.secrets.mask import masked_value, masked_words
from agentplane.system import processes
from agentplane.text import files
from agentplane.text.json import decode
from agentplane.text.visible import one_line


_MOST_NOTES = 4 << 20
_LARGEST = 16 << 20
"""Of a marker: a command line and a prompt may be long."""
_OLD = 60.0
"""Seconds after which a folder without its marker is left over from a process that was killed."""
_NEAR = 2.0
"""Seconds by which two readings of one process's start may differ."""


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What whoever starts a run says of it."""

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
    """The plan of the run, by path and hash, as the event lists it among the inputs."""
    parent_run_id: str | None = None
    receipts: list[Any] = []
    inputs: list[str] = []
    """Files that are kept with the run, as whoever starts it names them."""


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a run ended: its exit code, None where nobody saw it, and words for it."""

    code: int | None
    words: str
    at: str | None = None
    """When; None where nobody saw it."""
    full: dict[str, tuple[int, str | None]] = {}
    """Size and hash of each output in full."""


class Given(msgspec.Struct, frozen=True):
    """What memory a session was given last; the receipt of it is in what was noted."""

    revision: str
    at: str
    sha256: str
    """Of the pack's text."""


class ToolSession(msgspec.Struct, frozen=True, omit_defaults=True):
    """The session of a coding tool whose hooks opened the run. With this the session can be named and resumed."""

    id: str = ""
    """The tool's own id of it; empty where the tool says none."""
    transcript: str = ""
    """Where the tool writes down what was said."""
    source: str = ""
    """How it began: `startup`, `resume`, `clear` and what else the tool says."""
    given: Given | None = None
    pid: int = 0
    """The tool's own process, where another one runs it."""


class OpenRun(msgspec.Struct, frozen=True, omit_defaults=True):
    run_id: str
    started: str
    pid: int
    born: float
    """When the process started that runs it: another process may have its number by now."""
    asked: Asked
    actor: str
    revision: str
    environment: dict[str, str]
    before: Git = Git()
    ending: Ending | None = None
    """Where the run ended and could not be sealed at once."""
    inputs: list[Copy] = []
    """The copies of `asked.inputs` that were made before the command began."""
    session: ToolSession | None = None
    """Where a tool's hooks spoke of it; `asked.cwd` is where the tool works."""


_codec = decode.Json(OpenRun)


def tool_of(command: Sequence[str]) -> str | None:
    """The coding tool that a command starts."""
    tool = BY_PROGRAM.get(Path(command[0]).name) if command else None
    return tool.name if tool else None


def tool_named(name: str) -> str:
    """The name that a tool has here, for one that a person calls by its command."""
    tool = BY_PROGRAM.get(name)
    return tool.name if tool else name


def begin(
    store: Store, asked: Asked, by: Origin, variables: Mapping[str, str], pid: int | None = None
) -> OpenRun:
    """Opens a run: makes its folder and writes down what it starts from."""
    given = file_copies.check_inputs(asked.inputs, store.layout, Path(asked.cwd))
    run_id = events.new_run_id(store)
    layout, now, owner = store.layout, store.clock(), pid or os.getpid()
    settings = store.settings().runs
    opened = OpenRun(
        run_id=run_id,
        started=timestamp(now),
        pid=owner,
        born=processes.born(owner),
        asked=_masked(asked),
        actor=by.actor,
        revision=store.snapshot().ledger.revision(),
        environment=git_state.environment(variables, settings.environment),
    )
    make_folders(layout, run_id)
    # The marker comes first, so that whatever is left has an owner.
    keep(layout, opened)
    gitignore.keep(layout, settings)
    seen = _looked(layout, run_id, settings)
    taken = file_copies.take_inputs(given, layout, work(layout, run_id), settings)
    opened = msgspec.structs.replace(opened, before=seen, inputs=taken)
    keep(layout, opened)
    return opened


def _looked(layout: Layout, run_id: str, settings: Runs) -> Git:
    folder = work(layout, run_id)
    seen = git_state.look(layout.project, folder, layout.root.name, settings.keep_free)
    file_copies.note_untracked(layout.project, folder, seen.dirty)
    return seen


def complete(store: Store, run_id: str, variables: Mapping[str, str]) -> None:
    """Adds to a run that a hook opened what takes longer to look up: git, the environment."""
    layout, settings = store.layout, store.settings().runs
    gitignore.keep(layout, settings)
    seen = _looked(layout, run_id, settings)
    with claimed(layout, run_id) as ours:
        opened = load(layout, run_id)
        if not ours or opened is None:
            return
        kept = git_state.environment(variables, settings.environment)
        revision = opened.revision or store.snapshot().ledger.revision()
        asked = _masked(opened.asked)
        keep(
            layout,
            msgspec.structs.replace(opened, before=seen, environment=kept, revision=revision, asked=asked),
        )


def make_folders(layout: Layout, run_id: str) -> None:
    """The folders of an open run, also where a program deleted them meanwhile."""
    files.make_folder(layout.runs)
    files.make_folder(capsule.folder(layout, run_id))
    files.make_folder(work(layout, run_id))


def keep(layout: Layout, run: OpenRun) -> None:
    """Writes down what is known of an open run."""
    folder = work(layout, run.run_id)
    try:
        data = hook_marker.marked(str(folder), run.run_id, msgspec.json.encode(run))
    except FileNotFoundError as error:
        raise Damaged("the folder of this run is gone", where=layout.shown(f"runs/{run.run_id}")) from error
    files.write_atomic(folder / capsule.OPEN, data)


def _masked(asked: Asked) -> Asked:
    told = masked_value(msgspec.to_builtins(asked)) | {"command": masked_words(asked.command), "inputs": []}
    return msgspec.convert(told, Asked)


def load(layout: Layout, run_id: str) -> OpenRun | None:
    """An open run of this user on this machine; None where it is none, or is sealed."""
    try:
        data = _believed(layout, run_id)
        found = _codec.decode(data) if data else None
    except (msgspec.MsgspecError, RecursionError):
        return None
    return found if found and found.run_id == run_id and _is_time(found.started) else None


def is_foreign(layout: Layout, run_id: str) -> bool:
    """True if a folder of an open run has a marker that this user did not write on this machine."""
    return _has_marker(layout, run_id) and _believed(layout, run_id) is None


def is_ours_to_clear(layout: Layout, run: capsule.Run) -> bool:
    """True if what a sealed run left in its `work/` was put there on this machine."""
    return run.made_at == capsule.place_of(layout) and not is_foreign(layout, run.run_id)


def _believed(layout: Layout, run_id: str) -> bytes | None:
    """The content of a marker of ours."""
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
    """The open runs, oldest first; also those whose process is gone. What is no run is doctor's to name."""
    return [found for name in _folders(layout) if _has_marker(layout, name) and (found := load(layout, name))]


def _has_marker(layout: Layout, name: str) -> bool:
    """Nearly no capsule has one, and there may be very many capsules."""
    return os.path.lexists(f"{layout.runs}/{name}/{capsule.WORK}/{capsule.OPEN}")


def left_over(layout: Layout) -> list[str]:
    """Folders of runs that never began: their process was killed before it had written down anything."""
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
    """Whether an open run is ours to seal: of two processes that try at once only one gets it.

    The claim is the kernel's, and falls with its process.
    """
    folder = work(layout, run_id)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:  # a file system that cannot
            pass
        yield True
    finally:
        os.close(fd)


def is_alive(run: OpenRun) -> bool:
    """Whether the process that runs it is still there."""
    born = processes.born(run.pid)
    return born > 0 and abs(born - run.born) < _NEAR


def note(layout: Layout, run_id: str, said: Mapping[str, Any]) -> None:
    """Adds to an open run what a program says of it: the fields of an event. Takes no lock."""
    if load(layout, run_id) is None:
        raise BadInput(f"no run {run_id[:40]} is open", todo="`agentplane timeline` lists the runs.")
    path = work(layout, run_id) / capsule.NOTES
    read = events.read(said)
    if isinstance(read.outputs, dict) and read.outputs.keys() - {"summary"}:
        named = ", ".join(sorted(one_line(key, 40) for key in read.outputs.keys() - {"summary"})[:5])
        raise BadInput(
            f"outputs: an open run lists the files it produced and can't keep {named}",
            where="event",
            todo="Give files as a list, or log a run of its own.",
        )
    events.outputs_of(
        layout, read.files
    )  # Refuses files that can't be read. The hash is computed when the run ends.
    told = masked_value(_said(read))
    if not (path.exists() and path.stat().st_size > _MOST_NOTES):
        files.append(path, msgspec.json.encode(told) + b"\n")


def notes(layout: Layout, run_id: str) -> list[events.Event]:
    """What programs said of a run; what does not fit is passed over."""
    try:
        data = files.read_if(work(layout, run_id) / capsule.NOTES) or b""
    except AgentplaneError:
        return []
    return [event for line in data.split(b"\n") if (event := _note(line))]


def _note(line: bytes) -> events.Event | None:
    try:
        return events.read(decode.Json(dict[str, Any]).decode(line))
    except (AgentplaneError, msgspec.MsgspecError):
        return None


def _said(event: events.Event) -> dict[str, Any]:
    """The fields that a program gave, without those it left out."""
    return {key: value for key, value in msgspec.to_builtins(event).items() if value not in (None, [])}


def work(layout: Layout, run_id: str) -> Path:
    """Where an open run keeps what it needs until it is sealed."""
    path = capsule.folder(layout, run_id) / capsule.WORK
    if os.path.lexists(path):
        files.plain_folder(path, layout.root)
    return path
