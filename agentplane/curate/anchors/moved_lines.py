"""Where lines of a file are now. Lines have no name, so they are followed through the changes around them."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from agentplane.curate.anchors import line_map
from agentplane.curate.anchors.parts import Part, Text, between
from agentplane.curate.anchors.past import Old
from agentplane.curate.anchors.source import digest
from agentplane.memory.evidence import Lines, lines_shown
from agentplane.plane.store.records import Observation


_DISTINCT = 24
"""Lines with at least this many characters besides white space aren't equal by chance."""
_MOST_LINES = 200_000
_MOST_FILES = 20


class Followed(msgspec.Struct, frozen=True):
    span: tuple[int, int] | None
    """First and last line now, or None if nothing is left of the lines."""
    is_same: bool


class Search(Protocol):
    def text(self, path: str) -> Text | None:
        """Return the current text of a file."""

    def naming(self, word: str) -> Sequence[str]:
        """Return the files that contain a word."""


def follow(observed: Observation, place: Lines, text: Text, old: Old | None) -> Followed | None:
    """Return where observed lines are now. None if that can't be known without the old text."""
    if old is not None and old.text is not None and old.part is not None:
        return _through_changes(old.text, old.part, text)
    here = between(text, place.first, place.last)
    found = windows(text, observed.content or "", observed.lines)
    if here is not None and here.content == observed.content and len(found) == 1:
        return Followed(here.spans[0], is_same=True)
    if len(found) == 1 and _is_distinct(text, found[0]):
        return Followed(found[0], is_same=True)
    if found:
        return None
    return Followed(here.spans[0], is_same=False) if here is not None else Followed(None, is_same=False)


def windows(text: Text, content: str, count: int) -> list[tuple[int, int]]:
    """Return the places of so many lines with this digest."""
    lines = text.lines
    if not count or len(lines) > _MOST_LINES or count * len(lines) > 50 * _MOST_LINES:
        return []
    return [
        (start + 1, start + count)
        for start in range(len(lines) - count + 1)
        if digest(b"".join(lines[start : start + count])) == content
    ]


def elsewhere(observed: Observation, old: Old | None, files: Search, path: str) -> str | None:
    """Return the place in another file that has the very same lines, if only one has them."""
    if old is None or old.part is None:
        return None
    shown = old.part.shown
    if sum(not char.isspace() for char in shown) < _DISTINCT:
        return None
    words = sorted({word for word in shown.replace("(", " ").split() if word.isidentifier()}, key=len)
    found = []
    for name in files.naming(words[-1])[:_MOST_FILES] if words else ():
        text = files.text(name) if name != path else None
        if text is not None and not text.is_binary:
            found += [(name, span) for span in windows(text, observed.content or "", observed.lines)]
    return lines_shown(found[0][0], *found[0][1]) if len(found) == 1 else None


def _through_changes(before: Text, part: Part, text: Text) -> Followed:
    first, last = part.spans[0]
    old, new = _plain(before), _plain(text)
    common = line_map.matches(old, new)
    wanted = [common.get(place) for place in range(first - 1, last)]
    if None not in wanted and wanted == list(range(wanted[0] or 0, (wanted[0] or 0) + len(wanted))):
        span = ((wanted[0] or 0) + 1, (wanted[-1] or 0) + 1)
        return Followed(span, is_same=text.cut([span]) == before.cut(part.spans))
    exact = windows(text, part.content, last - first + 1)
    if (
        len(exact) == 1
        and _is_distinct(text, exact[0])
        and len(windows(before, part.content, last - first + 1)) == 1
    ):
        return Followed(exact[0], is_same=True)
    start = max((new_place + 1 for place, new_place in common.items() if place < first - 1), default=0)
    end = min((new_place for place, new_place in common.items() if place > last - 1), default=len(new))
    inside = [place for place in wanted if place is not None]
    if inside:
        start, end = max(start, _near(start, inside[0])), min(end, _near_end(end, inside[-1]))
    return Followed((start + 1, end), is_same=False) if end > start else Followed(None, is_same=False)


def _near(start: int, first: int) -> int:
    return min(start, first)


def _near_end(end: int, last: int) -> int:
    return end if end > last else last + 1


def _plain(text: Text) -> list[str]:
    lines = text.plain.split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _is_distinct(text: Text, span: tuple[int, int]) -> bool:
    return sum(not char.isspace() for char in text.shown([span])) >= _DISTINCT
