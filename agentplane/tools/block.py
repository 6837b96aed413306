"""The managed block: our part of a file that belongs to others.

Two marker lines hold it. The first states the revision, the hash of what stands between them, and what was added
around the block, so that taking it out leaves the file as it was to the byte. All else in the file is never touched.
"""

import re
from typing import Literal

import msgspec

from agentplane.text import canonical


_BEGIN = re.compile(
    rb"^<!-- agentplane:begin revision=(?P<revision>[0-9A-Za-z]{0,40}) sha256=(?P<sha256>[0-9a-f]{12})"
    rb" lead=(?P<lead>[0-2]) file=(?P<file>own|new) -->\r?\n",
    re.MULTILINE,
)
_END = re.compile(rb"^<!-- agentplane:end -->(?:\r?\n|\Z)", re.MULTILINE)
_SHORT = 12


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


def put(data: bytes | None, text: str, revision: str, *, header: bytes = b"") -> bytes:
    """The file with the block holding this text. The same bytes where it is current.

    None: there is no file yet; then `header` is what it begins with.
    """
    old = header if data is None else data
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
    begin = f"<!-- agentplane:begin revision={revision} sha256={_hash(content)} lead={lead} file={file} -->"
    return before + begin.encode() + ending + content + b"<!-- agentplane:end -->" + ending + after


def without(data: bytes) -> bytes | None:
    """The file as it was before there was a block in it; None: it was made for the block, and nothing else is in it."""
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
