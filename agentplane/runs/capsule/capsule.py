"""The files of a capsule, and functions that read them.

`runs/<run-id>/` contains `summary.md`, `meta.json` (the run's line of the log, byte for byte),
`context.json`, `inputs/` and `outputs/`. The event states size and hash of each file except `meta.json`,
which is the event. Any change to a sealed capsule is therefore detectable.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from agentplane.errors import BadInput, Damaged
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.ledger.run_lookup import is_run_id
from agentplane.runs import activity as activities
from agentplane.runs.activity import Activity
from agentplane.scan.secrets.mask import Masked
from agentplane.text import files
from agentplane.text.json import decode
from agentplane.text.log import chain


SUMMARY = "summary.md"
META = "meta.json"
CONTEXT = "context.json"
INPUTS = "inputs"
OUTPUTS = "outputs"
RAW_INPUTS, RAW_OUTPUTS = f"{INPUTS}/files", f"{OUTPUTS}/files"
"""Folders with copies of whole files. `file_copies` makes them. Git tracks them only if `share` names
them.
"""
PACKED = ".zst"
OPEN = "open.json"
NOTES = "notes.jsonl"
WORK = "work"
"""Folder with the marker, the notes and the recordings of an open run. It exists until the run is sealed."""

_LARGEST = 1 << 28
_BLOCK = 1 << 20


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of a capsule, as the event describes it."""

    path: str
    sha256: str
    size: int
    full_size: int | None = None
    """Size of the original content, if it was longer or contained secrets."""
    full_sha256: str | None = None
    left_out: int = 0
    """Number of bytes that were cut out of the middle."""
    masked: tuple[Masked, ...] = ()
    """Secrets that were removed. Only the first ones are listed."""
    masked_more: int = 0

    @property
    def name(self) -> str:
        """The file name before packing."""
        return self.path.removesuffix(PACKED)


class Run(msgspec.Struct, frozen=True):
    """A run, as its event describes it."""

    run_id: str
    ts: str = ""
    parent_run_id: str | None = None
    task: str | None = None
    title: str | None = None
    activity: Activity | None = None
    layer: str | None = None
    systemic_scale: float | None = None
    impact: str | None = None
    branch: str | None = None
    commit: str | None = None
    tool: str | None = None
    command: list[str] = []
    started: str | None = None
    seconds: float | None = None
    exit_status: int | None = None
    summary: str | None = None
    revision: str | None = None
    inputs: object = None
    told_outputs: list[dict[str, object]] | dict[str, object] = msgspec.field(
        name="outputs", default_factory=list
    )
    """Files that the run produced, or an object from the program that logged it."""
    derived_facts: list[object] = []
    next_actions: list[object] = []
    receipts: list[object] = []
    capsule: list[Kept] = []
    made_at: str | None = None

    @property
    def outputs(self) -> list[dict[str, object]]:
        """The files that the run produced. If the program logged an object instead, there are none."""
        return self.told_outputs if isinstance(self.told_outputs, list) else []

    def file(self, name: str) -> Kept | None:
        return next((kept for kept in self.capsule if kept.name == name), None)

    @property
    def own_activity(self) -> Activity | None:
        """The action of agentplane itself, or None for the run of a tool or a command."""
        return activities.of(self.activity, self.summary, self.command)


_run = decode.Json(Run)


def place_of(layout: Layout) -> str:
    """Return an id of this plane on this machine.

    It distinguishes files that were never shared from files that are missing.
    """
    text = f"{cache.machine()}\n{os.getuid()}\n{layout.root}"
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:12]


def folder(layout: Layout, run_id: str) -> Path:
    """Return a capsule's folder, after checking its name and refusing symbolic links on the path."""
    if not is_run_id(run_id):
        raise Damaged(
            "is no name of a run",
            where=f"runs/{run_id[:60]}",
            todo="run `agentplane doctor`.",
            sees_doctor=True,
        )
    path = layout.runs / run_id
    if os.path.lexists(layout.runs):
        files.plain_folder(layout.runs, layout.root)
    if os.path.lexists(path):
        files.plain_folder(path, layout.root)
    return path


def file(layout: Layout, run_id: str, relative: str) -> Path:
    """Return the path of a file in a capsule, after checking that it is inside the capsule."""
    path = folder(layout, run_id) / relative
    if os.path.lexists(path.parent):
        files.plain_folder(path.parent, layout.root)
    elif ".." in path.parts:
        raise Damaged("holds `..`", where=relative, todo="run `agentplane doctor`.", sees_doctor=True)
    return path


def inside(folder: Path) -> Iterator[str]:
    """Yield the relative paths of the files in a capsule's folder. Links are listed and not followed."""
    for top, folders, found in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(top, name))]
        for name in sorted([*found, *links]):
            yield os.path.relpath(os.path.join(top, name), folder)


def unfinished(folder: Path) -> list[str]:
    """Return the temporary files that killed writers left in a capsule."""
    return [name for name in inside(folder) if files.is_temp(os.path.basename(name))]


def line_of(layout: Layout, run_id: str) -> bytes | None:
    """Return the run's line of the log, or None. The search starts at the end, because recent runs are
    requested most.
    """
    mark = f'"run_id":"{run_id}"'.encode()
    for line in chain.lines_backwards(layout.log):
        if mark in line and id_of(line) == run_id:
            return line
    return None


def load(layout: Layout, run_id: str) -> Run:
    line = line_of(layout, run_id)
    if line is None:
        raise BadInput(f"no run {run_id[:40]} in the log", todo="`agentplane timeline` lists the runs.")
    return read_event(line)


def read_event(line: bytes) -> Run:
    """Decode a run event. Raise msgspec's errors for any other line."""
    return _run.decode(line)


def read_events(lines: Iterable[bytes]) -> Iterator[Run]:
    """Yield the runs among lines of a log. Lines without a run event are skipped."""
    for line in lines:
        if b'"kind":"run"' in line:
            try:
                yield read_event(line)
            except msgspec.MsgspecError:
                continue


def every(layout: Layout) -> Iterator[tuple[int, bytes, Run]]:
    """Yield the runs of the log in log order, with line number and line. Lines without a run event are
    skipped.
    """
    for number, (_, line) in enumerate(chain.lines(layout.log), 1):
        if b'"kind":"run"' in line:
            try:
                yield number, line, read_event(line)
            except msgspec.MsgspecError:
                continue


def content(layout: Layout, run: Run, name: str) -> bytes | None:
    """Return the unpacked content of a capsule file, or None if the file doesn't exist on this machine."""
    kept = run.file(name)
    data = files.read_if(file(layout, run.run_id, kept.path)) if kept else None
    return None if kept is None or data is None else unpacked(kept, data)


def unpacked(kept: Kept, data: bytes) -> bytes:
    if not kept.path.endswith(PACKED):
        return data
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as stream:
            return stream.read(_LARGEST)
    except zstandard.ZstdError:
        raise Damaged(
            "cannot be unpacked", where=kept.path, todo="run `agentplane doctor`.", sees_doctor=True
        ) from None


def sha256_of(path: Path) -> tuple[str, int]:
    """Return hash and size of a regular file. Links are never followed."""
    digest, size = hashlib.sha256(), 0
    with files.reading(path) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def produced(path: Path) -> tuple[str, int]:
    """Return hash and size of a project file. For a link, hash the link text, as Git does."""
    if not path.is_symlink():
        return sha256_of(path)
    text = os.fsencode(os.readlink(path))
    return hashlib.sha256(text).hexdigest(), len(text)


def id_of(line: bytes) -> str | None:
    """Return the run id of a run event, or None for any other line."""
    try:
        return read_event(line).run_id if b'"kind":"run"' in line else None
    except msgspec.MsgspecError:
        return None
