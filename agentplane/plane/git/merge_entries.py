"""A three-way merge of memory files, entry by entry.

The result is the same to the byte, whichever side is called `ours`. Two clones that merge the same branches
in opposite directions therefore end with the same file. If both sides changed one entry, both texts stay, one
after the other under one id. `settle` knows the operations, so it decides which text counts.
"""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec

from agentplane.plane.git import merge_file
from agentplane.text.markdown import document
from agentplane.text.markdown.document import WHITE


VIEWS = frozenset({"state.json", "artifacts.json"})
"""Files of the memory that are derived from the others."""
_DERIVED_FOLDER = "context"


class Merged(msgspec.Struct, frozen=True):
    data: bytes
    clean: bool = True
    """False if the sides conflict. Then `data` contains both, with Git's markers."""


class _Piece(msgspec.Struct, frozen=True, gc=False):
    """An entry, or a text that can't be read as an entry, with the whitespace after it."""

    key: tuple[str, str]
    core: bytes
    tail: bytes


class _Parts(msgspec.Struct, frozen=True):
    prose: bytes
    gap: bytes
    """The whitespace after the prose."""
    pieces: tuple[_Piece, ...]
    line_break: bytes

    @property
    def by_key(self) -> dict[tuple[str, str], _Piece]:
        return {piece.key: piece for piece in self.pieces}

    @property
    def keys(self) -> list[tuple[str, str]]:
        return [piece.key for piece in self.pieces]

    @property
    def ending(self) -> bytes | None:
        """The whitespace at the end of the file, after its last entry."""
        return self.pieces[-1].tail if self.pieces else None


def merge(base: bytes, ours: bytes, theirs: bytes, path: str) -> Merged:
    """Return the merged content for the file at this path."""
    if ours == theirs:
        return Merged(ours)
    if Path(path).name in VIEWS or Path(path).parent.name == _DERIVED_FOLDER:
        return Merged(max(ours, theirs, key=lambda data: (len(data), data)))
    if base in (ours, theirs):
        return Merged(theirs if base == ours else ours)
    old, one, other = _parts(base), *sorted(map(_parts, (ours, theirs)), key=_bytes)
    made = _assembled(old, one, other)
    if _holds(made, _result(old, one, other)):
        return Merged(made)
    return Merged(*_by_lines(base, ours, theirs))


def blend(base: bytes, one: bytes, other: bytes) -> set[bytes]:
    """Return the texts that Git's line-by-line merge can produce without agentplane's driver.

    No person wrote them.
    """
    found = (_git_merge(base, *pair) for pair in ((one, other), (other, one)))
    return {made[0] for made in found if made is not None}


def _parts(data: bytes) -> _Parts:
    read = document.parse(data)
    spans = [(block.start, block.end, ("entry", block.id)) for block in read.blocks]
    for piece in read.troubles:
        core = data[piece.start : piece.end]
        # Prose that isn't UTF-8 is a problem of the whole file, and not a piece of it.
        if core.startswith(b"---"):
            spans.append((piece.start, piece.end, ("text", document.digest(core))))
    spans.sort()
    starts = [start for start, _, _ in spans]
    pieces: dict[tuple[str, str], _Piece] = {}
    for (start, _, key), stop in zip(spans, [*starts[1:], len(data)], strict=False):
        core = data[start:stop].rstrip(WHITE)
        pieces.setdefault(key, _Piece(key, core, data[start + len(core) : stop]))
    before = data[: starts[0] if starts else len(data)]
    prose = before.rstrip(WHITE)
    return _Parts(
        prose,
        before[len(prose) :],
        tuple(pieces.values()),
        b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n",
    )


def _bytes(parts: _Parts) -> bytes:
    return parts.prose + parts.gap + b"".join(piece.core + piece.tail for piece in parts.pieces)


def _result(old: _Parts, one: _Parts, other: _Parts) -> list[_Piece]:
    """Return the pieces of the result, in order. An entry that both sides changed is in it twice."""
    before, mine, yours = old.by_key, one.by_key, other.by_key
    pieces = []
    for key in _order(old, one, other):
        found = _piece(before.get(key), mine.get(key), yours.get(key))
        pieces += found
    return pieces


def _piece(base: _Piece | None, one: _Piece | None, other: _Piece | None) -> list[_Piece]:
    if one is None or other is None:
        left = one or other
        return [left] if left and (base is None or base.core != left.core) else []
    tail = _chosen(base.tail if base else None, one.tail, other.tail)
    if base is not None and base.core in (one.core, other.core):
        core = other.core if base.core == one.core else one.core
        return [_Piece(one.key, core, tail)]
    cores = sorted({one.core, other.core})
    if document.digest(one.core) == document.digest(other.core):
        cores = cores[:1]
    return [_Piece(one.key, core, tail) for core in cores]


def _chosen(base: bytes | None, one: bytes, other: bytes) -> bytes:
    if other in (one, base):
        return one
    return other if base == one else max(one, other, key=lambda text: (len(text), text))


def _order(old: _Parts, one: _Parts, other: _Parts) -> Iterator[tuple[str, str]]:
    """Yield the keys that both sides have, in order. After each come the keys that only one side has there."""
    shared = set(one.keys) & set(other.keys)
    first, second = one, other
    was = [key for key in old.keys if key in shared]
    if [key for key in one.keys if key in shared] == was:
        # The other side may have moved entries. If so, use its order.
        first, second = other, one
    rest = _behind(second, shared)
    for anchor, own in _behind(first, shared).items():
        if anchor is not None:
            yield anchor
        runs = sorted(run for run in (own, rest.get(anchor, [])) if run)
        for run in runs:
            yield from run


def _behind(
    parts: _Parts, shared: set[tuple[str, str]]
) -> dict[tuple[str, str] | None, list[tuple[str, str]]]:
    found: dict[tuple[str, str] | None, list[tuple[str, str]]] = {None: []}
    anchor = None
    for key in parts.keys:
        if key in shared:
            anchor = key
            found[anchor] = []
        else:
            found[anchor].append(key)
    return found


def _assembled(old: _Parts, one: _Parts, other: _Parts) -> bytes:
    pieces = _result(old, one, other)
    prose = _prose(old.prose, one.prose, other.prose)
    if not pieces:
        return prose + _chosen(old.gap, one.gap, other.gap)
    ends = {(parts.pieces[-1].key, parts.ending) for parts in (old, one, other) if parts.pieces}
    line_break = one.line_break
    made = [prose, _gap(prose, [parts.gap for parts in (one, other) if parts.pieces], line_break)]
    for piece, follows in zip_longest(pieces, pieces[1:]):
        tail = piece.tail
        if follows is None:
            tail = _ending(old, one, other) if (piece.key, tail) not in ends else tail
        elif b"\n" not in tail or (piece.key, tail) in ends:
            tail = _apart(b"x" + tail, line_break)[1:]
        made += [piece.core, tail]
    return b"".join(made)


def _gap(prose: bytes, found: Sequence[bytes], line_break: bytes) -> bytes:
    gap = max(found, key=lambda text: (len(text), text))
    if prose in {b"", document.BOM} or b"\n" in gap:
        return gap
    return line_break * 2


def _ending(old: _Parts, one: _Parts, other: _Parts) -> bytes:
    found = [parts.ending for parts in (one, other) if parts.ending is not None]
    return found[0] if len(found) == 1 else _chosen(old.ending, found[0], found[1])


def _apart(text: bytes, line_break: bytes) -> bytes:
    """Return the text with a blank line after it."""
    lines = text.replace(b"\r\n", b"\n")
    missing = 0 if lines.endswith(b"\n\n") else 1 if lines.endswith(b"\n") else 2
    return text + line_break * missing


def _prose(base: bytes, one: bytes, other: bytes) -> bytes:
    if other in (one, base):
        return one
    if base == one:
        return other
    found = _git_merge(base + b"\n", one + b"\n", other + b"\n", union=True)
    return found[0].rstrip(WHITE) if found else one + b"\n" + other


def _holds(data: bytes, pieces: Sequence[_Piece]) -> bool:
    """True if parsing the file returns the pieces that it was built from."""
    read = document.parse(data)
    found = [(block.start, data[block.start : block.end]) for block in read.blocks]
    found += [(piece.start, data[piece.start : piece.end]) for piece in read.troubles]
    texts = {text.rstrip(WHITE) for _, text in sorted(found)}
    ids = {key[1] for piece in pieces if (key := piece.key)[0] == "entry"}
    return all(piece.core in texts for piece in pieces) and ids == {block.id for block in read.blocks}


def _by_lines(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """Merge as Git merges any text. If that fails too, return both texts in full, with Git's markers."""
    found = _git_merge(base, ours, theirs)
    if found:
        return found[0], found[1] == 0
    marks = (b"<<<<<<< ours\n", b"\n=======\n", b"\n>>>>>>> theirs\n")
    return marks[0] + ours + marks[1] + theirs + marks[2], False


def _git_merge(base: bytes, one: bytes, other: bytes, *, union: bool = False) -> tuple[bytes, int] | None:
    """Return the merged text and its number of conflicts, or None if Git can't merge it."""
    with tempfile.TemporaryDirectory() as folder:
        names = ("ours", "base", "theirs")
        for name, data in zip(names, (one, base, other), strict=True):
            (Path(folder) / name).write_bytes(data)
        return merge_file.merge(Path(folder), union=union)
