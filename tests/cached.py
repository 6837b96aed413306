"""Files of the cache by their names, as tests read and write them."""

from agentplane.plane.derived import cache
from agentplane.plane.derived.cache import CacheFile
from agentplane.plane.layout import Layout
from agentplane.plane.trust import user_key


def file_named(layout: Layout, name: str) -> CacheFile:
    """The file with the version that its first line names, or with none if it has no such line."""
    path = layout.cache / name
    line = path.read_bytes().partition(b"\n")[0] if path.is_file() else b""
    version = line[user_key.MARK_LENGTH + 1 :].decode(errors="replace")
    return CacheFile(name, version) if version else CacheFile(name)


def load(layout: Layout, name: str) -> bytes | None:
    return cache.load(layout, file_named(layout, name))


def save(layout: Layout, name: str, data: bytes) -> None:
    """Write the file with this user's mark, in the version that it had."""
    cache.save(layout, file_named(layout, name), data)
