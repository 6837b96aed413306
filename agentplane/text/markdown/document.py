"""A memory file on disk, with the places of its entries and its unreadable parts.

An entry opens at a line that is just ---, outside a code fence. The text up to the next such line must be a
YAML mapping with an `id`. Offsets count bytes, and the bytes themselves never change.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b, sha256
from itertools import chain
from typing import Any, Final, NamedTuple

import frontmatter
import msgspec

from agentplane.lazy import cached_property
from agentplane.text.json import decode
from agentplane.text.markdown.fences import Fences
from agentplane.text.yaml.yaml12 import HANDLER, MAX_CHARS, RareYaml, YamlError, shown


WHITE: Final = b" \t\r\n"
BOM: Final = b"\xef\xbb\xbf"

_FIRST: Final = re.compile(rb"---[ \t]*\r?(?![^\n])")
_DELIMITER: Final = re.compile(rb"\n---[ \t]*\r?(?![^\n])")
# An anchor or a tag before the key is refused, but the text is still reported as an intended entry.
_LOOKS_LIKE_ENTRY: Final = re.compile(rb"""^(?:[&!][^ \t\n]*[ \t]+)*["']?id["']?[ \t]*:""", re.MULTILINE)
_FIRST_PARAGRAPH: Final = re.compile(rb"(?:[ \t\r]*[^ \t\r\n][^\n]*\n?)+")

_packed = decode.Pack()


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One entry, with its place and the content of its header."""

    id: str
    line: int
    """Line of the opening ---, starting at 1."""
    start: int
    """Offset of the opening ---."""
    head: int
    """Offset of the header's first byte."""
    body: int
    """Offset after the line of the closing ---."""
    end: int
    """End of the core. The whitespace after the body is not part of the entry."""
    key: bytes
    """Hash of the header's bytes, to recognize a header that was read before."""
    digest: str
    """Hash of the core, which is the same for CRLF and LF."""
    packed: bytes
    """The header as msgpack, with dates as ISO text."""


class Trouble(msgspec.Struct, frozen=True):
    """An unreadable part of the file. It stays unchanged and belongs to no entry."""

    line: int
    what: str
    todo: str
    start: int
    end: int


class Document(msgspec.Struct, frozen=True, dict=True):
    data: bytes
    blocks: tuple[Block, ...]
    troubles: tuple[Trouble, ...]

    def __bytes__(self) -> bytes:
        return self.data

    def core(self, block: Block) -> bytes:
        return self.data[block.start : block.end]

    def body(self, block: Block) -> str:
        """Return the text, with LF line ends."""
        return self.data[block.body : block.end].replace(b"\r\n", b"\n").decode()

    def header(self, block: Block) -> dict[str, Any]:
        header: dict[str, Any] = _packed.decode(block.packed)
        return header

    def find(self, id: str) -> Block | None:  # noqa: A002
        return self._by_id.get(id)

    @cached_property
    def _by_id(self) -> dict[str, Block]:
        return {block.id: block for block in self.blocks}


def normalise(core: bytes) -> bytes:
    """Return the significant bytes of an entry, without its kind of line ends and the whitespace after it."""
    return core.replace(b"\r\n", b"\n").rstrip(WHITE)


def digest(core: bytes) -> str:
    return sha256(normalise(core)).hexdigest()


def split(core: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Return an entry's opening line, its header, and the rest from the closing --- on."""
    opening = _FIRST.match(core)
    closing = opening and _DELIMITER.search(core, opening.end())
    if not opening or not closing:
        return None
    head, end = opening.end() + 1, closing.start() + 1
    return core[:head], core[head:end], core[end:]


def parse(data: bytes, known: Mapping[bytes, tuple[str, bytes]] | None = None) -> Document:
    """Read a file. `known` has the ID and packed header for keys of headers that were read before."""
    pieces = _Scan(data, known or {}).pieces()
    starts = [piece[0] for piece in pieces]
    # Both are computed once for the whole file, not for each entry.
    clean = _unreadable(data) is None
    has_cr = b"\r" in data
    prose = None if clean else _bad_text(data, 0, starts[0] if starts else len(data), 1, "the file")
    troubles = [prose] if prose else []
    blocks: list[Block] = []
    ids: dict[str, int] = {}
    line, counted = 1, 0
    for (start, head, body, key, found), stop in zip(pieces, [*starts[1:], len(data)], strict=False):
        core = data[start:stop].rstrip(WHITE)
        end = start + len(core)
        line += data.count(b"\n", counted, start)
        counted = start
        if isinstance(found, _Broken):
            troubles.append(Trouble(line + found.line, found.what, found.todo, start, end))
            continue
        id_, packed = found
        first = ids.setdefault(id_, line)
        trouble = None if clean else _bad_text(data, start, end, line, id_)
        if first != line:
            trouble = _used_twice(id_, first, line, start, end)
        if trouble:
            troubles.append(trouble)
            continue
        seal = sha256(core.replace(b"\r\n", b"\n") if has_cr else core).hexdigest()
        blocks.append(Block(id_, line, start, head, body, end, key, seal, packed))
    return Document(data, tuple(blocks), tuple(troubles))


class _Broken(NamedTuple):
    line: int
    """Lines after the opening ---."""
    what: str
    todo: str


_Header = tuple[str, bytes]
"""ID and packed header."""

_Piece = tuple[int, int, int, bytes, _Header | _Broken]
"""Start, head, body and key, as in a block, and the result of reading the header."""


_MOST_KEPT: Final = 1 << 17
_read_before: dict[bytes, _Header | _Broken | None] = {}
"""The content of headers, by key."""


class _Scan:
    """One pass over the delimiters of a file."""

    def __init__(self, data: bytes, known: Mapping[bytes, tuple[str, bytes]]) -> None:
        self.data = data
        self.known = known
        self.first = len(BOM) if data.startswith(BOM) else 0

    def pieces(self) -> list[_Piece]:
        data, size, known = self.data, len(self.data), self.known
        pieces: list[_Piece] = []
        fences = Fences(data)
        delimiters = self.delimiters()
        # Start of the current prose or body. All fences before it are handled.
        text = self.first
        here = next(delimiters, None)
        while here is not None:
            before, behind = here
            if fences.ahead < before and (fenced := fences.covering(text, before + 1)):
                text = fenced
                here = next((there for there in delimiters if there[0] + 1 >= fenced), None)
                continue
            here = next(delimiters, None)
            if here is None:
                unclosed = self.unclosed(behind + 1)
                if unclosed:
                    pieces.append((before + 1, min(behind + 1, size), size, b"", unclosed))
                break
            text = behind + 1
            header = data[text : here[0] + 1]
            # A key that reads as id has these letters or an escape.
            if b"id" not in header and b"\\" not in header:
                continue
            key = blake2b(header, digest_size=16).digest()
            found = known.get(key) or self.remembered(key, header)
            if found is None:
                continue
            body = min(size, here[1] + 1)
            pieces.append((before + 1, text, body, key, found))
            # A broken header may only look like a header, and its end may open the next entry.
            if not isinstance(found, _Broken):
                text = body
                here = next(delimiters, None)
        return pieces

    def delimiters(self) -> Iterator[tuple[int, int]]:
        """Yield the offsets of the line breaks before and after each ---."""
        spans = map(re.Match[bytes].span, _DELIMITER.finditer(self.data, self.first))
        match = _FIRST.match(self.data, self.first)
        return chain([(self.first - 1, match.end())], spans) if match else spans

    def remembered(self, key: bytes, header: bytes) -> _Header | _Broken | None:
        """Read a header once in a process.

        A merge reads four versions of a file, and reconciling reads them again.
        """
        if key not in _read_before:
            if len(_read_before) >= _MOST_KEPT:
                _read_before.clear()
            _read_before[key] = self.read(header)
        return _read_before[key]

    def read(self, header: bytes) -> _Header | _Broken | None:
        if len(header) > MAX_CHARS:
            return _broken_if_entry(
                header, 0, f"the frontmatter is longer than {MAX_CHARS // 1024} KiB", _SHORTEN
            )
        try:
            text = header.decode()
        except UnicodeDecodeError as error:
            line = 1 + header.count(b"\n", 0, error.start)
            return _broken_if_entry(header, line, "the frontmatter isn't UTF-8", _SAVE_AS_UTF8)
        try:
            fields, _ = frontmatter.parse(f"---\n{text}---\n", handler=HANDLER)
        except YamlError as error:
            todo = _WRITE_OUT if isinstance(error, RareYaml) else _REPAIR
            return _broken_if_entry(header, 1 + error.line, f"invalid frontmatter: {error.problem}", todo)
        if "id" not in fields:
            return None
        id_: object = fields["id"]
        if not isinstance(id_, str) or not id_.strip():
            return _Broken(0, f"the ID in the frontmatter isn't text: {shown(id_)}", _QUOTE_ID)
        return id_, pack(fields)

    def unclosed(self, head: int) -> _Broken | None:
        """Return the fault of frontmatter at the end of the file without a closing ---.

        A thematic break in a body is not a fault.
        """
        paragraph = _FIRST_PARAGRAPH.match(self.data, head, head + MAX_CHARS)
        if paragraph is None:
            return None
        return _broken_if_entry(paragraph[0], 0, "the frontmatter is never closed", _CLOSE)


_REPAIR: Final = "Fix the YAML between the two --- lines. A value that contains `: ` needs quotes. Until then, this entry is ignored."
_WRITE_OUT: Final = (
    "Replace YAML anchors, aliases, tags and merge keys with the values themselves. "
    "Until then, this entry is ignored."
)
_SHORTEN: Final = "Shorten the frontmatter by moving text into the body."
_CLOSE: Final = "Add a line with --- after the last field."
_QUOTE_ID: Final = "Write the ID as text, for example `id: DEC-001`. If the ID is a number, put it in quotes."
_SAVE_AS_UTF8: Final = "Save the file as UTF-8. Until then, this part of the file is ignored."


def _broken_if_entry(header: bytes, line: int, what: str, todo: str) -> _Broken | None:
    return _Broken(line, what, todo) if _LOOKS_LIKE_ENTRY.search(header) else None


def _used_twice(id_: str, first: int, line: int, start: int, end: int) -> Trouble:
    what = f"the ID {_shown(id_)} is already used by the entry on line {first}"
    return Trouble(
        line,
        what,
        "Give one of the two entries a different ID. Until then, only the first entry is used.",
        start,
        end,
    )


def _shown(id_: str) -> str:
    text = id_ if id_.isprintable() else ascii(id_)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unreadable(data: bytes) -> tuple[int, str] | None:
    """Return the offset of the first byte that no text may have, and the reason."""
    nul = data.find(b"\0")
    if nul >= 0:
        return nul, "a NUL byte"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start, "bytes that aren't UTF-8"
    return None


def _bad_text(data: bytes, start: int, end: int, line: int, name: str) -> Trouble | None:
    bad = _unreadable(data[start:end])
    if bad is None:
        return None
    offset, what = bad
    line += data.count(b"\n", start, start + offset)
    return Trouble(line, f"{_shown(name)} contains {what}", _SAVE_AS_UTF8, start, end)


def pack(fields: Mapping[str, Any]) -> bytes:
    """Return a header as msgpack. Dates become ISO text, and integers beyond 64 bits become decimal text."""
    try:
        return msgspec.msgpack.encode(msgspec.to_builtins(fields))
    except OverflowError:
        return msgspec.msgpack.encode(msgspec.to_builtins(_small(fields)))


def _small(value: Any) -> Any:
    if isinstance(value, dict):
        return {_small(key): _small(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_small(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        # Python refuses to write very long integers in decimal.
        return str(value) if value.bit_length() < 10_000 else hex(value)
    return value
