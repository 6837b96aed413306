"""The results of earlier passes for each file, so that a pass reads only files that changed since then.

A file is the same if its size, its times and its number are the same. A file that changed shortly before it was
read is read again, because a second change within the same tick of the clock leaves the same times.
"""

import os
import time
from typing import TypeVar

import msgspec

from agentplane.plane.derived import cache
from agentplane.plane.derived.cache import CacheFile
from agentplane.plane.layout import Layout
from agentplane.plane.store.records import Observation
from agentplane.text import files
from agentplane.text.gc_pause import uncollected


FILES = CacheFile("curate-files", "1")
LOOKS = CacheFile("curate-evidence", "1")

_TICK = 2_000_000_000
"""Nanoseconds within which some file systems give two changes the same time."""
_FEW = 100
"""So many files are read again in each pass, because that is faster than to write the list of all files."""


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


class _Files(msgspec.Struct, array_like=True):
    files: dict[str, KnownFile] = {}
    approved: dict[str, dict[str, str]] = {}
    """Digests of files by commit and path, for entries that were approved before states were recorded."""


class _Looks(msgspec.Struct, array_like=True):
    """Results about evidence, by its text."""

    parts: dict[str, KnownPart] = {}
    """Only for evidence whose file isn't the one that was approved."""
    settled: dict[str, tuple[str, str]] = {}
    """The version of the file and the observed content that a closer look found to be the same."""
    changes: dict[str, KnownChange] = {}
    derived: dict[str, dict[str, Observation]] = {}
    """States in the commits of approvals that recorded none, by commit and evidence."""


_T = TypeVar("_T")


class Memo:
    """The known files of one project, and what is known about evidence in them. A pass adds to both."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._root = f"{layout.project}/"
        with uncollected():
            known = _loaded(layout, FILES, _Files)
            self._looks = _loaded(layout, LOOKS, _Looks)
        self._files = known.files
        self._approved = known.approved
        self._digests: dict[str, str | None] = {}
        self._new_files = 0
        self._has_looked = False

    def file(self, path: str) -> str | None:
        """Return the digest of a file, or None if it isn't known or the file changed."""
        digest = self._digests.get(path)
        if digest is None and (known := self._files.get(path)) is not None:
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
        path = evidence.partition("#")[0]
        if path not in self._files:
            path = evidence.rpartition(":")[0]
        return path if path in self._files else None

    def part(self, evidence: str, file: str | None) -> KnownPart | None:
        """Return what a piece of evidence names in a version of its file, or None if it isn't known."""
        part = self._looks.parts.get(evidence)
        return part if part is not None and part.file == file else None

    def is_settled(self, evidence: str, file: str, content: str) -> bool:
        """True if a closer look found that a piece of evidence is the same in a version of its file."""
        return self._looks.settled.get(evidence) == (file, content)

    def change(self, evidence: str, file: str | None, content: str | None) -> KnownChange | None:
        """Return the commit that changed a piece of evidence, if it is known for a version of its file."""
        known = self._looks.changes.get(evidence)
        is_same = known is not None and known.file == file and known.observed == content
        return known if is_same else None

    def approved(self, commit: str, path: str) -> str | None:
        """Return the digest that a file had in a commit, if it is known."""
        return self._approved.get(commit, {}).get(path)

    def derived(self, commit: str | None, evidence: str) -> Observation | None:
        """Return the state that a piece of evidence had in a commit, if it is known."""
        return self._looks.derived.get(commit or "", {}).get(evidence)

    def add_derived(self, commit: str, observed: Observation) -> None:
        self._looks.derived.setdefault(commit, {})[observed.evidence] = observed
        self._has_looked = True

    def add_file(self, path: str, digest: str, stamp: files.Stamp | None) -> None:
        """Remember a file that was read."""
        self._digests[path] = digest
        if stamp is not None and time.time_ns() - max(stamp[0], stamp[1]) > _TICK:
            self._files[path] = KnownFile(*stamp, digest)
            self._new_files += 1

    def add_approved(self, commit: str, path: str, digest: str) -> None:
        self._approved.setdefault(commit, {})[path] = digest
        self._new_files += 1

    def add_part(self, file: str, observed: Observation) -> KnownPart:
        """Store what a piece of evidence names in a version of its file."""
        part = KnownPart(file, observed.content, observed.meaning)
        self._looks.parts[observed.evidence] = part
        self._has_looked = True
        return part

    def settle(self, evidence: str, file: str, content: str) -> None:
        self._looks.settled[evidence] = (file, content)
        self._has_looked = True

    def add_change(self, evidence: str, change: KnownChange) -> None:
        self._looks.changes[evidence] = change
        self._has_looked = True

    def save(self) -> None:
        """Store the results of this pass."""
        if self._new_files > min(_FEW, len(self._files) // 10):
            cache.save(self._layout, FILES, msgspec.msgpack.encode(_Files(self._files, self._approved)))
        if self._has_looked:
            cache.save(self._layout, LOOKS, msgspec.msgpack.encode(self._looks))


def _loaded(layout: Layout, file: CacheFile, kind: type[_T]) -> _T:
    data = cache.load(layout, file)
    try:
        return msgspec.msgpack.decode(data, type=kind) if data else kind()
    except msgspec.MsgspecError:
        return kind()
