"""The stored last result of each command, which is used without running the command again.

A result counts as long as the checked-out commit and the changed files are the same.
"""

import hashlib
import os
from collections.abc import Mapping
from datetime import datetime

import msgspec

from agentplane.curate.conditions.commands.run import Ran
from agentplane.plane.derived import cache
from agentplane.plane.git import git
from agentplane.plane.layout import Layout
from agentplane.text import files


_FILE = cache.CacheFile("check-results", "1")
_MOST = 500
_MOST_FILES = 50_000
_STATUS_SECONDS = 20.0
_NEW = b"?"


class KeptResult(msgspec.Struct, frozen=True):
    """The result of a command, with the state of the project in which it ran."""

    state: str
    at: datetime
    ran: Ran


_decoder = msgspec.msgpack.Decoder(dict[str, KeptResult])


class State(msgspec.Struct, frozen=True):
    """The state of a project: the checked-out commit, and the files that differ from it.

    Files that Git ignores don't count. Without Git, all files count.
    """

    commit: bytes
    files: Mapping[bytes, tuple[bytes, files.Stamp | None]]
    """The row of `git status` and the stamp of each file."""

    @property
    def digest(self) -> str:
        listed = repr((self.commit, sorted(self.files.items())))
        return hashlib.sha256(listed.encode()).hexdigest()[:32]

    def became(self, later: "State") -> bool:
        """True if nothing changed until a later state, apart from new files that Git doesn't track."""
        is_same = all(later.files.get(path) == row for path, row in self.files.items())
        added = later.files.keys() - self.files.keys()
        return self.commit == later.commit and is_same and all(later.files[path][0] == _NEW for path in added)


def state_of(layout: Layout) -> State | None:
    """Return the state of a project, or None if it has too many files."""
    status = git.status(layout.project, layout.root.name, _STATUS_SECONDS)
    if status is None:
        return _state_of_files(layout)
    top = os.fsencode(git.top(layout.project) or layout.project)
    rows = status.split(b"\0")
    found = {}
    for row in rows:
        path = _path_of(row)
        if path is not None:
            # The row is the same after a second change of a file, and the stamp isn't.
            stamp = files.stamp(os.path.join(top, path).decode(errors="surrogateescape"))
            found[path] = (_NEW if row.startswith(b"?") else row, stamp)
    return State(b"\0".join(row for row in rows if row.startswith(b"# branch.oid")), found)


def _state_of_files(layout: Layout) -> State | None:
    found: dict[bytes, tuple[bytes, files.Stamp | None]] = {}
    for folder, below, names in os.walk(layout.project):
        below[:] = sorted(set(below) - {layout.root.name, ".git"})
        for name in names:
            if len(found) > _MOST_FILES:
                return None
            path = os.path.join(folder, name)
            found[os.fsencode(path)] = (_NEW, files.stamp(path))
    return State(b"", found)


def load(layout: Layout) -> Mapping[str, KeptResult]:
    """Return the last result of each command, even if the project has changed since then."""
    data = cache.load(layout, _FILE)
    try:
        return _decoder.decode(data) if data else {}
    except msgspec.MsgspecError:
        return {}


def save(layout: Layout, before: State | None, ran: Ran, at: datetime) -> None:
    """Keep a result, unless the project changed while the command ran.

    `before` is the state in which the command began. Without a state, nothing could tell how long the result counts.
    """
    after = state_of(layout) if before else None
    others = {command: one for command, one in load(layout).items() if command != ran.command}
    if before is None or after is None or not before.became(after):
        cache.save(layout, _FILE, msgspec.msgpack.encode(others))
        return
    latest = sorted(others.items(), key=lambda row: row[1].at)[-_MOST + 1 :]
    kept = {**dict(latest), ran.command: KeptResult(after.digest, at, ran)}
    cache.save(layout, _FILE, msgspec.msgpack.encode(kept))


def _path_of(row: bytes) -> bytes | None:
    """Return the path in a row of `git status`, or None for a row without one."""
    fields = {b"1": 8, b"u": 10, b"?": 1}.get(row[:1])
    return row.split(b" ", fields)[-1] if fields else None
