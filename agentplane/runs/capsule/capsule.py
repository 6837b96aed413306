"""The files of a capsule, and functions that read them.

`runs/<run-id>/` contains `summary.md`, `meta.json` (the run's line of the log, byte for byte),
`context.json`, `inputs/` and `outputs/`. The event states size and hash of each file except `meta.json`,
which is the event. Any change to a sealed capsule is therefore detectable.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from agentplane.errors import Damaged
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.ledger.run_lookup import is_run_id
from agentplane.runs import events
from agentplane.runs.events import CapsuleFile, RunEvent
from agentplane.text import files


SUMMARY = "summary.md"
META = "meta.json"
CONTEXT = "context.json"
INPUTS = "inputs"
OUTPUTS = "outputs"
RAW_INPUTS, RAW_OUTPUTS = f"{INPUTS}/files", f"{OUTPUTS}/files"
"""Folders with copies of whole files. `file_copies` makes them. Git tracks them only if `share` names
them.
"""
OPEN = "open.json"
NOTES = "notes.jsonl"
WORK = "work"
"""Folder with the marker, the notes and the recordings of an open run. It exists until the run is sealed."""

_LARGEST = 1 << 28
_BLOCK = 1 << 20


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
            "this folder's name isn't a valid run ID",
            where=f"runs/{run_id[:60]}",
            todo="Run `agentplane doctor`.",
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
        raise Damaged(
            "this path of a run record contains `..`, which isn't allowed",
            where=relative,
            todo="Run `agentplane doctor`.",
            sees_doctor=True,
        )
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


def content(layout: Layout, run: RunEvent, name: str) -> bytes | None:
    """Return the unpacked content of a capsule file, or None if the file doesn't exist on this machine."""
    kept = run.file(name)
    data = files.read_if(file(layout, run.run_id, kept.path)) if kept else None
    return None if kept is None or data is None else unpacked(kept, data)


def unpacked(kept: CapsuleFile, data: bytes) -> bytes:
    if not kept.path.endswith(events.PACKED):
        return data
    with unpacking(kept, data) as stream:
        return stream.read(_LARGEST)


@contextmanager
def unpacking(kept: CapsuleFile, packed: bytes | BinaryIO) -> Iterator[BinaryIO]:
    """Yield a stream of the decompressed bytes of a packed file. It doesn't close the stream that it reads."""
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, closefd=False) as stream:
            yield stream
    except zstandard.ZstdError:
        raise Damaged(
            "this file can't be decompressed",
            where=kept.path,
            todo="Run `agentplane doctor`.",
            sees_doctor=True,
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
