"""The facts about one run, such as its context, commands, outputs and candidates.

Threads call it, because it reads files.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.memory.view import Memory
from agentplane.plane.layout import Layout
from agentplane.runs import events
from agentplane.runs.capsule import capsule, commands, preview
from agentplane.runs.capsule.preview import Piece
from agentplane.runs.events import CapsuleFile, RunEvent
from agentplane.runs.open import open_run
from agentplane.runs.open.git_state import Git
from agentplane.runs.open.open_run import OpenRun
from agentplane.runs.query import artifacts, candidate_outcomes
from agentplane.runs.query.artifacts import Artifact
from agentplane.runs.query.candidate_outcomes import CandidateOutcome
from agentplane.runs.query.timeline import TimelineRow
from agentplane.runs.record import output_file
from agentplane.text.json import decode


TAIL = 6_000
"""The number of bytes that are shown from the end of an output."""
_SUMMARY = 64_000
_CONTEXT = 4 << 20
_FILES = 30
_LARGEST = 64 << 20
"""A larger file that a run produced is listed without a check of its contents. In bytes."""

_KEEP_GOING: Callable[[], bool] = lambda: True  # noqa: E731


class GitStates(msgspec.Struct, frozen=True):
    before: Git = Git()
    after: Git = Git()


class Context(msgspec.Struct, frozen=True):
    """The fields of a run's context.json that are shown."""

    prompt: str | None = None
    plan: str | None = None
    cwd: str | None = None
    actor: str | None = None
    ended: str | None = None
    git: GitStates = GitStates()
    untracked: list[str] = []
    removed: list[str] = []


class Output(msgspec.Struct, frozen=True):
    name: str
    piece: Piece | None
    """The end of the output, or None if it is not on this machine or cannot be read."""
    file: CapsuleFile | None = None
    problem: str = ""


class File(msgspec.Struct, frozen=True):
    path: str
    state: str
    """`same`, `changed`, `gone`, or the reason why the file was not checked."""


class RunFacts(msgspec.Struct, frozen=True):
    run: RunEvent | None = None
    """The run in the log, or None. An open run is not in the log yet."""
    opened: OpenRun | None = None
    context: Context | None = None
    summary: str | None = None
    """The text of `summary.md`, if neither the context nor the run's event describes the work."""
    outputs: tuple[Output, ...] = ()
    candidates: tuple[CandidateOutcome, ...] = ()
    record: commands.SessionRecord = commands.SessionRecord()
    files: tuple[File, ...] = ()
    more_files: int = 0
    problem: str = ""


_context = decode.Json(Context)


def facts_of(memory: Memory, row: TimelineRow, keep_going: Callable[[], bool] = _KEEP_GOING) -> RunFacts:
    layout, run_id = memory.snapshot.layout, row.run_id or ""
    if row.kind in ("open", "lost"):
        opened = open_run.load(layout, run_id)
        if opened is not None:
            return RunFacts(
                opened=opened,
                outputs=tuple(_so_far(layout, opened)),
                candidates=tuple(candidate_outcomes.of(memory, run_id)),
                record=commands.of_open(layout, opened),
            )
    try:
        run = events.load(layout, run_id)
    except (AgentplaneError, msgspec.MsgspecError, RecursionError) as error:
        return RunFacts(
            problem=error.what if isinstance(error, AgentplaneError) else "Can't read this run from the log"
        )
    context = _context_of(layout, run)
    return RunFacts(
        run=run,
        context=context,
        summary=None if context is not None or run.summary else _summary(layout, run),
        outputs=tuple(_outputs(layout, run, keep_going)),
        candidates=tuple(candidate_outcomes.of(memory, run_id)),
        record=commands.of_sealed(layout, run),
        files=tuple(_files(layout, run)),
        more_files=max(len(run.outputs) - _FILES, 0),
    )


def _context_of(layout: Layout, run: RunEvent) -> Context | None:
    piece = _start(layout, run, capsule.CONTEXT, _CONTEXT)
    if piece is None or not piece.whole:
        return None
    try:
        return _context.decode(piece.data)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _summary(layout: Layout, run: RunEvent) -> str | None:
    """Return `summary.md` without its header, because the screen shows the header's fields elsewhere."""
    piece = _start(layout, run, capsule.SUMMARY, _SUMMARY)
    if piece is None:
        return None
    text = piece.data.decode(errors="replace")
    return text.partition("\n---\n")[2].strip() if text.startswith("---\n") else text


def _start(layout: Layout, run: RunEvent, name: str, most: int) -> Piece | None:
    try:
        return preview.start(layout, run, name, most)
    except (AgentplaneError, OSError):
        return None


def _outputs(layout: Layout, run: RunEvent, keep_going: Callable[[], bool]) -> Iterator[Output]:
    for file in run.capsule:
        name = file.name.removeprefix(f"{capsule.OUTPUTS}/")
        if name in output_file.STREAMS and file.name != name:
            try:
                yield Output(name, preview.end(layout, run, file.name, TAIL, keep_going), file)
            except (AgentplaneError, OSError) as error:
                what = error.what if isinstance(error, AgentplaneError) else "not readable"
                yield Output(name, None, file, what)


def _so_far(layout: Layout, opened: OpenRun) -> Iterator[Output]:
    """Yield the recorded outputs of an open run."""
    try:
        work = open_run.work(layout, opened.run_id)
        for name in output_file.names(work):
            data = output_file.read(work, name, TAIL).text()[0]
            yield Output(name, Piece(data[-TAIL:], before=max(len(data) - TAIL, 0)))
    except (AgentplaneError, OSError):
        return


def _files(layout: Layout, run: RunEvent) -> Iterator[File]:
    for output in run.outputs[:_FILES]:
        path, sha256 = output.get("path"), output.get("sha256")
        if not isinstance(path, str):
            continue
        if not isinstance(sha256, str):
            yield File(path, "not checked, because its original content is unknown")
        elif _size(layout, path) > _LARGEST:
            yield File(path, "not checked, because it is too large")
        else:
            verified = artifacts.verified(layout, Artifact(run.task or "", path, sha256, run.run_id))
            yield File(path, verified.state or "")


def _size(layout: Layout, path: str) -> int:
    try:
        return (layout.project / path).lstat().st_size
    except (OSError, ValueError):
        return 0


def packs(receipts: list[Any]) -> list[dict[str, Any]]:
    """Return the receipts of the context packs that the run was given."""
    return [one for one in receipts if isinstance(one, dict) and one.get("kind") == "pack"]
