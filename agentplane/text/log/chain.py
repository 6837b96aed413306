"""The hash chain of a log, which is written, verified and joined as raw bytes without parsing JSON.

A line is the canonical JSON of an event with its `hash_self` moved last. `hash_self` is the hash of all bytes
before it, and `hash_prev` is the `hash_self` of an earlier event. A merge event also names the other heads
that it joins. So a log is a DAG in which each event comes after the events that it names.

The chain alone can't detect two kinds of damage:
- Events that no other event names were cut off, at the end of the file or of a branch that is not yet joined.
- Events of two branches that don't name each other changed places.
"""

from binascii import unhexlify
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from agentplane.errors import BadInput, Damaged
from agentplane.text import files
from agentplane.text.json import canonical
from agentplane.text.log import event_line
from agentplane.text.log.damage import Fault, Report, Walk
from agentplane.text.log.event_line import GENESIS


# The public names of the log, from all three of its modules.
__all__ = [
    "GENESIS", "Fault", "Report", "Tail",
    "follow", "hash_of", "join", "lines", "lines_backwards", "link", "mend_torn", "tail", "verify", "verify_lines",
]  # fmt: skip

_BLOCK = 1 << 16


class Tail(msgspec.Struct, frozen=True):
    size: int
    head: str | None
    """The hash that the last complete line states, or None if there is no such line."""
    torn_at: int | None


def link(event: Mapping[str, Any], prev: str) -> bytes:
    """Return the complete line of an event that follows `prev`."""
    if event.get("kind") == "merge":
        raise BadInput("a merge event must be made by joining heads", where="kind")
    return _line(event, prev)


def join(heads: Sequence[str], ts: str) -> bytes:
    """Return the line that joins heads. It is the same for everyone who joins these heads with this ts."""
    named = sorted(set(heads))
    if len(named) < 2:
        raise BadInput("a merge must join at least two heads", where="heads")
    if not all(event_line.is_hash(head) for head in named):
        raise BadInput("a merge must name hashes of events", where="heads")
    line = _line({"kind": "merge", "heads": named, "ts": ts}, named[0])
    if not event_line.is_merge(line):
        raise BadInput("this isn't a valid time", where="ts")
    return line


def hash_of(line: bytes) -> str:
    """Return the hash that a line states for itself."""
    if not event_line.has_form(line):
        raise Damaged(
            "a line of the log isn't an event",
            todo="Run `agentplane doctor` to find the line.",
            sees_doctor=True,
        )
    return event_line.stated_by(line).decode()


def lines(path: files.StrPath, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and the bytes of each complete line. The start must be the beginning of a line."""
    with files.reading(path) as stream:
        stream.seek(start)
        for line in stream:
            if not line.endswith(b"\n"):
                return
            yield start, line
            start += len(line)


def lines_backwards(path: files.StrPath) -> Iterator[bytes]:
    """Yield the complete lines from the last to the first. They are read on demand."""
    with files.reading(path) as stream:
        place, step = stream.seek(0, 2), _BLOCK
        rest, ended = b"", False
        while place > 0:
            begin = max(0, place - step)
            rest, *pieces = (_between(stream, begin, place) + rest).split(b"\n")
            step = _BLOCK if pieces else 2 * step  # a long line is not copied for each block
            place = begin
            for piece in reversed(pieces):
                if ended:
                    yield piece + b"\n"
                ended = True  # the text after the last newline is no complete line
        if ended:
            yield rest + b"\n"


def verify(path: files.StrPath) -> Report:
    with files.reading(path) as stream:
        return verify_lines(stream)


def verify_lines(log: Iterable[bytes]) -> Report:
    """Return a report with each damaged line.

    The check continues from the hash that a damaged line states, so that one damage is reported as one fault.
    """
    rest = iter(log)
    digests, odd = event_line.straight(rest, unhexlify(GENESIS))
    if odd is None:
        last = (digests[-32:].hex(),) if digests else ()
        count = len(digests) // 32
        return Report(count=count, heads=last, faults=(), torn=None)
    walk = Walk()
    walk.take_straight(digests)
    while odd is not None:
        walk.take(odd)
        if walk.torn:
            odd = next(rest, None)
        else:
            digests, odd = event_line.straight(rest, walk.last)
            walk.take_straight(digests)
    return walk.report()


def follow(log: Iterable[bytes], head: str) -> tuple[int, str] | None:
    """Return the number of lines, and the hash of the last line.

    Each line must follow the line above it, and the first must follow `head`. Return None if the lines fork,
    join or are damaged. Only a walk over the complete log can distinguish these cases.
    """
    digests, odd = event_line.straight(iter(log), unhexlify(head))
    return None if odd is not None else (len(digests) // 32, digests[-32:].hex() or head)


def tail(path: files.StrPath) -> Tail:
    """Read only the end of the file, and trust the hash that its last complete line states."""
    with files.reading(path) as stream:
        size = stream.seek(0, 2)
        torn_at = _torn_at(stream, size)
        end = size if torn_at is None else torn_at
        line = _between(stream, _line_begin(stream, end), end)
    if line and not event_line.has_form(line):
        todo = "Run `agentplane doctor`."
        raise Damaged("the last line of the log isn't an event", where=str(path), todo=todo, sees_doctor=True)
    return Tail(size=size, head=event_line.stated_by(line).decode() if line else None, torn_at=torn_at)


def mend_torn(path: files.StrPath) -> str | None:
    """Repair a log that ends in an incomplete line. Return the repair as text, or None if there was none.

    The caller must have the plane's lock.
    """
    with files.reading(path) as stream:
        size = stream.seek(0, 2)
        torn_at = _torn_at(stream, size)
        if torn_at is None:
            return None
        rest = _between(stream, torn_at, size)
    event = rest.rstrip(b"\0\r")
    if not event_line.is_intact(event + b"\n"):
        files.truncate(path, torn_at)
        return f"removed the incomplete last line ({len(rest)} bytes)"
    files.truncate(path, torn_at + len(event))
    files.append(path, b"\n")
    return "added the missing newline to the last line"


def _line(event: Mapping[str, Any], prev: str) -> bytes:
    if not event_line.is_hash(prev):
        raise BadInput("this isn't the hash of an event", where="hash_prev")
    body = canonical.dumps({**event, "hash_prev": prev})
    # In canonical JSON only a key ends in `":`, so these bytes are keys, or the ends of unusual keys.
    if "hash_prev" in event or body.count(b'"hash_prev":') != 1 or b'"hash_self":' in body:
        raise BadInput("the event contains a reserved key: hash_prev or hash_self", where="event")
    return event_line.seal(body[:-1])


def _torn_at(stream: BinaryIO, size: int) -> int | None:
    """Return the start of the last line if that line is incomplete, or else None."""
    begin = _line_begin(stream, size)
    return begin if begin < size and event_line.is_torn(_between(stream, begin, size)) else None


def _line_begin(stream: BinaryIO, end: int) -> int:
    """Return the start of the line that ends at `end`, with or without a newline."""
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
