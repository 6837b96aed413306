"""The folder of derived files.

Deleting it loses nothing, and agentplane trusts only files that it wrote itself.

Derived files record which texts are trusted. Anyone who could write one could claim trust for an unapproved
text. For this reason each file carries a mark made with a secret of this user, which covers its name, this
folder and its bytes (`cache_file`). Without a secret, agentplane caches nothing. The file `owner` shows that
the folder is this user's. A copy of the folder is cleared.
"""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.derived import cache_file, server_memory
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.text.log import chain


# People's current drafts. They are not derived, so they stay when the rest is cleared.
DRAFTS = "edit"

OWNER = "owner"


class CacheFile(msgspec.Struct, frozen=True):
    """A file of the cache."""

    name: str
    version: str = "1"
    """The version of its content. A file with another version is made again."""


_PRUNED = CacheFile("pruned")

PLAIN = frozenset({"hooks.log", "suppressed.jsonl"})
"""Files without a mark, because many processes add lines to them. They have no influence on trust."""
UNMARKED_FOLDERS = frozenset({DRAFTS, "sessions"})
"""Folders with unmarked files. Drafts belong to a person, and hints to open runs are compared with the run."""


def load(layout: Layout, file: CacheFile) -> bytes | None:
    """Return a cached file, or None if agentplane did not write this version for this user in this folder."""
    if not _is_inside(layout, file.name):
        return None
    return cache_file.read(str(layout.root), file.name, file.version)


def load_plain(layout: Layout, name: str) -> bytes | None:
    """Return a file that has no mark, if the cache folder belongs to this user."""
    if name not in PLAIN or not _is_inside(layout, name) or not is_own(layout):
        return None
    return cache_file.raw(str(layout.root), name)


def save(layout: Layout, file: CacheFile, data: bytes) -> None:
    """Store a file. If the cache can't be written, only time is lost."""
    try:
        if not _own(layout):
            return
        path = layout.root / cache_file.FOLDER / file.name
        files.make_folder(path.parent)
        marked = cache_file.marked(str(layout.root), file.name, file.version, data)
        if marked is not None:
            files.write_atomic(layout.file(f"cache/{file.name}"), marked, durable=False)
    except AgentplaneError:
        pass


def _is_inside(layout: Layout, name: str) -> bool:
    """True if no link on the way to this file leads out of the plane."""
    try:
        layout.file(f"cache/{name}")
    except AgentplaneError:
        return False
    return True


def save_as_of(layout: Layout, head: str | None, file: CacheFile, data: bytes) -> None:
    """Store data that is derived from the texts at this head of the log.

    A prune clears the cache after its event. A process that read the texts before that must not store them
    again.
    """
    save(layout, file, data)
    with suppress(AgentplaneError):
        if chain.tail(layout.log).head != head:
            files.remove(layout.file(f"cache/{file.name}"))


def add(layout: Layout, name: str, line: bytes, most: int) -> None:
    """Add a line to a file without a mark, if the file is shorter than `most` bytes.

    Many processes may do so at once.
    """
    if name not in PLAIN:
        raise ValueError(name)
    try:
        if _own(layout):
            path = layout.file(f"cache/{name}")
            if len(cache_file.raw(str(layout.root), name) or b"") < most:
                files.append(path, line)
    except AgentplaneError:
        pass


def foreign(layout: Layout) -> list[str]:
    """Return the names of files that lack this user's mark but should carry it."""
    found = []
    for folder, below, names in os.walk(layout.cache):
        inside = os.path.relpath(folder, layout.cache)
        if inside == ".":
            below[:] = [name for name in below if name not in UNMARKED_FOLDERS]
        for name in names:
            path = os.path.normpath(os.path.join(inside, name))
            if path not in PLAIN and not files.is_temp(name) and not _is_valid(layout, path):
                found.append(path)
    return sorted(found)


def _is_valid(layout: Layout, name: str) -> bool:
    if name == OWNER:
        return is_own(layout)
    data = cache_file.raw(str(layout.root), name)
    return data is not None and cache_file.is_valid(str(layout.root), name, data)


def forget(layout: Layout, pruned: Sequence[str]) -> None:
    """Clear data that may be derived from pruned texts, once after each prune by any user in any clone."""
    if not pruned:
        return
    if server_memory.get(layout, _PRUNED.name) != tuple(pruned):
        server_memory.drop(layout)
        server_memory.put(layout, _PRUNED.name, tuple(pruned))
    wanted = hashlib.sha256("\n".join(pruned).encode()).hexdigest().encode()
    if load(layout, _PRUNED) != wanted:
        with suppress(AgentplaneError):
            clear(layout)
            save(layout, _PRUNED, wanted)


def clear(layout: Layout) -> None:
    """Delete all derived files. The next read creates them again."""
    server_memory.drop(layout)
    if not os.path.lexists(layout.cache):
        return
    files.plain_folder(layout.cache, layout.root)
    for folder, below, names in os.walk(layout.cache):
        if Path(folder) == layout.cache and DRAFTS in below:
            below.remove(DRAFTS)
        for name in names:
            files.remove(os.path.join(folder, name))


def drafts(layout: Layout) -> list[Path]:
    """Return the texts that people are editing or could not finish."""
    folder = layout.cache / DRAFTS
    return sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []


def _own(layout: Layout) -> bool:
    """Make the folder this user's, and clear it if it was not. Return False if no secret can be stored."""
    files.make_folder(layout.cache)
    token = _token(layout)
    if token is None:
        return False
    if cache_file.raw(str(layout.root), OWNER) != token:
        clear(layout)
        files.write_atomic(layout.file(f"cache/{OWNER}"), token, durable=False)
    return True


def is_own(layout: Layout) -> bool:
    """True if agentplane made this cache for this user, here."""
    token = _token(layout)
    return token is not None and cache_file.raw(str(layout.root), OWNER) == token


def _token(layout: Layout) -> bytes | None:
    return cache_file.mark_of(str(layout.root), OWNER, "1", machine().encode(errors="replace"))


@lru_cache(maxsize=1)
def machine() -> str:
    """Return an id that distinguishes this machine from others, even from one that shares the home folder."""
    for name in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            return Path(name).read_text(errors="replace") or os.uname().nodename
        except OSError:
            continue
    return os.uname().nodename
