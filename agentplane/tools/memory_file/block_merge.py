"""A three-way merge of files with a managed block.

The block is merged entry by entry. The result has the entries common to both sides and the entries that one
side added. Git merges the rest of the file, so conflicts in people's text are Git's. A block that one side
removed is removed, unless the other side edited it. Otherwise, if one side has no block, only Git merges
the file.

The block doesn't depend on the order of the sides. Every line of the result comes from one of the two blocks,
except for the title. If both sides changed the title, it states the revision `merged`. Such a block is out of
date until it is written again from the memory.
"""

import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from agentplane.context import pack_text
from agentplane.context.choose import KINDS, PINNED
from agentplane.plane.git import merge_file
from agentplane.plane.git.merge_file import Marks
from agentplane.tools.memory_file import block
from agentplane.tools.memory_file.block import Block


REVISION = "merged"
"""The revision that a merged block states until it is written again from the memory."""
_LARGEST = 4 << 20
"""Maximum size in bytes. Only Git merges larger files."""
_HEADING = b"## "
_KNOWN = [pack_text.heading(name).encode() for name in (KINDS[0], PINNED, *KINDS[1:])]
_LAST = pack_text.NOT_IN_HERE.encode()
_SINCE = re.compile(rb"- [^ ]+ \[([0-9-]{10})\]")
_CONFLICT = re.compile(rb"^(?:<{7}|>{7}|\|{7})", re.MULTILINE)
_T = TypeVar("_T", bound=int | str | bytes)


class Merged(msgspec.Struct, frozen=True):
    data: bytes
    conflicts: int = 0
    """Number of conflicts that Git marked in the file."""


class Sides(msgspec.Struct, frozen=True):
    """The three versions of a file."""

    base: bytes
    ours: bytes
    theirs: bytes

    @property
    def all(self) -> tuple[bytes, bytes, bytes]:
        return self.base, self.ours, self.theirs


class _Pack(msgspec.Struct, frozen=True):
    """The content of a block, as lines before the first heading and the items below each heading."""

    head: bytes
    sections: dict[bytes, tuple[bytes, ...]]


def merge(sides: Sides, marks: Marks | None = None) -> Merged:
    """Return the merged file."""
    marks = marks or Marks()
    if max(map(len, sides.all)) > _LARGEST:
        return by_git(sides, marks)
    made = _with_block(sides, marks) if _is_fit(sides) else None
    return made or _without_block(sides, marks) or by_git(sides, marks)


def by_git(sides: Sides, marks: Marks) -> Merged:
    """Return Git's merge of any text. If Git can't merge it, return the side of the current branch."""
    found = _git_merge(sides, marks)
    return Merged(sides.ours, 1) if found is None else Merged(*found)


def _is_fit(sides: Sides) -> bool:
    return all(block.is_whole(data) and not _CONFLICT.search(_content(data)) for data in sides.all[1:])


def _without_block(sides: Sides, marks: Marks) -> Merged | None:
    """Return the merged file if one side removed the block and the other side didn't edit it, or None."""
    whole = [side for side in sides.all[1:] if block.is_whole(side)]
    removed = [side for side in sides.all[1:] if block.find(side) is None and not block.is_torn(side)]
    if not (len(whole) == len(removed) == 1 and block.is_whole(sides.base)):
        return None
    one = block.find(whole[0])
    if one is None or one.is_edited(whole[0]):
        return None
    found = _git_merge(Sides(*(block.without(data) or b"" for data in sides.all)), marks)
    return None if found is None else Merged(*found)


def _content(data: bytes) -> bytes:
    found = block.find(data)
    return found.content(data) if found else b""


def _with_block(sides: Sides, marks: Marks) -> Merged | None:
    """Return the merged file, or None if one side has no block or the block is part of a conflict."""
    made = _block(sides)
    token = _token(hashlib.sha256(b"\0".join(sides.all)).hexdigest())
    found = _git_merge(Sides(*(_replaced(data, token) for data in sides.all)), marks)
    if (
        made is None
        or found is None
        or found[0].count(token) != 1
        or _is_in_conflict(found[0], token, marks.size)
    ):
        return None
    return Merged(found[0].replace(token, made), found[1])


def _token(name: str) -> bytes:
    """Return several placeholder lines for the block, because Git joins conflicts that are close together."""
    return b"".join(b"<!-- agentplane:block %s %d -->\n" % (name.encode(), number) for number in range(6))


def _replaced(data: bytes, token: bytes) -> bytes:
    """Return the file with placeholder lines instead of its block."""
    found = block.find(data) if block.is_whole(data) else None
    return data if found is None else data[: found.start] + token + data[found.end :]


def _is_in_conflict(data: bytes, token: bytes, size: int) -> bool:
    inside = False
    for line in data[: data.index(token)].splitlines():
        if line.startswith(b"<" * size + b" "):
            inside = True
        elif line.startswith(b">" * size + b" "):
            inside = False
    return inside


def _block(sides: Sides) -> bytes | None:
    base = block.find(sides.base) if block.is_whole(sides.base) else None
    ours, theirs = block.find(sides.ours), block.find(sides.theirs)
    if ours is None or theirs is None:
        return None
    whole = (
        None if base is None else sides.base[base.start : base.end],
        sides.ours[ours.start : ours.end],
        sides.theirs[theirs.start : theirs.end],
    )
    if whole[1] == whole[2] or whole[2] == whole[0]:
        return whole[1]
    if whole[1] == whole[0]:
        return whole[2]
    edited = [one.sha256 for one, data in ((ours, sides.ours), (theirs, sides.theirs)) if one.is_edited(data)]
    return block.between_marks(
        _merged_content(*map(_content, (sides.base if base else b"", sides.ours, sides.theirs))),
        _chosen(base.revision if base else None, ours.revision, theirs.revision, REVISION),
        lead=_chosen(base.lead if base else None, ours.lead, theirs.lead, max(ours.lead, theirs.lead)),
        file="own" if _is_own(base, ours, theirs) else "new",
        # A person's text in the block must still count as an edit. Otherwise the next sync silently drops it.
        sha256=max(edited, default=None),
    )


def _is_own(base: Block | None, ours: Block, theirs: Block) -> bool:
    return _chosen(base.file if base else None, str(ours.file), str(theirs.file), "own") == "own"


def _chosen(base: _T | None, one: _T, other: _T, otherwise: _T) -> _T:
    """Return the value of a three-way merge, or `otherwise` if both sides changed it."""
    if other in (one, base):
        return one
    return other if base == one else otherwise


def _merged_content(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    crlf = [text.endswith(b"\r\n") for text in (base, ours, theirs)]
    ends_as_windows = _chosen(crlf[0], crlf[1], crlf[2], crlf[1])
    plain = Sides(*(text.replace(b"\r\n", b"\n") for text in (base, ours, theirs)))
    read = [_read(text) for text in plain.all]
    packs = [one for one in read if one is not None]
    if len(packs) < 3:
        made = _by_lines(plain)
    else:
        old, (one, other) = packs[0], sorted(packs[1:], key=_text)
        made = _text(_merged_packs(old, one, other))
    return made.replace(b"\n", b"\r\n") if ends_as_windows else made


def _by_lines(sides: Sides) -> bytes:
    """Merge a block in another form by keeping the lines of both sides."""
    ours, theirs = sorted((sides.ours, sides.theirs))
    found = _git_merge(Sides(sides.base, ours, theirs), None)
    return found[0] if found else ours + theirs


def _read(text: bytes) -> _Pack | None:
    """Return the parts of a block, or None if joining them doesn't restore the text."""
    head: list[bytes] = []
    sections: dict[bytes, list[bytes]] = {}
    items: list[bytes] | None = None
    for line in text.splitlines(keepends=True):
        if line.startswith(_HEADING):
            items = sections.setdefault(line.rstrip(b"\n"), [])
        elif items is None:
            head.append(line)
        elif line.startswith(b"  ") and items:
            items[-1] += line
        elif line.strip():
            items.append(line)
    before = b"".join(head)
    made = _Pack(
        before.removesuffix(b"\n") if sections else before,
        {heading: tuple(dict.fromkeys(items)) for heading, items in sections.items()},
    )
    return made if _text(made) == text else None


def _text(made: _Pack) -> bytes:
    parts = [made.head]
    for heading, items in made.sections.items():
        parts += [b"\n", heading, b"\n\n", *items]
    return b"".join(parts)


def _merged_packs(old: _Pack, one: _Pack, other: _Pack) -> _Pack:
    headings = sorted({*one.sections, *other.sections}, key=_place)
    sections = {
        heading: _items(*(side.sections.get(heading, ()) for side in (old, one, other)))
        for heading in headings
    }
    return _Pack(
        _head(old.head, one.head, other.head), {name: items for name, items in sections.items() if items}
    )


def _place(heading: bytes) -> tuple[int, bytes]:
    """Sort key for headings. Built-in kinds come first, then custom kinds, then the left-out entries."""
    if heading == _LAST:
        return len(_KNOWN) + 1, heading
    return _KNOWN.index(heading) if heading in _KNOWN else len(_KNOWN), heading


def _head(base: bytes, one: bytes, other: bytes) -> bytes:
    found = _chosen(base, one, other, max(one, other))
    if found == base or one == other or base in (one, other):
        return found
    first, end, rest = found.partition(b"\n")
    title = pack_text.read_title(first.decode(errors="replace"))
    if title is None:
        return found
    named = f"revision {title.revision}".encode()
    return first.replace(named, f"revision {REVISION}".encode(), 1) + end + rest


def _items(base: Sequence[bytes], one: Sequence[bytes], other: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the items that both sides have and the items that one side added, with their following lines."""
    before, mine, yours = set(base), set(one), set(other)
    merged = (mine & yours) | ((mine | yours) - before)
    latest: dict[bytes, bytes] = {}
    for item in merged:
        same = _undated(item)
        latest[same] = max(latest.get(same, b""), item)
    return tuple(item for item in _ordered(base, one, other) if latest.get(_undated(item)) == item)


def _undated(item: bytes) -> bytes:
    first, end, rest = item.partition(b"\n")
    found = pack_text.read_item(first.decode(errors="surrogateescape"))
    return found.undated.encode(errors="surrogateescape") + end + rest if found else item


def _ordered(base: Sequence[bytes], one: Sequence[bytes], other: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the items of both sides in the order of a pack. Between common items, newest come first."""
    shared = set(one) & set(other)
    first, second = one, other
    if [item for item in one if item in shared] == [item for item in base if item in shared]:
        first, second = other, one  # the other side may have moved items
    rest = _runs(second, shared)
    for anchor, own in _runs(first, shared).items():
        if anchor is not None:
            yield anchor
        yield from sorted({*own, *rest[anchor]}, key=_newest_first)


def _runs(items: Sequence[bytes], shared: set[bytes]) -> dict[bytes | None, list[bytes]]:
    """Return the items that only one side has, by the shared item before them."""
    found: dict[bytes | None, list[bytes]] = {None: []}
    anchor = None
    for item in items:
        if item in shared:
            anchor = item
            found[anchor] = []
        else:
            found[anchor].append(item)
    return found


def _newest_first(item: bytes) -> tuple[int, bytes]:
    found = _SINCE.match(item)
    digits = found[1].replace(b"-", b"") if found else b""
    return -int(digits or b"0"), item


def _git_merge(sides: Sides, marks: Marks | None) -> tuple[bytes, int] | None:
    """Merge text with Git. Without marks, the result has the lines of both sides."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in zip(("base", "ours", "theirs"), sides.all, strict=True):
            (Path(folder) / name).write_bytes(data)
        return merge_file.merge(Path(folder), union=marks is None, marks=marks)
