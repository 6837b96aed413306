"""The folder of derived files. Deleting it loses nothing, and nothing in it is believed that another machine wrote.

What was read is kept here with its digests, so a cache that came along with a cloned repository could
claim trust for a text that nobody approved. `owner` ties the folder to this machine and this inode:
a copy of it, by git or otherwise, is cleared instead of used.
"""

import hashlib
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.text import chain, files


# Holds what a person is editing right now: not derived, so it stays when the rest is cleared.
DRAFTS = "edit"

_OWNER = "owner"


def load(layout: Layout, name: str) -> bytes | None:
    """A kept file; None where there is none, or where it is not ours to believe."""
    try:
        if files.read_if(layout.file(f"cache/{_OWNER}")) != _token(layout):
            return None
        return files.read_if(layout.file(f"cache/{name}"))
    except AgentplaneError:
        return None


def save(layout: Layout, name: str, data: bytes) -> None:
    """Keeps a file. A cache that cannot be written only costs time."""
    try:
        _own(layout)
        path = layout.root / "cache" / name
        files.make_folder(path.parent)
        files.write_atomic(layout.file(f"cache/{name}"), data, durable=False)
    except AgentplaneError:
        pass


def save_as_of(layout: Layout, head: str | None, name: str, data: bytes) -> None:
    """Keeps what was made of the texts at this head of the log.

    A prune clears the cache after its event: whoever read the texts before must not put them back.
    """
    save(layout, name, data)
    with suppress(AgentplaneError):
        if chain.tail(layout.log).head != head:
            files.remove(layout.file(f"cache/{name}"))


def add(layout: Layout, name: str, line: bytes, most: int) -> None:
    """Adds a line to a kept file, as far as it is shorter than `most` bytes. Many processes may at once."""
    try:
        _own(layout)
        path = layout.file(f"cache/{name}")
        if len(files.read_if(path) or b"") < most:
            files.append(path, line)
    except AgentplaneError:
        pass


def clear(layout: Layout) -> None:
    """Deletes what is derived; the next reading makes it anew."""
    if not os.path.lexists(layout.cache):
        return
    files.plain_folder(layout.cache, layout.root)
    for folder, below, names in os.walk(layout.cache):
        if Path(folder) == layout.cache and DRAFTS in below:
            below.remove(DRAFTS)
        for name in names:
            files.remove(os.path.join(folder, name))


def drafts(layout: Layout) -> list[Path]:
    """What people are editing, or could not finish."""
    folder = layout.cache / DRAFTS
    return sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []


def _own(layout: Layout) -> None:
    files.make_folder(layout.cache)
    token = _token(layout)
    path = layout.file(f"cache/{_OWNER}")
    if files.read_if(path) != token:
        clear(layout)
        files.write_atomic(path, token, durable=False)


def _token(layout: Layout) -> bytes:
    try:
        found = os.lstat(layout.cache)
    except OSError:
        return b""
    parts = (_machine(), str(os.getuid()), str(found.st_dev), str(found.st_ino))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest().encode()


@lru_cache(maxsize=1)
def _machine() -> str:
    """What a stranger who made a repository does not know of this machine."""
    for name in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            return Path(name).read_text(errors="replace") or os.uname().nodename
        except OSError:
            continue
    return os.uname().nodename
