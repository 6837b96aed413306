"""Removing a text from capsules.

Sealed files stay provable, because the operation names each old and new hash.
"""

import hashlib
from collections.abc import Iterator

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.store import records
from agentplane.plane.store.prune import Elsewhere
from agentplane.runs import events
from agentplane.runs.capsule import capsule, writer
from agentplane.runs.events import CapsuleFile, RunEvent
from agentplane.runs.open import open_run
from agentplane.text import files


_MARK = b"[pruned]"


class Hit(msgspec.Struct, frozen=True):
    """A capsule file that contains the text, with its new content without the text."""

    run_id: str
    path: str
    sealed: str
    """Hash of the file in the event."""
    found: str
    """Current hash of the file. An earlier operation may have pruned the file."""
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class Pruned(msgspec.Struct, frozen=True):
    """The texts that operations removed from files, by the hashes of the files."""

    digests: frozenset[str] = frozenset()
    left: dict[str, frozenset[str]] = {}

    @staticmethod
    def of(layout: Layout, ledger: Ledger) -> "Pruned":
        if not ledger.pruned:
            return Pruned()
        proved = {note.op for note in ledger.ops if note.verb == "prune"}
        left: dict[str, frozenset[str]] = {}
        for line in records.each(layout):
            stored = records.readable(line)
            if stored and stored.record.op in proved:
                for sealed, sha256 in stored.record.redacted.items():
                    left[sealed] = left.get(sealed, frozenset()) | {sha256}
        return Pruned(frozenset(ledger.pruned), left)

    def covers(self, sha256: str) -> bool:
        """True if a text was removed from the file with this hash."""
        return sha256 in self.digests

    def allows(self, sealed: str, found: str) -> bool:
        """True if an operation made this file from the sealed file."""
        return found in self.left.get(sealed, ()) and found not in self.digests


def search(layout: Layout, needle: str) -> list[Hit]:
    """Return the capsule files that contain a text, including packed files and JSON escapes."""
    forms = _forms(needle)
    hits = (_hit(layout, run, kept, forms) for _, run in events.oldest_first(layout) for kept in run.capsule)
    return [hit for hit in hits if hit]


def elsewhere(layout: Layout, needle: str, hits: list[Hit]) -> Elsewhere:
    """Return the hits in the form that the pruning operation needs, with the open runs that still contain the
    text.
    """
    return Elsewhere(
        tuple(dict.fromkeys(sha256 for hit in hits for sha256 in (hit.sealed, hit.found))),
        {hit.sealed: hit.sha256 for hit in hits},
        tuple(_open(layout, _forms(needle))),
    )


def write(layout: Layout, hits: list[Hit]) -> None:
    """Write the files without the text, after the operation. The operation already deleted the text from its
    own files.
    """
    for hit in hits:
        files.write_atomic(capsule.file(layout, hit.run_id, hit.path), hit.data)


def _forms(needle: str) -> tuple[bytes, ...]:
    return tuple(dict.fromkeys((needle.encode(), msgspec.json.encode(needle)[1:-1])))


def _hit(layout: Layout, run: RunEvent, kept: CapsuleFile, forms: tuple[bytes, ...]) -> Hit | None:
    try:
        stored = files.read_if(capsule.file(layout, run.run_id, kept.path))
        data = None if stored is None else capsule.unpacked(kept, stored)
    except AgentplaneError:
        return None  # doctor reports it
    if stored is None or data is None or not any(form in data for form in forms):
        return None
    for form in forms:
        data = data.replace(form, _MARK)
    found = hashlib.sha256(stored).hexdigest()
    return Hit(run.run_id, kept.path, kept.sha256, found, writer.packed(kept.path, data))


def _open(layout: Layout, forms: tuple[bytes, ...]) -> Iterator[str]:
    for run in open_run.every(layout):
        for path in sorted(open_run.work(layout, run.run_id).iterdir()):
            data = files.read(path) if path.is_file() and not path.is_symlink() else b""
            if any(form in data for form in forms):
                yield layout.shown(str(path.relative_to(layout.root)))
