"""What earlier passes found out about files, so that a pass reads only files that changed since.

A file is the same if its size, its times and its number are the same. A file that changed shortly before it was
read is read again, because a second change within the same tick of the clock leaves the same times.
"""

import os
import time

import msgspec

from agentplane.plane.derived import cache
from agentplane.plane.derived.cache import CacheFile
from agentplane.plane.layout import Layout
from agentplane.plane.store.records import Observation
from agentplane.text import files
from agentplane.text.gc_pause import uncollected


KNOWN = CacheFile("curate-evidence", "1")

_TICK = 2_000_000_000
"""Nanoseconds within which some file systems give two changes the same time."""


class KnownFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    changed: int
    status_changed: int
    size: int
    number: int
    digest: str


class KnownPart(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a piece of evidence names in one version of its file."""

    file: str
    """Digest of the file."""
    content: str | None
    meaning: str | None


class KnownChange(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The commit that changed a piece of evidence, for one version of its file."""

    file: str
    observed: str | None
    diff: str
    where: str
    commit: str
    author: str | None
    date: str | None
    subject: str | None


class Known(msgspec.Struct, array_like=True):
    """The content of the cache file. A pass adds to it."""

    files: dict[str, KnownFile] = {}
    parts: dict[str, KnownPart] = {}
    """By the text of the evidence, if its file isn't the one that was approved."""
    approved: dict[str, dict[str, str]] = {}
    """Digests of files by commit and path, for entries that were approved before states were recorded."""
    settled: dict[str, tuple[str, str]] = {}
    """By the text of the evidence: the version of the file and the observed content that a closer look found to be the
    same.
    """
    changes: dict[str, KnownChange] = {}
    """By the text of the evidence."""


class Memo:
    """The known files of one project."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._root = f"{layout.project}/"
        with uncollected():
            self.known = _decoded(cache.load(layout, KNOWN))
        self._digests: dict[str, str | None] = {}
        self._is_changed = False

    def file(self, path: str) -> str | None:
        """Return the digest of a file, or None if it isn't known or the file changed."""
        digest = self._digests.get(path)
        if digest is None and (known := self.known.files.get(path)) is not None:
            digest = self._digests[path] = self._unchanged(path, known)
        return digest

    def _unchanged(self, path: str, known: KnownFile) -> str | None:
        try:
            now = os.lstat(self._root + path)
        except (OSError, ValueError):
            return None
        is_same = (
            now.st_mtime_ns == known.changed
            and now.st_ctime_ns == known.status_changed
            and now.st_size == known.size
            and now.st_ino == known.number
        )
        return known.digest if is_same else None

    def path_in(self, evidence: str) -> str | None:
        """Return the path of a known file that a piece of evidence names."""
        for path in (evidence, evidence.partition("#")[0], evidence.rpartition(":")[0]):
            if path in self.known.files:
                return path
        return None

    def part(self, evidence: str, file: str | None) -> KnownPart | None:
        """Return what a piece of evidence names in a version of its file, or None if it isn't known."""
        part = self.known.parts.get(evidence)
        return part if part is not None and part.file == file else None

    def add_file(self, path: str, digest: str, stamp: files.Stamp | None) -> None:
        """Remember a file that was read."""
        self._digests[path] = digest
        if stamp is not None and time.time_ns() - max(stamp[0], stamp[1]) > _TICK:
            self.known.files[path] = KnownFile(*stamp, digest)
            self._is_changed = True

    def add_part(self, file: str, observed: Observation) -> KnownPart:
        """Remember what a piece of evidence names in a version of its file."""
        part = KnownPart(file, observed.content, observed.meaning)
        self._is_changed |= self.known.parts.get(observed.evidence) != part
        self.known.parts[observed.evidence] = part
        return part

    def approved(self, commit: str, path: str) -> str | None:
        """Return the digest that a file had in a commit, if it is known."""
        return self.known.approved.get(commit, {}).get(path)

    def add_approved(self, commit: str, path: str, digest: str) -> None:
        self.known.approved.setdefault(commit, {})[path] = digest
        self._is_changed = True

    def settle(self, evidence: str, file: str, content: str) -> None:
        self._is_changed |= self.known.settled.get(evidence) != (file, content)
        self.known.settled[evidence] = (file, content)

    def add_change(self, evidence: str, change: KnownChange) -> None:
        self._is_changed |= self.known.changes.get(evidence) != change
        self.known.changes[evidence] = change

    def save(self) -> None:
        """Store what this pass found out."""
        if self._is_changed:
            cache.save(self._layout, KNOWN, msgspec.msgpack.encode(self.known))


def _decoded(data: bytes | None) -> Known:
    try:
        return msgspec.msgpack.decode(data, type=Known) if data else Known()
    except msgspec.MsgspecError:
        return Known()
