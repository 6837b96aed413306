"""Copies of whole files in a capsule, both inputs that a person named and produced files that Git doesn't
track.

Only plain files are copied, never through a link. Secrets in text files are masked. Binary files with secrets
are not copied. Files beyond the limits of `keep_files` are recorded by hash and size. Copies stay on this
machine unless `share` names their folder.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError, BadInput
from agentplane.plane.layout import Layout
from agentplane.plane.settings import Runs
from agentplane.runs import events
from agentplane.runs.capsule import capsule, writer
from agentplane.runs.events import CapsuleFile
from agentplane.scan.secrets.mask import masked_text
from agentplane.text import files
from agentplane.text.json import decode
from agentplane.text.visible import one_line


INPUTS = "inputs"
"""Folder in `work/` that keeps the inputs until the run is sealed, because the command may change the
originals.
"""
BEFORE = "untracked.json"
"""The list of untracked files at the start of a run."""

MOST_INPUTS = 100
_MOST_COPIES = 200
_TOGETHER = 4
"""Limit for all copies of one kind, as a multiple of the limit for one copy."""
_LONGEST = 100
"""Limit for the name of a copy in bytes. File systems count bytes, and a letter can have four bytes."""
_BLOCK = 1 << 20

_Stat = tuple[int, int, int, int]
"""Size, modification time, change time and inode."""


class Copy(msgspec.Struct, frozen=True, omit_defaults=True):
    """An input or a produced file of a run."""

    path: str
    """Path from the top of the project, or only the name of a file elsewhere."""
    sha256: str
    size: int
    name: str = ""
    """Name of the copy in the capsule, or empty if there is none."""

    @property
    def reference(self) -> dict[str, str | int]:
        """The representation in an event."""
        return {"path": self.path, "sha256": self.sha256, "size": self.size}


def check_inputs(paths: Sequence[str], layout: Layout, cwd: Path) -> list[Path]:
    """Return the inputs that a person named. Raise BadInput if one can't be read."""
    if len(paths) > MOST_INPUTS:
        raise BadInput(
            f"Too many inputs: {len(paths)} (maximum: {MOST_INPUTS})",
            where="--input",
            todo="Combine the inputs into one file.",
        )
    found = list(dict.fromkeys(Path(os.path.abspath(cwd / path)) for path in paths))
    for path in found:
        try:
            if path.is_relative_to(layout.project):
                files.plain_folder(path.parent, layout.project)
            with files.reading(path):
                pass
        except AgentplaneError as error:
            where = f"--input {one_line(str(path), 200)}"
            raise BadInput(
                error.what,
                where=where,
                todo="Pass a regular file. Links, folders and devices can't be copied.",
            ) from None
    return found


def take_inputs(paths: Sequence[Path], layout: Layout, work: Path, settings: Runs) -> list[Copy]:
    """Copy the inputs before the command can change them."""
    if not paths:
        return []
    room, taken, found = _Room(work, settings), set[str](), []
    files.make_folder(work / INPUTS)
    for path in paths:
        inside = path.is_relative_to(layout.project)
        shown = _shown(str(path.relative_to(layout.project)) if inside else f"…/{path.name}")
        data, size, sha256 = _read(path, room)
        name = _name(path.name, taken) if data is not None else ""
        if data is not None:
            files.write_atomic(work / INPUTS / name, data, durable=False)
        found.append(Copy(shown, sha256, size, name))
    return found


def keep_inputs(layout: Layout, run_id: str, work: Path, inputs: Sequence[Copy]) -> Iterator[CapsuleFile]:
    """Put the copies into the capsule. A copy that changed in the meantime is dropped."""
    for one in inputs:
        try:
            data = files.read_if(work / INPUTS / one.name) if one.name else None
        except AgentplaneError:
            continue
        if data is not None and hashlib.sha256(data).hexdigest() == one.sha256:
            yield writer.raw(layout, run_id, f"{capsule.RAW_INPUTS}/{one.name}", data)


def note_untracked(project: Path, work: Path, dirty: Sequence[str]) -> None:
    """Record the untracked files when a run begins, so that they don't count as produced by it."""
    found = {path: was for path in _untracked(dirty) if (was := _stat_of(project / path))}
    if found:
        files.write_atomic(work / BEFORE, msgspec.json.encode(found), durable=False)


def produced(project: Path, work: Path, before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the regular files that the run made or changed and that Git neither tracks nor ignores."""
    known, old = set(_untracked(before)), _noted(work)
    found = []
    for path in _untracked(after):
        now = _stat_of(project / path)
        if now and (path not in known or old.get(path, now) != now):
            found.append(path)
    return found


def keep_produced(
    layout: Layout, run_id: str, paths: Sequence[str], settings: Runs
) -> tuple[list[Copy], list[CapsuleFile]]:
    """Copy the files that a run produced into its capsule, up to the limits."""
    room, taken = _Room(capsule.folder(layout, run_id), settings), set[str]()
    copies, kept = list[Copy](), list[CapsuleFile]()
    for path in paths:
        target = layout.project / path
        try:
            files.plain_folder(target.parent, layout.project)
            data, size, sha256 = _read(target, room)
        except (AgentplaneError, OSError):
            continue  # deleted or replaced by another kind of file
        name = _name(path.replace("/", "__"), taken) if data is not None else ""
        if data is not None:
            kept.append(writer.raw(layout, run_id, f"{capsule.RAW_OUTPUTS}/{name}", data))
        copies.append(Copy(_shown(path), sha256, size, name))
    return copies, kept


class _Room:
    """The remaining space for copies."""

    def __init__(self, folder: Path, settings: Runs) -> None:
        disk = os.statvfs(folder)
        free = disk.f_bavail * disk.f_frsize - settings.keep_free
        self.each = settings.keep_files
        self.left = min(settings.keep_files * _TOGETHER, max(free, 0))
        self.copies = _MOST_COPIES

    def takes(self, size: int) -> bool:
        if size > min(self.each, self.left) or not self.copies:
            return False
        self.left -= size
        self.copies -= 1
        return True


def _read(path: Path, room: _Room) -> tuple[bytes | None, int, str]:
    """Return the bytes if there is room for them, and the size and hash."""
    digest, size, whole = hashlib.sha256(), 0, bytearray()
    with files.reading(path) as stream:
        stated = os.fstat(stream.fileno()).st_size
        fits = stated <= room.each
        # Another process may append to the file continuously.
        most = max(stated, room.each + 1)
        while block := stream.read(min(_BLOCK, most - size)):
            digest.update(block)
            size += len(block)
            fits = fits and size <= room.each
            whole += block if fits else b""
    data = bytes(whole)
    # Masking would break a database or an archive.
    kept = fits and room.takes(size) and not (writer.is_binary(data) and writer.holds_secret(data))
    return (data if kept else None), size, digest.hexdigest()


def _untracked(dirty: Sequence[str]) -> list[str]:
    return [line[3:] for line in dirty if line.startswith("??")]


def _stat_of(path: Path) -> _Stat | None:
    """Return the metadata of a regular file, or None for anything else."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (
        (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        if stat.S_ISREG(found.st_mode)
        else None
    )


_stats = decode.Json(dict[str, _Stat])


def _noted(work: Path) -> Mapping[str, _Stat]:
    try:
        return _stats.decode(files.read_if(work / BEFORE) or b"{}")
    except (AgentplaneError, msgspec.MsgspecError):
        return {}


def _shown(path: str) -> str:
    return masked_text(files.without_odd_bytes(path))


def _name(path: str, taken: set[str]) -> str:
    """Return a unique name for a copy that is valid on every system and has no meaning in a capsule."""
    plain = "".join(letter if letter.isalnum() or letter in "._-[]" else "_" for letter in _shown(path))
    plain = f"_{plain[1:]}" if plain[:1] in (".", "-") else plain
    plain = plain.encode(errors="replace")[-_LONGEST:].decode(errors="ignore") or "_"
    plain += "_" if plain.endswith(events.PACKED) else ""
    stem, dot, ending = plain.partition(".")
    number, name = 1, plain
    while name.lower() in taken:
        number += 1
        name = f"{stem}-{number}{dot}{ending}"
    taken.add(name.lower())
    return name
