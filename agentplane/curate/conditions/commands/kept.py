"""The last result of each command, so that it is known without running the command again.

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


class KeptResult(msgspec.Struct, frozen=True):
    """The result of a command, with the state of the project in which it ran."""

    state: str
    at: datetime
    ran: Ran


_decoder = msgspec.msgpack.Decoder(dict[str, KeptResult])


def state_of(layout: Layout) -> str | None:
    """Return a digest of the commit and of all changed files. Files that Git ignores don't count.

    Without Git, it is a digest of all files. None if there are too many of them.
    """
    status = git.status(layout.project, layout.root.name, _STATUS_SECONDS)
    if status is None:
        return _state_of_files(layout)
    top = git.top(layout.project) or layout.project
    found = hashlib.sha256(status)
    for row in status.split(b"\0"):
        path = _path_of(row)
        if path is not None:
            # The status is the same after a second change of a file, and the stamp isn't.
            found.update(repr(files.stamp(os.path.join(top, os.fsdecode(path)))).encode())
    return found.hexdigest()[:32]


def _state_of_files(layout: Layout) -> str | None:
    found, count = hashlib.sha256(), 0
    for folder, below, names in os.walk(layout.project):
        below[:] = sorted(set(below) - {layout.root.name, ".git"})
        for name in sorted(names):
            count += 1
            if count > _MOST_FILES:
                return None
            path = os.path.join(folder, name)
            found.update(repr((path, files.stamp(path))).encode(errors="surrogateescape"))
    return found.hexdigest()[:32]


def load(layout: Layout) -> Mapping[str, KeptResult]:
    """Return the last results by command, whatever state they are of."""
    data = cache.load(layout, _FILE)
    try:
        return _decoder.decode(data) if data else {}
    except msgspec.MsgspecError:
        return {}


def save(layout: Layout, state: str | None, ran: Ran, at: datetime) -> None:
    """Keep a result. Without a state, nothing could tell how long it counts."""
    if state is None:
        return
    others = {command: one for command, one in load(layout).items() if command != ran.command}
    latest = sorted(others.items(), key=lambda row: row[1].at)[-_MOST + 1 :]
    kept = {**dict(latest), ran.command: KeptResult(state, at, ran)}
    cache.save(layout, _FILE, msgspec.msgpack.encode(kept))


def _path_of(row: bytes) -> bytes | None:
    """Return the path in a row of `git status`, or None for a row without one."""
    fields = {b"1": 8, b"u": 10, b"?": 1}.get(row[:1])
    return row.split(b" ", fields)[-1] if fields else None
