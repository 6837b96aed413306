"""The hash chain of a log: made, verified and merged on raw bytes, without parsing JSON.

A line is the canonical JSON of an event with its `hash_self` moved last; `hash_self` is the hash of
all bytes before it, and `hash_prev` is the `hash_self` of an event above. A merge event also names
the other heads that it joins. So a log is a DAG in which each event stands below those it names.

What the chain alone cannot see: that events which no other event names were cut off, at the end
of the file or at the end of a branch that is not joined yet; and that events of two branches, which
do not name each other, changed places.
"""

from binascii import unhexlify
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, BinaryIO

import msgspec

from agentplane.errors import BadInput, Damaged
from agentplane.text import files
from agentplane.text.json import canonical
from agentplane.text.log import event_line
from agentplane.text.log.damage import Fault, Report, Torn, Walk
from agentplane.text.log.event_line import GENESIS


# The names of a log's doors, whichever of its three modules they stand in.
__all__ = [
    "GENESIS", "Fault", "Report", "Tail", "Torn",
    "follow", "hash_of", "heads", "join", "lines", "lines_backwards", "link", "mend_torn", "merge", "tail", "unite", "verify", "verify_lines",
]  # fmt: skip

_BLOCK = 1 << 16


class Tail(msgspec.Struct, frozen=True):
    size: int
    head: str | None
    """The hash that the last complete line states, or None if there is none."""
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
    if not all(event_line.is_hash(head) for head in named):
        raise BadInput("a merge names the hashes of events", where="heads")
    line = _line({"kind": "merge", "heads": named, "ts": ts}, named[0])
    if not event_line.is_merge(line):
        raise BadInput("is no plain time", where="ts")
    return line


def hash_of(line: bytes) -> str:
    """The hash that a line states for itself."""
    if not event_line.has_form(line):
        raise Damaged(
            "a line of the log is no event",
            todo="Run `agentplane doctor`, which names the line.",
            sees_doctor=True,
        )
    return event_line.stated_by(line).decode()


def lines(path: files.StrPath, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each complete line, from an offset at which a line begins."""
    with files.reading(path) as stream:
        stream.seek(start)
        for line in stream:
            if not line.endswith(b"\n"):
                return
            yield start, line
            start += len(line)


def lines_backwards(path: files.StrPath) -> Iterator[bytes]:
    """The complete lines from the last to the first, read as they are asked for."""
    with files.reading(path) as stream:
        place, step = stream.seek(0, 2), _BLOCK
        rest, ended = b"", False
        while place > 0:
            begin = max(0, place - step)
            rest, *pieces = (_between(stream, begin, place) + rest).split(b"\n")
            step = _BLOCK if pieces else 2 * step  # a line longer than a block is not copied for each block
            place = begin
            for piece in reversed(pieces):
                if ended:
                    yield piece + b"\n"
                ended = True  # what follows the last newline is no complete line
        if ended:
            yield rest + b"\n"


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
    digests, size, odd = event_line.straight(rest, unhexlify(GENESIS))
    if odd is None:
        last = (digests[-32:].hex(),) if digests else ()
        count = len(digests) // 32
        return Report(count=count, heads=last, head_lines=(count,) * len(last), faults=(), torn=None)
    walk = Walk()
    walk.take_straight(digests, size)
    while odd is not None:
        walk.take(odd)
        if walk.torn:
            odd = next(rest, None)
        else:
            digests, size, odd = event_line.straight(rest, walk.last)
            walk.take_straight(digests, size)
    return walk.report()


def follow(log: Iterable[bytes], head: str) -> tuple[int, str] | None:
    """How many lines there are, each following the one above and the first of them `head`, and the last one's hash.

    None: they fork, join or are damaged, which only a look at the whole log can tell apart.
    """
    digests, _, odd = event_line.straight(iter(log), unhexlify(head))
    return None if odd is not None else (len(digests) // 32, digests[-32:].hex() or head)


def tail(path: files.StrPath) -> Tail:
    """Reads only the end of the file, and believes what its last complete line states."""
    with files.reading(path) as stream:
        size = stream.seek(0, 2)
        torn_at = _torn_at(stream, size)
        end = size if torn_at is None else torn_at
        line = _between(stream, _line_begin(stream, end), end)
    if line and not event_line.has_form(line):
        todo = "Run `agentplane doctor`."
        raise Damaged("its last line is no event", where=str(path), todo=todo, sees_doctor=True)
    return Tail(size=size, head=event_line.stated_by(line).decode() if line else None, torn_at=torn_at)


def mend_torn(path: files.StrPath) -> str | None:
    """Ends the log with a complete line again and says how, or None if it does. Needs the plane's lock."""
    with files.reading(path) as stream:
        size = stream.seek(0, 2)
        torn_at = _torn_at(stream, size)
        if torn_at is None:
            return None
        rest = _between(stream, torn_at, size)
    event = rest.rstrip(b"\0\r")
    if not event_line.is_intact(event + b"\n"):
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
    if not event_line.is_hash(prev):
        raise BadInput("is no hash of an event", where="hash_prev")
    body = canonical.dumps({**event, "hash_prev": prev})
    # In canonical JSON only a key ends in `":`, so these bytes are keys, or the ends of odd ones.
    if "hash_prev" in event or body.count(b'"hash_prev":') != 1 or b'"hash_self":' in body:
        raise BadInput("holds a key that is reserved for the chain: hash_prev or hash_self", where="event")
    return event_line.seal(body[:-1])


def _torn_at(stream: BinaryIO, size: int) -> int | None:
    """Where the last line begins, if it was not written to its end."""
    begin = _line_begin(stream, size)
    return begin if begin < size and event_line.is_torn(_between(stream, begin, size)) else None


def _line_begin(stream: BinaryIO, end: int) -> int:
    """Where the line begins that ends at `end`, whether or not with a newline."""
    end -= 1
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
        raise Damaged(first.what, where=f"{name}:{first.line}", todo=todo, sees_doctor=True)
    if report.torn:
        raise Damaged(
            "was not written to its end", where=f"{name}:{report.torn.line}", todo=todo, sees_doctor=True
        )
