"""The managed block: our part of a file that belongs to others.

Two marker lines hold it. The first states the revision, the hash of what stands between them, and what was added
around the block, so that taking it out leaves the file as it was to the byte. All else in the file is never touched.
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
"""How the lines begin between which git writes what it could not merge."""


class Block(msgspec.Struct, frozen=True):
    """Where a block stands in a file, and what it states of itself."""

    start: int
    """Of the first marker line, without what was added before it."""
    inside: int
    until: int
    end: int
    revision: str
    sha256: str
    lead: int
    file: Literal["own", "new"]
    """`new`: the file was made for the block."""

    def content(self, data: bytes) -> bytes:
        return data[self.inside : self.until]

    def is_edited(self, data: bytes) -> bool:
        """Whether somebody changed what stands between the markers."""
        return _hash(self.content(data)) != self.sha256


def find(data: bytes) -> Block | None:
    """The block of a file; None where there is none, or only a piece of one."""
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
    """Whether a marker stands there without its partner: then nobody can say what is ours."""
    return find(data) is None and bool(_BEGIN.search(data) or _END.search(data))


def settled(data: bytes) -> bytes:
    """Without the marks of what git could not merge inside of the block: the lines of both sides stand in it, as if
    somebody had edited it. Conflicts in the text of others stay.
    """
    pieces = _pieces(data) if _OURS in data else []
    sides = [b"".join(piece[side] for piece in pieces) for side in (0, 1)]
    blocks = [find(side) for side in sides]
    if not all(blocks):
        return data
    kept, at = [], [0, 0]
    for *both, whole in pieces:
        spans = [(place, place + len(side)) for place, side in zip(at, both, strict=True)]
        at = [end for _, end in spans]
        places = [_place(one, *span) for one, span in zip(blocks, spans, strict=True) if one]
        if "across" in places or (whole != both[0] and len(set(places)) > 1):
            return data
        kept.append(_united(*both) if places[0] == "inside" else whole)
    return b"".join(kept)


def _united(ours: bytes, theirs: bytes) -> bytes:
    """The lines of both, each once, between the marker lines of ours."""
    known = ours.splitlines()
    more = [line for line in theirs.splitlines(True) if line.rstrip(b"\r\n") not in known]
    end = _END.search(ours)
    place = end.start() if end else len(ours)
    return b"".join([ours[:place], *(line for line in more if not line.startswith(_MARK)), ours[place:]])


def is_in_conflict(data: bytes) -> bool:
    """Whether a conflict of git's stands in the block, or around it, that only a person can settle."""
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
    """The text between conflicts, and each conflict: its two sides, and as it stands. Nothing where a marker is alone."""
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
    """The file with the block holding this text. The same bytes where it is current.

    None: there is no file yet; then `header` is what it begins with.
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
    """Return a block with this content. `sha256` is the hash that the block states, if it isn't that of the content."""
    ending = b"\r\n" if content.endswith(b"\r\n") else b"\n"
    stated = sha256 or _hash(content)
    begin = f"<!-- agentplane:begin revision={revision} sha256={stated} lead={lead} file={file} -->"
    return begin.encode() + ending + content + b"<!-- agentplane:end -->" + ending


def is_whole(data: bytes) -> bool:
    """True if a file has exactly one block, and no marker next to it."""
    return find(data) is not None and len(_BEGIN.findall(data)) == 1 and len(_END.findall(data)) == 1


def without(data: bytes) -> bytes | None:
    """The file as it was before there was a block in it; None: it was made for the block, and nothing else is in it."""
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
    """What goes between the text of others and the block: an empty line."""
    if not data:
        return b""
    return ending if data.endswith(b"\n") else ending * 2


def _is_crlf(data: bytes) -> bool:
    """Whether most lines of a file end as they do on Windows."""
    return data.count(b"\r\n") * 2 > data.count(b"\n") > 0


def _hash(content: bytes) -> str:
    """Of the lines, however they end: git may change that on the way."""
    return canonical.sha256(content.replace(b"\r\n", b"\n"))[:_SHORT]
