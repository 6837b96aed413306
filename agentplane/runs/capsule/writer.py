"""Writing the files of a capsule, with secrets masked and large files packed, and describing each for the
event.
"""

import hashlib
import re
import shutil

import msgspec

from agentplane.plane.layout import Layout
from agentplane.runs import events
from agentplane.runs.capsule import capsule
from agentplane.runs.events import CapsuleFile
from agentplane.runs.open.git_state import Patch
from agentplane.runs.record.output_file import Recording
from agentplane.scan.secrets.mask import Masked, masked, places
from agentplane.text import files


_PACK_FROM = 4096
"""Minimum size for packing, in bytes. Smaller files gain nothing."""
_NAMED = 20
_READABLE = re.compile(rb"[\t\x20-\x7e]{8,}")
_LEVEL = 6


def output(layout: Layout, run_id: str, recorded: Recording) -> CapsuleFile:
    """Write a recorded output. State full size and hash if the file differs from the complete output."""
    data, left_out = recorded.text()
    clean, found = masked(data)
    kept = _write(layout, run_id, f"{capsule.OUTPUTS}/{recorded.name}", clean, found)
    if left_out or found or recorded.sha256 is None:
        return _in_full(kept, recorded.size, recorded.sha256, left_out)
    return kept


def patch(layout: Layout, run_id: str, name: str, found: Patch) -> CapsuleFile:
    clean, secrets = masked(found.data)
    kept = _write(layout, run_id, name, clean, secrets)
    left_out = found.size - len(found.data)
    return _in_full(kept, found.size, found.sha256, left_out) if left_out or secrets else kept


def raw(layout: Layout, run_id: str, name: str, data: bytes) -> CapsuleFile:
    """Copy a file into the capsule. Secrets in a text are masked, and other files stay as they are."""
    clean, found = (data, []) if is_binary(data) else masked(data)
    kept = _write(layout, run_id, name, clean, found)
    return _in_full(kept, len(data), hashlib.sha256(data).hexdigest(), 0) if found else kept


def is_binary(data: bytes) -> bool:
    """True if a file is not text, so that masking would break it."""
    if b"\0" in data:
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


def holds_secret(data: bytes) -> bool:
    """True if a binary file has a secret in a readable part, even with NUL bytes between the letters."""
    parts = _READABLE.findall(data.replace(b"\0", b""))
    return bool(masked(b"\n".join(parts))[1])


def text(layout: Layout, run_id: str, name: str, data: bytes) -> CapsuleFile:
    """Write a file that agentplane generates from values that are already masked."""
    return _write(layout, run_id, name, data, places(data))


def clear(layout: Layout, run_id: str) -> None:
    """Remove the files of an earlier attempt to seal, which may have found other files than this attempt."""
    folder = capsule.folder(layout, run_id)
    for name in (capsule.CONTEXT, capsule.SUMMARY):
        files.remove(folder / name)
    for name in (capsule.INPUTS, capsule.OUTPUTS):
        if (folder / name).is_symlink():
            files.remove(folder / name)
        else:
            shutil.rmtree(folder / name, ignore_errors=True)


def packed(path: str, data: bytes) -> bytes:
    """Return the bytes on disk for the content of a capsule file."""
    if not path.endswith(events.PACKED):
        return data
    import zstandard

    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


def _in_full(kept: CapsuleFile, size: int, sha256: str | None, left_out: int) -> CapsuleFile:
    return msgspec.structs.replace(kept, full_size=size, full_sha256=sha256, left_out=left_out)


def _write(layout: Layout, run_id: str, name: str, data: bytes, found: list[Masked]) -> CapsuleFile:
    pays = len(data) >= _PACK_FROM and name.startswith((capsule.INPUTS, capsule.OUTPUTS))
    path = name + events.PACKED if pays else name
    stored = packed(path, data)
    target = capsule.file(layout, run_id, path)
    for above in (target.parent.parent, target.parent):
        files.make_folder(above)
    files.write_atomic(target, stored)
    return CapsuleFile(
        path=path,
        sha256=hashlib.sha256(stored).hexdigest(),
        size=len(stored),
        masked=tuple(found[:_NAMED]),
        masked_more=max(0, len(found) - _NAMED),
    )
