"""The current place of lines of a file. Lines have no names, so this module follows them through the changes around
them.
"""

import re

import msgspec

from agentplane.curate.anchors import line_map
from agentplane.curate.anchors.parts import Part, Text, between
from agentplane.curate.anchors.past import Old
from agentplane.curate.anchors.search import Files
from agentplane.curate.anchors.source import Definition, digest
from agentplane.memory.evidence import Lines
from agentplane.plane.store.records import Observation


_DISTINCT = 24
"""Lines with at least this many characters besides white space aren't equal by chance."""
_MOST_LINES = 200_000
_MOST_FILES = 300
_MOST_WORDS = 4
_WORD = re.compile(r"\w{4,}")
_COMMENTS = ("//", "/*", "--", "*/", '""')


class Followed(msgspec.Struct, frozen=True):
    span: tuple[int, int] | None
    """First and last line now, or None if nothing is left of the lines."""
    is_same: bool


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


def definition_in(text: Text, first: int, last: int) -> Definition | None:
    """Return the definition that lines consist of, apart from comments and empty lines around it."""
    for one in text.source.definitions:
        if one.spans == ((one.first, one.last),) and first <= one.first and one.last <= last:
            around = ((first, one.first - 1), (one.last + 1, last))
            return one if all(_is_empty(text, *span) for span in around) else None
    return None


def is_same_definition(old: Part | None, new: Part) -> bool:
    """True if both parts consist of a definition with the same name and the same code. The definition is parsed as a
    whole, so it tells more than its lines.
    """
    if old is None:
        return False
    one, other = (definition_in(part.text, *part.spans[0]) for part in (old, new))
    if one is None or other is None or one.name != other.name:
        return False
    first, second = old.text.source.meaning(one), new.text.source.meaning(other)
    return first is not None and second is not None and first.digest == second.digest


def _is_empty(text: Text, first: int, last: int) -> bool:
    """True if lines have nothing but comments."""
    lines = text.shown([(first, last)]).splitlines() if first <= last else []
    return all(line.strip()[:2] in _COMMENTS or line.strip()[:1] in ("#", "*", "") for line in lines)


def elsewhere(old: Old, files: Files, path: str) -> Part | None:
    """Return the lines of another file that have the very same words, if only one has them and they are new there."""
    if old.part is None or old.text is None:
        return None
    shown = old.part.shown
    if not _is_long(shown) or _by_words(shown, old.text) is None:
        return None
    lines = old.text.cut(old.part.spans)
    same, similar = list[Part](), list[Part]()
    for name in _with_words(shown, files):
        text = files.text(name) if name != path else None
        span = _by_words(shown, text) if text is not None and not text.is_binary else None
        if text is None or span is None:
            continue
        before = files.before(name)
        if before is None or before.is_binary or _by_words(shown, before) is None:
            part = Part(text, (), (span,))
            (same if part.content == digest(lines) else similar).append(part)
    found = same or similar
    return found[0] if len(found) == 1 else None


def _with_words(shown: str, files: Files) -> list[str]:
    """Return the files that contain the longest words of a text."""
    words = sorted(set(_WORD.findall(shown)), key=lambda word: (-len(word), word))[:_MOST_WORDS]
    files.load_names(words)
    named = [set(files.naming(word)) for word in words]
    return sorted(set.intersection(*named))[:_MOST_FILES] if named else []


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
    if (end <= start or not inside) and _is_long(part.shown):
        # If the old text had copies of the lines, nobody can tell which one is left.
        same_words = _by_words(part.shown, text) if _by_words(part.shown, before) is not None else None
        if same_words is not None:
            return Followed(same_words, is_same=False)
    return Followed((start + 1, end), is_same=False) if end > start else Followed(None, is_same=False)


def _by_words(shown: str, text: Text) -> tuple[int, int] | None:
    """Return the only lines that have the same words, if the line breaks and the indentation differ."""
    words = shown.split()
    if not words or words[0] not in text.plain:
        return None
    lines: list[int] = []
    pieces: list[str] = []
    for number, line in enumerate(text.plain.split("\n"), 1):
        for word in line.split():
            pieces.append(word)
            lines.append(number)
    whole, wanted = f" {' '.join(pieces)} ", f" {' '.join(words)} "
    at = whole.find(wanted)
    if at < 0 or whole.find(wanted, at + 1) >= 0:
        return None
    start = whole.count(" ", 0, at + 1) - 1
    return lines[start], lines[start + len(words) - 1]


def _near(start: int, first: int) -> int:
    return min(start, first)


def _near_end(end: int, last: int) -> int:
    return end if end > last else last + 1


def _plain(text: Text) -> list[str]:
    lines = text.plain.split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _is_distinct(text: Text, span: tuple[int, int]) -> bool:
    return _is_long(text.shown([span]))


def _is_long(shown: str) -> bool:
    return sum(not char.isspace() for char in shown) >= _DISTINCT
