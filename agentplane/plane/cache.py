"""The folder of derived files. Deleting it loses nothing, and nothing in it is believed that another machine wrote.

What was read is kept here with its digests, so a cache that came along with a cloned repository could
claim trust for a text that nobody approved. `owner` ties the folder to this machine and this inode:
a copy of it, by git or otherwise, is cleared instead of used.
"""

import hashlib
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.text import chain, files


# Holds what a person is editing right now: not derived, so it stays when the rest is cleared.
DRAFTS = "edit"

_OWNER = "owner"
_PRUNED = "pruned"
_LARGEST = 1 << 30
_SUM = 8


def _sum(data: bytes) -> bytes:
    """What tells a file that a crash left half written or empty."""
    return b"%08x" % zlib.crc32(data)


def _read(layout: Layout, name: str) -> bytes | None:
    path = layout.file(f"cache/{name}")
    try:
        return files.read(path) if os.lstat(path).st_size <= _LARGEST else None
    except OSError:
        return None


def load(layout: Layout, name: str) -> bytes | None:
    """A kept file; None where there is none, where it is not whole, or where it is not ours to believe."""
    data = load_plain(layout, name) or b""
    return data[_SUM + 1 :] if data[:_SUM] == _sum(data[_SUM + 1 :]) else None


def load_plain(layout: Layout, name: str) -> bytes | None:
    """The same without a look whether it is whole, for files that are added to or read by others."""
    try:
        if _read(layout, _OWNER) != _token(layout):
            return None
        return _read(layout, name)
    except AgentplaneError:
        return None


def save(layout: Layout, name: str, data: bytes) -> None:
    """Keeps a file. A cache that cannot be written only costs time."""
    save_plain(layout, name, _sum(data) + b"\n" + data)


def save_plain(layout: Layout, name: str, data: bytes) -> None:
    try:
        _own(layout)
        path = layout.root / "cache" / name
        files.make_folder(path.parent)
        files.write_atomic(layout.file(f"cache/{name}"), data, durable=False)
    except AgentplaneError:
        pass


def save_as_of(layout: Layout, head: str | None, name: str, data: bytes, *, plain: bool = False) -> None:
    """Keeps what was made of the texts at this head of the log.

    A prune clears the cache after its event: whoever read the texts before must not put them back.
    """
    (save_plain if plain else save)(layout, name, data)
    with suppress(AgentplaneError):
        if chain.tail(layout.log).head != head:
            files.remove(layout.file(f"cache/{name}"))


def add(layout: Layout, name: str, line: bytes, most: int) -> None:
    """Adds a line to a kept file, as far as it is shorter than `most` bytes. Many processes may at once."""
    try:
        _own(layout)
        path = layout.file(f"cache/{name}")
        if len(_read(layout, name) or b"") < most:
            files.append(path, line)
    except AgentplaneError:
        pass


def forget(layout: Layout, pruned: Sequence[str]) -> None:
    """Clears what may have been derived of pruned texts, once for each prune, whoever did it and wherever."""
    if not pruned:
        return
    wanted = hashlib.sha256("\n".join(pruned).encode()).hexdigest().encode()
    if load(layout, _PRUNED) != wanted:
        with suppress(AgentplaneError):
            clear(layout)
            save(layout, _PRUNED, wanted)


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
    if _read(layout, _OWNER) != token:
        clear(layout)
        files.write_atomic(layout.file(f"cache/{_OWNER}"), token, durable=False)


def _token(layout: Layout) -> bytes:
    try:
        found = os.lstat(layout.cache)
    except OSError:
        return b""
    parts = (machine(), str(os.getuid()), str(found.st_dev), str(found.st_ino))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest().encode()


@lru_cache(maxsize=1)
def machine() -> str:
    """What a stranger who made a repository does not know of this machine."""
    for name in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            return Path(name).read_text(errors="replace") or os.uname().nodename
        except OSError:
            continue
    return os.uname().nodename
