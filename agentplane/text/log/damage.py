"""A walk down a damaged or forked log, which reports each damage once, at its line."""

import re
from binascii import unhexlify
from collections.abc import Iterable

import msgspec

from agentplane.text.log.event_line import (
    GENESIS,
    HASH,
    digest_of,
    has_form,
    is_intact,
    is_torn,
    is_utf8,
    parents_of,
)


_STATES = re.compile(rb',"hash_self":"([0-9a-f]{64})"')
_CONFLICT_MARKS = (b"<<<<<<< ", b"=======", b">>>>>>> ", b"||||||| ")

_CHANGED = "the hash of this line doesn't match, so the line was changed"
_REPEATS = "this line repeats line {}"
_GONE = "this line follows an event that isn't above it, so a line was removed or moved"


class Fault(msgspec.Struct, frozen=True):
    line: int
    what: str
    lines: int = 1
    """Number of consecutive lines with the same fault, starting at `line`."""
    repeats: int | None = None
    """The earlier line that it repeats, as a Git merge leaves it. None for damage."""


class Report(msgspec.Struct, frozen=True):
    count: int
    """Number of events, without repeats and the torn line."""
    heads: tuple[str, ...]
    """Events that no other event names, in the order of the file. With faults, this is a best guess."""
    faults: tuple[Fault, ...]
    torn: int | None
    """The number of the last line, if it is incomplete."""


class _OpenFault(msgspec.Struct):
    """A fault during the walk."""

    line: int
    what: str
    away: int = 0
    """Distance to the line that `what` mentions. It is positive for a line further down."""
    lines: int = 1
    repeats: bool = False

    def fault(self) -> Fault:
        other = self.line + self.away
        return Fault(self.line, self.what.format(other), self.lines, other if self.repeats else None)


class Walk:
    """The state of a walk over the lines. It is needed once a line doesn't follow the line above it."""

    def __init__(self) -> None:
        self.count = self.number = 0
        self.last = unhexlify(GENESIS)
        self.seen = {self.last: 0}
        """Each event and its line."""
        self.tips: dict[bytes, None] = {}
        """Events that no other event has named yet, in the order of the file."""
        self.found: list[_OpenFault] = []
        self.gone: dict[bytes, _OpenFault] = {}
        """Events that a line names although they are not above it."""
        self.holes: dict[tuple[bytes, int], None] = {}
        """Damaged lines whose true hash no event has named yet, each with its tip.

        The tip is removed as soon as an event names that hash. It is the hash that the line states, or the
        event above a line that states no hash.
        """
        self.torn: int | None = None

    def report(self) -> Report:
        return Report(
            count=self.count,
            heads=tuple(tip.hex() for tip in self.tips),
            faults=tuple(found.fault() for found in self.found),
            torn=self.torn,
        )

    def take_straight(self, digests: bytearray) -> None:
        """Take intact lines, each of which follows the line above it."""
        for at in range(0, len(digests), 32):
            self.number += 1
            self._take_sound(bytes(digests[at : at + 32]), (self.last,))

    def take(self, line: bytes) -> None:
        self._only_the_last_is_torn()
        self.number += 1
        if is_torn(line):
            self.torn = self.number
            return
        if line.endswith(b"\r\n"):
            self._fault("this line ends in CRLF instead of LF")
            line = line[:-2] + b"\n"
        if is_intact(line):
            self._take_event(line, digest_of(line))
        elif has_form(line):
            self._fault(_CHANGED if is_utf8(line) else "this line isn't valid UTF-8, so it was changed")
            self._take_damaged(line)
        else:
            self._take_no_event(line)

    def _only_the_last_is_torn(self) -> None:
        if self.torn:
            self._fault("this line is incomplete, so it isn't an event")
            self._take_damaged(b"")
            self.torn = None

    def _take_no_event(self, line: bytes) -> None:
        if not line.strip():
            self._fault("this line is blank")
        elif line.startswith(_CONFLICT_MARKS):
            self._fault("this line is a Git conflict marker")
        else:
            self._fault(
                "this line isn't an event"
                if is_utf8(line)
                else "this line isn't valid UTF-8, so it isn't an event"
            )
            self._take_damaged(line)

    def _take_damaged(self, line: bytes) -> None:
        """Trust the hashes that a damaged line states, so that the lines below it are not reported."""
        stated = [unhexlify(found) for found in _STATES.findall(line)]
        if not stated:
            self.holes[self.last, self.number] = None
            return
        named = {unhexlify(found) for found in HASH.findall(line)} - {stated[-1]}
        for parent in (named & self.seen.keys()) or {self.last}:
            self.tips.pop(parent, None)
        # There is more than one hash if the newline between two lines was lost.
        for event in stated:
            if event not in self.seen:
                self.holes[event, self.number] = None
                self._stands(event)
        for event in stated[:-1]:
            self.tips.pop(event, None)

    def _take_event(self, line: bytes, stated: bytes) -> None:
        parents = parents_of(line)
        if not (line.startswith(b"{") and is_utf8(line)):
            self._fault("this line isn't JSON, even though its hash matches")
        elif not parents:
            self._fault("this line doesn't contain the hash of the event before it")
        self._take_sound(stated, parents)

    def _take_sound(self, stated: bytes, parents: Iterable[bytes]) -> None:
        if stated in self.seen:
            self._fault(_REPEATS, self.seen[stated] - self.number, repeats=True)
            return
        for parent in parents:
            self._follow(parent)
        self._stands(stated)

    def _follow(self, parent: bytes) -> None:
        self.tips.pop(parent, None)
        if parent in self.seen:
            # Another line names the changed line, so that line stated its true hash.
            self.holes.pop((parent, self.seen[parent]), None)
        elif parent in self.gone:
            return
        elif self.holes:
            (tip, self.seen[parent]), _ = self.holes.popitem()
            self.tips.pop(tip, None)
        else:
            self.tips.pop(self.last, None)
            self.found.append(_OpenFault(self.number, _GONE))
            self.gone[parent] = self.found[-1]

    def _stands(self, stated: bytes) -> None:
        self.count += 1
        self.seen[stated] = self.number
        self.last = stated
        below = self.gone.pop(stated, None)
        if below is None:
            self.tips[stated] = None
        else:
            below.what = "this line follows line {}, which is further down"
            below.away = self.number - below.line

    def _fault(self, what: str, away: int = 0, *, repeats: bool = False) -> None:
        last = self.found[-1] if self.found else None
        if last and (last.what, last.away, last.line + last.lines) == (what, away, self.number):
            last.lines += 1
        else:
            self.found.append(_OpenFault(self.number, what, away, repeats=repeats))
