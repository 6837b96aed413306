"""The reader of Markdown files, which is fast if they are unchanged.

Parsed pages are cached in cache/pages/, under the hash of the file's bytes and never under its time. If a
file has changed, only new headers are parsed.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from agentplane.plane.derived import cache, server_memory
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.text.json import canonical, decode
from agentplane.text.markdown import document
from agentplane.text.markdown.document import Block, Document, Trouble


class Page(msgspec.Struct, frozen=True):
    """One parsed memory file. `file` is its path inside the plane."""

    file: str
    sha256: str
    document: Document


class _CachedPage(msgspec.Struct, frozen=True, array_like=True):
    sha256: str
    blocks: tuple[Block, ...]
    troubles: tuple[Trouble, ...]


class _Compared(msgspec.Struct, frozen=True):
    """The last comparison of a page with its file, which had the same bytes."""

    sha256: str
    stamp: files.Stamp | None
    """The stamp of the file before the comparison."""


_codec = decode.Pack(_CachedPage)


def read_all(layout: Layout) -> dict[str, Page]:
    return {file: read(layout, file) for file in layout.memory_files()}


def parse_all(layout: Layout) -> dict[str, Page]:
    """Return all pages without use of the cache."""
    return {file: _parsed(file, files.read(layout.file(file))) for file in layout.memory_files()}


def parse_one(layout: Layout, file: str) -> Page:
    """Return the page of one file without use of the cache."""
    return _parsed(file, files.read(layout.file(file)))


def _parsed(file: str, data: bytes) -> Page:
    return Page(file, canonical.sha256(data), document.parse(data))


def from_cache(layout: Layout, page: Page) -> Page | None:
    """Return the cached version of a page with the same bytes, or None."""
    cached = _load(layout, page.file)
    if cached is None or cached.sha256 != page.sha256:
        return None
    return Page(page.file, page.sha256, Document(page.document.data, cached.blocks, cached.troubles))


def read(layout: Layout, file: str) -> Page:
    path = layout.file(file)
    before: Page | None = server_memory.get(layout, name_of(file))
    stamp = files.stamp(path) if before is not None else None
    if before is not None and files.holds(path, before.document.data):
        server_memory.put(layout, f"{name_of(file)} compared", _Compared(before.sha256, stamp))
        return before
    data = files.read(path)
    page = _changed(before, data) if before is not None else _read(layout, file, data)
    if before is not None:
        keep(layout, page)
    server_memory.put(layout, name_of(file), page)
    return page


def is_as_read(layout: Layout, file: str, sha256: str) -> bool:
    """True if the file's bytes still have this hash.

    A file that had it at the last comparison isn't read again if its stamp is the same. The caller stores counts
    under the same stamps, so it relies on them anyway.
    """
    compared: _Compared | None = server_memory.get(layout, f"{name_of(file)} compared")
    if (
        compared is not None
        and compared.sha256 == sha256
        and compared.stamp is not None
        and compared.stamp == files.stamp(layout.file(file))
    ):
        return True
    before: Page | None = server_memory.get(layout, name_of(file))
    if before is not None and before.sha256 == sha256:
        return files.holds(layout.file(file), before.document.data)
    return canonical.sha256(files.read(layout.file(file))) == sha256


def _changed(before: Page, data: bytes) -> Page:
    return Page(before.file, canonical.sha256(data), document.parse(data, _known(before.document.blocks)))


def _read(layout: Layout, file: str, data: bytes) -> Page:
    sha256 = canonical.sha256(data)
    cached = _load(layout, file)
    if cached and cached.sha256 == sha256:
        return Page(file, sha256, Document(data, cached.blocks, cached.troubles))
    page = Page(file, sha256, document.parse(data, _known(cached.blocks) if cached else None))
    keep(layout, page)
    return page


def known_headers(page: Page | None) -> dict[bytes, tuple[str, bytes]]:
    """Return the headers of a page, so that they are not parsed again."""
    return _known(page.document.blocks) if page else {}


def _known(blocks: Iterable[Block]) -> dict[bytes, tuple[str, bytes]]:
    return {block.key: (block.id, block.packed) for block in blocks}


def keep(layout: Layout, page: Page) -> None:
    """Cache a page.

    A process that has it in memory writes it rarely, and other processes parse only new parts.
    """
    name = name_of(page.file)
    server_memory.put(layout, name, page)
    new: int | None = server_memory.get(layout, f"{name} unwritten")
    if new is not None and not server_memory.is_due(new + 1, len(page.document.blocks)):
        server_memory.put(layout, f"{name} unwritten", new + 1)
        return
    server_memory.put(layout, f"{name} unwritten", 0)
    cached = _CachedPage(page.sha256, page.document.blocks, page.document.troubles)
    cache.save(layout, cache_file(page.file), msgspec.msgpack.encode(cached))


def cache_file(file: str) -> cache.CacheFile:
    """Return the cache file of a page."""
    return cache.CacheFile(name_of(file), "2")


def name_of(file: str) -> str:
    return f"pages/{Path(file).stem}.mp"


def _load(layout: Layout, file: str) -> _CachedPage | None:
    data = cache.load(layout, cache_file(file))
    try:
        return _codec.decode(data) if data else None
    except msgspec.MsgspecError:
        return None


def new_file(file: str) -> bytes:
    """Return the initial content of a memory file."""
    title = file.rpartition("/")[2].removesuffix(".md").replace("_", " ").replace("-", " ").capitalize()
    return f"# {title}\n".encode()
