"""The hash chain of a log: made, verified and merged on raw bytes, without parsing JSON.

A line is the canonical JSON of an event with its `hash_self` moved last; `hash_self` is the hash of
all bytes before it, and `hash_prev` is the `hash_self` of an event above. A merge event also names
the other heads that it joins. So a log is a DAG in which each event stands below those it names.

What the chain alone cannot see: that events which no other event names were cut off, at the end
of the file or at the end of a branch that is not joined yet; and that events of two branches, which
do not name each other, changed places.
"""

import re
from binascii import unhexlify
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from typing import Any, BinaryIO

import msgspec

from agentplane.errors import BadInput, Damaged
from agentplane.text import canonical, files


GENESIS = "0" * 64
"""What the first event of a history names as the one before it."""

_PREV = b'"hash_prev":"'
_SELF = b',"hash_self":"'
_END = b'"}\n'
_TAIL = len(_SELF) + 64 + len(_END)
_STATED = slice(-64 - len(_END), -len(_END))
_HASH = re.compile(rb"[0-9a-f]{64}")
_STATES = re.compile(rb',"hash_self":"([0-9a-f]{64})"')
_OPENING = ord("{")
_FIRST_KEY = b'{"hash_prev":'
# Canonical JSON sorts keys, so a merge event has this form, and `link` gives it to no other event.
_MERGE = re.compile(
    rb'\{"hash_prev":"([0-9a-f]{64})","heads":\[("[0-9a-f]{64}"(?:,"[0-9a-f]{64}")+)\],'
    rb'"kind":"merge","ts":"[^"\\\x00-\x1f]*","hash_self":"[0-9a-f]{64}"\}\n'
)
_CONFLICT_MARKS = (b"<<<<<<< ", b"=======", b">>>>>>> ", b"||||||| ")
_BLOCK = 1 << 16

_CHANGED = "was changed: its hash does not fit"
_GONE = "follows an event that is not above it: a line was removed or moved"


class Fault(msgspec.Struct, frozen=True):
    line: int
    what: str
    lines: int = 1
    """How many lines in a row, from `line` on, say the same."""


class Torn(msgspec.Struct, frozen=True):
    """A last line that was not written to its end."""

    offset: int
    line: int


class Report(msgspec.Struct, frozen=True):
    count: int
    """Events, without repeats and without the torn line."""
    heads: tuple[str, ...]
    """Events that no other names, in the order of the file; a best guess where there are faults."""
    head_lines: tuple[int, ...]
    faults: tuple[Fault, ...]
    torn: Torn | None


class Tail(msgspec.Struct, frozen=True):
    size: int
    head: str | None
    """The hash that the last complete line states; None where there is none."""
    torn_at: int | None


def link(event: Mapping[str, Any], prev: str) -> bytes:
    """The whole line of an event that follows `prev`."""
    if event.get("kind") == "merge":
        raise BadInput("an event of this kind is made by joining heads", where="kind")
    return _line(event, prev)


def join(heads: Sequence[str], ts: str) -> bytes:
    """The line that joins heads; the same for everyone who joins these heads with this ts."""
    named = sorted(set(heads))
    if len(named) < 2:
        raise BadInput("a merge joins two heads or more", where="heads")
    if not all(_is_hash(head) for head in named):
        raise BadInput("a merge names the hashes of events", where="heads")
    line = _line({"kind": "merge", "heads": named, "ts": ts}, named[0])
    if not _MERGE.fullmatch(line):
        raise BadInput("is no plain time", where="ts")
    return line


def hash_of(line: bytes) -> str:
    """The hash that a line states for itself."""
    if not _has_form(line):
        raise Damaged("a line is no event", todo="Run `agentplane doctor`, which names the line.")
    return line[_STATED].decode()


def lines(path: files.StrPath, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each complete line, from an offset at which a line begins."""
    with files.reading(path) as stream:
        stream.seek(start)
        for line in stream:
            if not line.endswith(b"\n"):
                return
            yield start, line
            start += len(line)


def heads(path: files.StrPath) -> tuple[str, ...]:
    """The heads of a log that verifies; reads all of it."""
    report = verify(path)
    _must_be_sound(report, str(path))
    return report.heads


def verify(path: files.StrPath) -> Report:
    with files.reading(path) as stream:
        return verify_lines(stream)


def verify_lines(log: Iterable[bytes]) -> Report:
    """Names each damaged line, and goes on from what it states, so that one damage is one fault."""
    rest = iter(log)
    digests, size, odd = _straight(rest, unhexlify(GENESIS))
    if odd is None:
        last = (digests[-32:].hex(),) if digests else ()
        count = len(digests) // 32
        return Report(count=count, heads=last, head_lines=(count,) * len(last), faults=(), torn=None)
    walk = _Walk()
    walk.take_straight(digests, size)
    while odd is not None:
        walk.take(odd)
        if walk.torn:
            odd = next(rest, None)
        else:
            digests, size, odd = _straight(rest, walk.last)
            walk.take_straight(digests, size)
    return walk.report()


def tail(path: files.StrPath) -> Tail:
    """Reads only the end of the file, and believes what its last complete line states."""
    with files.reading(path) as stream:
        size = stream.seek(0, 2)
        torn_at = _torn_at(stream, size)
        end = size if torn_at is None else torn_at
        line = _between(stream, _line_begin(stream, end), end)
    if line and not _has_form(line):
        todo = "Run `agentplane doctor`."
        raise Damaged("its last line is no event", where=str(path), todo=todo)
    return Tail(size=size, head=line[_STATED].decode() if line else None, torn_at=torn_at)


def mend_torn(path: files.StrPath) -> str | None:
    """Ends the log with a complete line again and says how; None where it does. Needs the plane's lock."""
    with files.reading(path) as stream:
        size = stream.seek(0, 2)
        torn_at = _torn_at(stream, size)
        if torn_at is None:
            return None
        rest = _between(stream, torn_at, size)
    event = rest.rstrip(b"\0\r")
    if not _is_intact(event + b"\n"):
        files.truncate(path, torn_at)
        return f"cut off {len(rest)} bytes of a last line that was not written to its end"
    files.truncate(path, torn_at + len(event))
    files.append(path, b"\n")
    return "ended its last line, which was complete but for the newline"


def merge(ours: bytes, theirs: bytes, ts: str) -> bytes:
    """One history that holds both: common lines, only ours, only theirs, and what joins the heads."""
    mine, other = _sound_lines(ours, "our log"), _sound_lines(theirs, "their log")
    if other.keys() <= mine.keys():
        return _joined(mine, ts)
    if mine.keys() <= other.keys():
        return _joined(other, ts)
    common = dict.fromkeys(line for line in mine if line in other)
    return _joined(common | mine | other, ts)


def unite(log: bytes, ts: str) -> bytes:
    """What git's union of two logs should have been: no line twice, and one head."""
    return _joined(dict.fromkeys(BytesIO(log)), ts)


def _line(event: Mapping[str, Any], prev: str) -> bytes:
    if not _is_hash(prev):
        raise BadInput("is no hash of an event", where="hash_prev")
    body = canonical.dumps({**event, "hash_prev": prev})
    # In canonical JSON only a key ends in `":`, so these bytes are keys, or the ends of odd ones.
    if "hash_prev" in event or body.count(b'"hash_prev":') != 1 or b'"hash_self":' in body:
        raise BadInput("holds a key that is reserved for the chain: hash_prev or hash_self", where="event")
    content = body[:-1]
    return content + _SELF + sha256(content).hexdigest().encode() + _END


def _is_hash(text: str) -> bool:
    return _HASH.fullmatch(text.encode(errors="replace")) is not None


def _has_form(line: bytes) -> bool:
    """Whether a line ends as an event does."""
    ends = line[-_TAIL : -_TAIL + len(_SELF)] == _SELF and line.endswith(_END)
    return ends and _HASH.fullmatch(line[_STATED]) is not None


def _is_intact(line: bytes) -> bool:
    return _has_form(line) and sha256(line[:-_TAIL]).hexdigest().encode() == line[_STATED]


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _straight(log: Iterator[bytes], last: bytes) -> tuple[bytearray, int, bytes | None]:
    """The digests of the next lines that each follow the one above, their size, and the line after.

    Nearly all lines of nearly all logs are read here and nowhere else.
    """
    digests, size = bytearray(), 0
    want = _PREV + last.hex().encode() + b'"'
    for line in log:
        digest = sha256(line[:-_TAIL])
        stated = digest.hexdigest().encode()
        at = line.find(_PREV)
        if not (
            line[-_TAIL:] == _SELF + stated + _END
            and line[at : at + len(want)] == want
            and line.rfind(_PREV) == at
            and line[0] == _OPENING
            and not line.startswith(_FIRST_KEY)
            and (line.isascii() or _is_utf8(line))
        ):
            return digests, size, line
        digests += digest.digest()
        size += len(line)
        want = _PREV + stated + b'"'
    return digests, size, None


def _parents(line: bytes) -> tuple[bytes, ...]:
    """The digests of the events that a line names; none where it names them in no proper way."""
    if line.startswith(_FIRST_KEY) and (found := _MERGE.fullmatch(line)):
        named = found[2].replace(b'"', b"").split(b",")
        proper = named == sorted(set(named)) and named[0] == found[1]
        return tuple(map(unhexlify, named)) if proper else ()
    begin = line.find(_PREV) + len(_PREV)
    prev = line[begin : begin + 64]
    proper = line.count(_PREV) == 1 and _HASH.fullmatch(prev) and line[begin + 64 : begin + 65] == b'"'
    return (unhexlify(prev),) if proper else ()


class _Found(msgspec.Struct):
    """A fault while the walk goes on."""

    line: int
    what: str
    away: int = 0
    """How many lines below it the line stands that `what` speaks of."""
    lines: int = 1

    def fault(self) -> Fault:
        return Fault(line=self.line, what=self.what.format(self.line + self.away), lines=self.lines)


class _Walk:
    """What is known of the lines so far, once one of them does not follow the one above."""

    def __init__(self) -> None:
        self.count = self.number = self.size = 0
        self.last = unhexlify(GENESIS)
        self.seen = {self.last: 0}
        """Each event and its line."""
        self.tips: dict[bytes, int] = {}
        """Events that no other names so far, and their lines."""
        self.found: list[_Found] = []
        self.gone: dict[bytes, _Found] = {}
        """Events that are named, but not above the line that names them."""
        self.holes: dict[tuple[bytes, int], None] = {}
        """Damaged lines whose true hash nobody has named yet, and the tip that goes when somebody does:
        what the line states, or the event above a line that states nothing."""
        self.torn: Torn | None = None

    def report(self) -> Report:
        return Report(
            count=self.count,
            heads=tuple(tip.hex() for tip in self.tips),
            head_lines=tuple(self.tips.values()),
            faults=tuple(found.fault() for found in self.found),
            torn=self.torn,
        )

    def take_straight(self, digests: bytearray, size: int) -> None:
        """Sound lines that each follow the one above."""
        self.size += size
        for at in range(0, len(digests), 32):
            self.number += 1
            self._take_sound(bytes(digests[at : at + 32]), (self.last,))

    def take(self, line: bytes) -> None:
        self._only_the_last_is_torn()
        self.number += 1
        offset, self.size = self.size, self.size + len(line)
        if not line.endswith(b"\n") or line.startswith(b"\0"):
            # Canonical JSON holds no NUL: a file system left it where a write did not arrive.
            self.torn = Torn(offset=offset, line=self.number)
            return
        if line.endswith(b"\r\n"):
            self._fault("ends in CRLF, not in LF")
            line = line[:-2] + b"\n"
        if _is_intact(line):
            self._take_event(line, unhexlify(line[_STATED]))
        elif _has_form(line):
            self._fault(_CHANGED if _is_utf8(line) else "was changed: it is not UTF-8")
            self._take_damaged(line)
        else:
            self._take_no_event(line)

    def _only_the_last_is_torn(self) -> None:
        if self.torn:
            self._fault("is no event: it was not written to its end")
            self._take_damaged(b"")
            self.torn = None

    def _take_no_event(self, line: bytes) -> None:
        if not line.strip():
            self._fault("is blank")
        elif line.startswith(_CONFLICT_MARKS):
            self._fault("is a conflict mark of git")
        else:
            self._fault("is no event" if _is_utf8(line) else "is no event: it is not UTF-8")
            self._take_damaged(line)

    def _take_damaged(self, line: bytes) -> None:
        """What the line still says of itself is believed, so that the lines below are not blamed."""
        stated = [unhexlify(found) for found in _STATES.findall(line)]
        if not stated:
            self.holes[self.last, self.number] = None
            return
        named = {unhexlify(found) for found in _HASH.findall(line)} - {stated[-1]}
        for parent in (named & self.seen.keys()) or {self.last}:
            self.tips.pop(parent, None)
        # There is more than one where a newline was lost between two lines.
        for event in stated:
            if event not in self.seen:
                self.holes[event, self.number] = None
                self._stands(event)
        for event in stated[:-1]:
            self.tips.pop(event, None)

    def _take_event(self, line: bytes, stated: bytes) -> None:
        parents = _parents(line)
        if not (line.startswith(b"{") and _is_utf8(line)):
            self._fault("is no JSON, although its hash fits")
        elif not parents:
            self._fault("does not name the event before it in the proper way")
        self._take_sound(stated, parents)

    def _take_sound(self, stated: bytes, parents: Iterable[bytes]) -> None:
        if stated in self.seen:
            self._fault("repeats line {}", self.seen[stated] - self.number)
            return
        for parent in parents:
            self._follow(parent)
        self._stands(stated)

    def _follow(self, parent: bytes) -> None:
        self.tips.pop(parent, None)
        if parent in self.seen:
            # The changed line stated its true hash, for another line names it.
            self.holes.pop((parent, self.seen[parent]), None)
        elif parent in self.gone:
            return
        elif self.holes:
            (tip, self.seen[parent]), _ = self.holes.popitem()
            self.tips.pop(tip, None)
        else:
            self.tips.pop(self.last, None)
            self.found.append(_Found(self.number, _GONE))
            self.gone[parent] = self.found[-1]

    def _stands(self, stated: bytes) -> None:
        self.count += 1
        self.seen[stated] = self.number
        self.last = stated
        below = self.gone.pop(stated, None)
        if below is None:
            self.tips[stated] = self.number
        else:
            below.what = "follows line {}, which stands below it"
            below.away = self.number - below.line

    def _fault(self, what: str, away: int = 0) -> None:
        last = self.found[-1] if self.found else None
        if last and (last.what, last.away, last.line + last.lines) == (what, away, self.number):
            last.lines += 1
        else:
            self.found.append(_Found(self.number, what, away))


def _torn_at(stream: BinaryIO, size: int) -> int | None:
    """Where the bytes begin that are no complete line; as `_Walk.take` sees it."""
    end = _after_newline(stream, size)
    if end < size:
        return end
    begin = _line_begin(stream, end)
    return begin if _between(stream, begin, begin + 1) == b"\0" else None


def _line_begin(stream: BinaryIO, end: int) -> int:
    """Where the line begins that ends, with its newline, at `end`."""
    return _after_newline(stream, end - 1)


def _after_newline(stream: BinaryIO, end: int) -> int:
    """The offset after the last newline before `end`."""
    while end > 0:
        begin = max(0, end - _BLOCK)
        at = _between(stream, begin, end).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    return 0


def _between(stream: BinaryIO, begin: int, end: int) -> bytes:
    stream.seek(begin)
    return stream.read(end - begin)


def _sound_lines(log: bytes, name: str) -> dict[bytes, None]:
    _must_be_sound(verify_lines(BytesIO(log)), name)
    return dict.fromkeys(BytesIO(log))


def _joined(log: dict[bytes, None], ts: str) -> bytes:
    report = verify_lines(log)
    _must_be_sound(report, "the merged log")
    last = join(report.heads, ts) if len(report.heads) > 1 else b""
    return b"".join(log) + last


def _must_be_sound(report: Report, name: str) -> None:
    todo = "Restore the line from git, or let `agentplane doctor` say what can be done."
    if report.faults:
        first = report.faults[0]
        raise Damaged(first.what, where=f"{name}:{first.line}", todo=todo)
    if report.torn:
        raise Damaged("was not written to its end", where=f"{name}:{report.torn.line}", todo=todo)
