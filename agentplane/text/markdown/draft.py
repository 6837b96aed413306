"""Edits of one document as pieces, so that a thousand changes cost one join.

A piece is an entry's core and everything up to the next entry, which is whitespace and any broken text. An
edit changes cores, and the whitespace of the edited entry.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

import msgspec

from agentplane.errors import BadInput
from agentplane.text.markdown.document import BOM, WHITE, Document, parse


_ENOUGH: Final = 256


class Gap(msgspec.Struct, frozen=True):
    """The former place of an entry, and the whitespace that came and went with it."""

    after: str | None
    """The entry before it, or None if it was the first."""
    lead: str = ""
    """Whitespace that was added before it."""
    tail: str = ""
    """Whitespace after its core."""
    back: int = 0
    """Number of bytes of other text between it and the next entry."""


class _Piece:
    __slots__ = ("after", "before", "core", "id", "tail")

    before: "_Piece"
    after: "_Piece"

    def __init__(self, id_: str | None, core: bytes, tail: list[bytes]) -> None:
        self.id = id_
        self.core = core
        self.tail = tail
        """Several parts, so that an edit near a long text doesn't copy it. Each broken text starts a part."""


class Draft:
    """A document during an edit. `bytes(draft)` is the result."""

    def __init__(self, document: Document) -> None:
        data, blocks = document.data, document.blocks
        # The pieces form a ring, which is joined by a piece without an entry. Its tail is the prose at the
        # start of the file. The first entry comes after it, and the last entry before it.
        broken = [trouble.start for trouble in document.troubles]
        prose = _Piece(None, b"", _cut(data, 0, blocks[0].start if blocks else len(data), broken))
        self._prose = last = prose
        self._pieces: dict[str, _Piece] = {}
        for block, stop in zip(blocks, [*(block.start for block in blocks[1:]), len(data)], strict=False):
            tail = _cut(data, block.end, stop, broken) if broken else [data[block.end : stop]]
            piece = self._pieces[block.id] = _Piece(block.id, data[block.start : block.end], tail)
            last.after, piece.before = piece, last
            last = piece
        last.after, prose.before = prose, last
        self._break = b"\r\n" if _mostly_crlf(data) else b"\n"

    def __bytes__(self) -> bytes:
        parts: list[bytes] = [*self._prose.tail]
        for piece in self._in_order():
            parts.append(piece.core)
            parts += piece.tail
        return b"".join(parts)

    def core(self, id_: str) -> bytes | None:
        piece = self._pieces.get(id_)
        return None if piece is None else piece.core

    def replace(self, id_: str, core: bytes) -> None:
        self._pieces[id_].core = core.rstrip(WHITE)

    def remove(self, id_: str, lead: str = "") -> Gap:
        """Remove an entry with the whitespace after it.

        Also remove `lead` before it, if the text there is `lead`.
        """
        piece = self._pieces.pop(id_)
        before, after = piece.before, piece.after
        before.after, after.before = after, before
        tail, rest = _split_white(piece.tail)
        followed = any(rest) or after is not self._prose
        wanted = lead.encode()
        if not _strip_lead(before, wanted, first=before is self._prose, followed=followed):
            wanted = b""
        before.tail += rest
        return Gap(before.id, wanted.decode(), tail.decode(), sum(map(len, rest)))

    def insert(self, id_: str, core: bytes, gap: Gap | None = None) -> Gap:
        """Insert an entry at `gap`, or at the end of the file after a blank line."""
        if id_ in self._pieces:
            raise KeyError(id_)
        core = core.rstrip(WHITE)
        before = self._prose if gap is None or gap.after is None else self._pieces.get(gap.after)
        if gap is None or before is None:
            before = self._prose.before
            core = core if gap else _with_breaks(core, self._break)
            gap = Gap(before.id, tail=self._break.decode(), lead=self._separation(before).decode())
        rest = _cut_back(before, gap.back)
        lead = gap.lead.encode()
        if not _at_line_start(_ending(before) + lead, first=before is self._prose):
            lead = self._separation(before)
        tail = gap.tail.encode()
        if not tail.endswith(b"\n") and (any(rest) or before.after is not self._prose):
            tail += self._break * 2
        if lead:
            before.tail.append(lead)
        self._link(id_, core, [tail, *rest], before)
        return Gap(before.id, lead.decode(), tail.decode(), sum(map(len, rest)))

    def checked(self, known: Mapping[bytes, tuple[str, bytes]] | None = None) -> Document:
        """Read the resulting document again. It must have the same entries, each with its given core.

        A body can contain text that changes how the rest of the file reads. It may open a fence that another
        entry closes, or have its own frontmatter.
        """
        document = parse(bytes(self), known)
        data, found = document.data, {block.id: block for block in document.blocks}
        for piece in self._in_order():
            block = found.pop(piece.id or "", None)
            if block is None or data[block.start : block.end] != piece.core:
                raise BadInput(
                    f"the text of {piece.id} would not be read as a single entry",
                    todo="Close every code fence in the text. Indent lines that contain only ---, or put them in a code fence.",
                )
        for id_ in found:
            raise BadInput(
                f"the text would add an unexpected entry to the file: {id_}",
                todo="Put example frontmatter in a code fence, and give each entry its own ID.",
            )
        return document

    def _in_order(self) -> Iterator[_Piece]:
        piece = self._prose.after
        while piece is not self._prose:
            yield piece
            piece = piece.after

    def _link(self, id_: str, core: bytes, tail: list[bytes], before: _Piece) -> None:
        piece = self._pieces[id_] = _Piece(id_, core, tail)
        piece.before, piece.after = before, before.after
        before.after.before = before.after = piece

    def _separation(self, before: _Piece) -> bytes:
        """Return the missing line breaks after a piece, for a blank line before the next entry."""
        ending = _ending(before)
        if before is self._prose and ending in {b"", BOM}:
            return b""
        *lines, last = ending.split(b"\n")
        if last:
            return self._break * (2 if last.strip(WHITE) else 1)
        return self._break if lines[-1].strip(WHITE) else b""


def _mostly_crlf(data: bytes) -> bool:
    return 2 * data.count(b"\r\n") > data.count(b"\n")


def _with_breaks(core: bytes, line_break: bytes) -> bytes:
    return core.replace(b"\r\n", b"\n").replace(b"\n", line_break)


def _ending(piece: _Piece) -> bytes:
    """Return the last bytes of a piece, enough to detect a blank line."""
    ending = b""
    for part in reversed((piece.core, *piece.tail)):
        ending = part[-_ENOUGH:] + ending
        if len(ending) >= _ENOUGH:
            break
    return ending


def _at_line_start(before: bytes, *, first: bool) -> bool:
    return before.endswith(b"\n") or (first and before in {b"", BOM})


def _split_white(parts: list[bytes]) -> tuple[bytes, list[bytes]]:
    """Return the whitespace at the start of a text, and the rest of the text."""
    white = b""
    for number, part in enumerate(parts):
        rest = part.lstrip(WHITE)
        white += part[: len(part) - len(rest)]
        if rest:
            return white, [rest, *parts[number + 1 :]]
    return white, []


def _take(piece: _Piece, size: int) -> bytes:
    """Remove the last `size` bytes of a piece's tail and return them.

    Return fewer bytes if the tail is shorter.
    """
    parts: list[bytes] = []
    while size > 0 and piece.tail:
        part = piece.tail.pop()
        if len(part) > size:
            piece.tail.append(part[:-size])
            part = part[-size:]
        parts.append(part)
        size -= len(part)
    return b"".join(reversed(parts))


def _strip_lead(piece: _Piece, lead: bytes, *, first: bool, followed: bool) -> bool:
    """Remove `lead` from the end of a piece.

    Return False if it isn't there, or if the next text would then not start a line.
    """
    if not lead:
        return False
    removed = _take(piece, len(lead))
    if removed == lead and (not followed or _at_line_start(_ending(piece), first=first)):
        return True
    piece.tail.append(removed)
    return False


def _cut(data: bytes, start: int, stop: int, at: list[int]) -> list[bytes]:
    """Return a text in parts. It is cut at those ascending offsets in `at` that are inside it."""
    cuts = [start, *at[bisect_right(at, start) : bisect_left(at, stop)], stop]
    return [data[one:other] for one, other in pairwise(cuts)]


def _cut_back(piece: _Piece, size: int) -> list[bytes]:
    """Remove the broken text of an entry that is restored, and return it.

    Return nothing if the text has changed.
    """
    rest: list[bytes] = []
    while size > 0 and piece.tail:
        rest.insert(0, piece.tail.pop())
        size -= len(rest[0])
    if size == 0 and rest and rest[0].startswith(b"---"):
        return rest
    piece.tail += rest
    return []
