"""The spots in a text that have flags of high severity. A person sees them before confirming."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from agentplane.memory.entry import Entry
from agentplane.plane.settings import Action
from agentplane.review.gate import gate, notices, order_flags, raw_header
from agentplane.review.gate.verdicts import HIGH, SECRET
from agentplane.scan.secrets import find
from agentplane.text import visible
from agentplane.text.numbers import counted
from agentplane.text.visible import Hidden


MOST_CONFIRMED = 100
"""Maximum number of spots that can be confirmed. Nobody reads more."""
_AROUND = 48
"""Characters of the line that are shown before a spot, and after it."""


class Spot(msgspec.Struct, frozen=True):
    """A spot and the line around it, safe to display. Hidden characters are spelled out."""

    code: str
    what: str
    where: str
    """The name of the field."""
    line: int = 0
    """Line number from 1, or 0 if it isn't in a text."""
    first: int = 0
    """Number of its first character in the line from 1, or 0 if only the line is known."""
    last: int = 0
    before: str = ""
    match: str = ""
    after: str = ""

    @property
    def place(self) -> str:
        """`statement, line 1, characters 51-62`."""
        parts = [self.where]
        parts += [f"line {self.line}"] if self.line else []
        if self.first:
            many = (
                f"characters {self.first}-{self.last}"
                if self.last > self.first
                else f"character {self.first}"
            )
            parts.append(many)
        return ", ".join(parts)


def of(entry: Entry, actions: Mapping[str, Action]) -> tuple[Spot, ...]:
    """Return the spots of an entry or a candidate under these settings, secrets first."""
    flags = gate.high_flags(entry, actions)
    codes = {flag.code for flag in flags}
    found = [spot for spot in _in_entry(entry) if spot.code in codes]
    shown = {spot.code for spot in found}
    found += [Spot(flag.code, flag.what, flag.where) for flag in flags if flag.code not in shown]
    unique: dict[tuple[str, str, int, int, str], Spot] = {}
    for spot in found:
        unique.setdefault((spot.code, spot.where, spot.line, spot.first, spot.what), spot)
    return tuple(sorted(unique.values(), key=lambda spot: spot.code != SECRET))


def too_many(found: Sequence[Spot]) -> str:
    """Return the message for a text with too many spots."""
    more = counted(len(found) - MOST_CONFIRMED, "more flagged spot is", "more flagged spots are")
    return f"{more} not shown, because there are too many to confirm. Edit the text or reject the candidate."


def _in_entry(entry: Entry) -> Iterator[Spot]:
    fields = list(gate.texts_of(entry))
    for where, text in (*fields, *raw_header.read(raw_header.text_of(entry.header))):
        yield from _secrets(where, text)
        yield from _others(where, text)
    if not any(find.spans(text) for _, text in fields):
        yield from _secrets("text", entry.body)


def _secrets(where: str, text: str) -> Iterator[Spot]:
    for start, end, kind in find.spans(text):
        yield _spot(SECRET, f"looks like {kind}", where, text, start, end)


def _others(where: str, text: str) -> Iterator[Spot]:
    for run in _runs(text):
        names = " and ".join(dict.fromkeys(hit.name for hit in run))
        code = notices.hidden_code(run[0].char)
        yield _spot(code, f"hidden character: {names}", where, text, run[0].offset, run[-1].offset + 1)
    for place in order_flags.places(text):
        if place.code in HIGH:
            yield _spot(place.code, place.what, where, text, place.offset, None, exact=place.exact)


def _runs(text: str) -> Iterator[list[Hidden]]:
    """Yield adjacent hidden characters with the same code."""
    run: list[Hidden] = []
    for hit in visible.hidden(text):
        follows = run and hit.offset == run[-1].offset + 1
        if not (follows and notices.hidden_code(hit.char) == notices.hidden_code(run[-1].char)):
            if run:
                yield run
            run = []
        run.append(hit)
    if run:
        yield run


def _spot(
    code: str, what: str, where: str, text: str, start: int, end: int | None, *, exact: bool = True
) -> Spot:
    """Return a spot. Without `end`, it reaches to the end of its line. With `exact` False, only the line is
    known.
    """
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", start)
    stop = len(text) if stop < 0 else stop
    first = start if exact else begin
    last = stop if end is None else min(end, stop)
    last = max(last, min(first + 1, stop))
    before, match, after = text[begin:first], text[first:last], text[last:stop]
    return Spot(
        code,
        what,
        where,
        line=text.count("\n", 0, start) + 1,
        first=first - begin + 1 if exact and end is not None else 0,
        last=last - begin if exact and end is not None else 0,
        before=_shown(before[-_AROUND:], cut_before=len(before) > _AROUND),
        match=_shown(match[: 4 * _AROUND], cut_after=len(match) > 4 * _AROUND),
        after=_shown(after[:_AROUND], cut_after=len(after) > _AROUND),
    )


def _shown(text: str, *, cut_before: bool = False, cut_after: bool = False) -> str:
    shown = visible.visible(text).replace("\t", " ").replace("\r", " ")
    return f"{'…' if cut_before else ''}{shown}{'…' if cut_after else ''}"
