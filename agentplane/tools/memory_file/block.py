"""The managed block, which is agentplane's part of a file that people write.

It is between two marker lines. The first one states the revision, the hash of the content, and the newlines
added around the block, so that removing the block restores the file to the byte. The rest of the file is
never changed.
"""

import re
from typing import Literal

import msgspec

from agentplane.text.json import canonical


_BEGIN = re.compile(
    rb"^<!-- agentplane:begin revision=(?P<revision>[0-9A-Za-z]{0,40}) sha256=(?P<sha256>[0-9a-f]{12})"
    rb" lead=(?P<lead>[0-2]) file=(?P<file>own|new) -->\r?\n",
    re.MULTILINE,
)
_END = re.compile(rb"^<!-- agentplane:end -->(?:\r?\n|\Z)", re.MULTILINE)
_MARK = b"<!-- agentplane:"
_SHORT = 12
_OURS, _BASE, _THEIRS, _OVER = b"<<<<<<< ", b"|||||||", b"=======", b">>>>>>> "
"""The beginnings of Git's conflict marker lines."""


class Block(msgspec.Struct, frozen=True):
    """The position of a block in a file, and the fields of its first marker line."""

    start: int
    """The start of the first marker line, after the newlines that were added before it."""
    inside: int
    until: int
    end: int
    revision: str
    sha256: str
    lead: int
    file: Literal["own", "new"]
    """`new` if the file was made for the block."""

    def content(self, data: bytes) -> bytes:
        return data[self.inside : self.until]

    def is_edited(self, data: bytes) -> bool:
        """True if somebody changed the text between the markers."""
        return _hash(self.content(data)) != self.sha256


def find(data: bytes) -> Block | None:
    """Return the block of a file, or None if it has none or only a part of one."""
    begin = _BEGIN.search(data)
    end = _END.search(data, begin.end()) if begin else None
    if begin is None or end is None:
        return None
    return Block(
        start=begin.start(),
        inside=begin.end(),
        until=end.start(),
        end=end.end(),
        revision=begin["revision"].decode(),
        sha256=begin["sha256"].decode(),
        lead=int(begin["lead"]),
        file="new" if begin["file"] == b"new" else "own",
    )


def is_torn(data: bytes) -> bool:
    """True if a marker line has no partner, so that the extent of the block is unknown."""
    return find(data) is None and bool(_BEGIN.search(data) or _END.search(data))


def settled(data: bytes) -> bytes:
    """Return a file without Git's conflict markers in the block.

    The block then has the lines of both sides, as if somebody had edited it. Conflicts in people's text stay.
    """
    pieces = _pieces(data) if _OURS in data else []
    sides = [b"".join(piece[side] for piece in pieces) for side in (0, 1)]
    blocks = [find(side) for side in sides]
    if not all(blocks):
        return data
    parts, at = [], [0, 0]
    for *both, whole in pieces:
        spans = [(place, place + len(side)) for place, side in zip(at, both, strict=True)]
        at = [end for _, end in spans]
        places = [_place(one, *span) for one, span in zip(blocks, spans, strict=True) if one]
        if "across" in places or (whole != both[0] and len(set(places)) > 1):
            return data
        parts.append(_united(*both) if places[0] == "inside" else whole)
    return b"".join(parts)


def _united(ours: bytes, theirs: bytes) -> bytes:
    """Return the lines of both sides, each once, between the marker lines of `ours`."""
    known = ours.splitlines()
    more = [line for line in theirs.splitlines(True) if line.rstrip(b"\r\n") not in known]
    end = _END.search(ours)
    place = end.start() if end else len(ours)
    return b"".join([ours[:place], *(line for line in more if not line.startswith(_MARK)), ours[place:]])


def is_in_conflict(data: bytes) -> bool:
    """True if Git left a conflict in or around the block that only a person can resolve."""
    if _OURS not in data or settled(data) != data:
        return False
    found = find(data)
    inside = data[found.start : found.end].splitlines() if found else []
    if any(line.startswith((_OURS, _OVER)) for line in inside):
        return True
    return any(_BEGIN.search(whole) for ours, _, whole in _pieces(data) if whole != ours)


def _place(block: Block, start: int, end: int) -> Literal["inside", "outside", "across"]:
    if start >= block.start and end <= block.end and block.start < (start + end) / 2 < block.end:
        return "inside"
    return "outside" if end <= block.start or start >= block.end else "across"


def _pieces(data: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """Return the lines outside of conflicts, and the conflicts. Each has both sides and the text in the file.

    Return an empty list if a conflict marker has no partner.
    """
    found: list[tuple[bytes, bytes, bytes]] = []
    sides: list[list[bytes]] = [[], [], []]
    whole: list[bytes] = []
    side: int | None = None
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        if side is None and line.startswith(_OURS):
            side, sides, whole = 0, [[], [], []], [line]
        elif side is None:
            found.append((line, line, line))
        else:
            whole.append(line)
            if line.startswith(_OVER):
                if side != 1:
                    return []
                found.append((b"".join(sides[0]), b"".join(sides[1]), b"".join(whole)))
                side = None
            elif line.startswith(_BASE) and side == 0:
                side = 2
            elif line.rstrip(b"\r\n") == _THEIRS and side != 1:
                side = 1
            else:
                sides[side].append(line)
    return [] if side is not None else found


def put(data: bytes | None, text: str, revision: str, *, header: bytes = b"") -> bytes:
    """Return the file with this text in its block. The bytes stay the same if the block is current.

    `data` is None for a new file, which begins with `header`.
    """
    old = header if data is None else settled(data)
    found = find(old)
    ending = b"\r\n" if _is_crlf(old[: found.start] if found else old) else b"\n"
    content = text.encode().replace(b"\r\n", b"\n").replace(b"\n", ending)
    if not content.endswith(ending):
        content += ending
    if found:
        file, lead = found.file, found.lead
        before, after = old[: found.start], old[found.end :]
    else:
        file = "new" if data is None else "own"
        gap = _gap(old, ending)
        lead = len(gap) // len(ending)
        before, after = old + gap, b""
    return before + between_marks(content, revision, lead=lead, file=file) + after


def between_marks(
    content: bytes, revision: str, *, lead: int, file: Literal["own", "new"], sha256: str | None = None
) -> bytes:
    """Return a block with this content. `sha256` replaces the hash of the content in its marker line."""
    ending = b"\r\n" if content.endswith(b"\r\n") else b"\n"
    stated = sha256 or _hash(content)
    begin = f"<!-- agentplane:begin revision={revision} sha256={stated} lead={lead} file={file} -->"
    return begin.encode() + ending + content + b"<!-- agentplane:end -->" + ending


def is_whole(data: bytes) -> bool:
    """True if a file has exactly one block, and no other marker."""
    return find(data) is not None and len(_BEGIN.findall(data)) == 1 and len(_END.findall(data)) == 1


def without(data: bytes) -> bytes | None:
    """Return the file as it was before it had a block, or None if it was made for the block alone."""
    data = settled(data)
    found = find(data)
    if found is None:
        return data
    before, after = data[: found.start], data[found.end :]
    ending = b"\r\n" if data[: found.inside].endswith(b"\r\n") else b"\n"
    for _ in range(found.lead):
        before = before.removesuffix(ending)
    rest = before + after
    return None if found.file == "new" and not rest.strip() else rest


def _gap(data: bytes, ending: bytes) -> bytes:
    """Return the newlines that separate people's text from the block by an empty line."""
    if not data:
        return b""
    return ending if data.endswith(b"\n") else ending * 2


def _is_crlf(data: bytes) -> bool:
    """True if most lines of a file have Windows line endings."""
    return data.count(b"\r\n") * 2 > data.count(b"\n") > 0


def _hash(content: bytes) -> str:
    """Return the hash of the lines. It ignores line endings, because Git may convert them."""
    return canonical.sha256(content.replace(b"\r\n", b"\n"))[:_SHORT]
