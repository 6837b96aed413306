"""The mapping of the lines of a text to the lines of a later version.

The time grows with the length of the texts, even for texts that were made to take long.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher


_CONTEXT = 3
_SMALL = 200
"""Maximum lines of a part that is compared line by line with each other."""
_MOST_SHOWN = 400
_BUDGET = 40
"""Maximum average number of comparisons for each line. If a text needs more, its remaining lines count as changed."""

Matches = dict[int, int]
"""Equal lines: index in the old text, and index in the new text. Both grow together."""


def matches(old: Sequence[bytes | str], new: Sequence[bytes | str]) -> Matches:
    """Return the lines that two texts have in common, in order."""
    found: Matches = {}
    waiting = [(0, len(old), 0, len(new))]
    budget = _BUDGET * (len(old) + len(new))
    while waiting and budget > 0:
        a, b, c, d = waiting.pop()
        budget -= b - a + d - c
        while a < b and c < d and old[a] == new[c]:
            found[a] = c
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            found[b] = d
        if a == b or c == d:
            continue
        if anchors := _unique(old, new, a, b, c, d):
            starts = [(a, c), *((x + 1, y + 1) for x, y in anchors)]
            ends = [*anchors, (b, d)]
            found.update(anchors)
            waiting += [(x, z, y, w) for (x, y), (z, w) in zip(starts, ends, strict=True)]
        elif b - a <= _SMALL and d - c <= _SMALL:
            found.update(_by_each(old[a:b], new[c:d], a, c))
    return dict(sorted(found.items()))


def unified(
    old: Sequence[str], new: Sequence[str], old_name: str, new_name: str, starts: tuple[int, int]
) -> str:
    """Return the differences as a unified diff. `starts` are the line numbers of the first lines."""
    common = matches(old, new)
    rows = _rows(old, new, common)
    kept = _near_changes(rows)
    lines = [f"--- {old_name}", f"+++ {new_name}"]
    at = 0
    while at < len(kept):
        end = at
        while end + 1 < len(kept) and kept[end + 1] == kept[end] + 1:
            end += 1
        hunk = [rows[place] for place in kept[at : end + 1]]
        lines += [_heading(rows[: kept[at]], hunk, starts), *(f"{sign}{text}" for sign, text in hunk)]
        at = end + 1
    if len(lines) > _MOST_SHOWN:
        lines = [*lines[:_MOST_SHOWN], f"… {len(lines) - _MOST_SHOWN} more lines"]
    return "\n".join(lines) if kept else ""


def similarity(old: Sequence[str], new: Sequence[str]) -> float:
    """Return how much of two texts is equal, from 0 to 1. Layout doesn't count."""
    first = Counter(line.strip() for line in old if len(line.strip()) > 1)
    second = Counter(line.strip() for line in new if len(line.strip()) > 1)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def _rows(old: Sequence[str], new: Sequence[str], common: Matches) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    b = 0
    for a, text in enumerate(old):
        if a in common:
            rows += [("+", line) for line in new[b : common[a]]]
            b = common[a] + 1
            rows.append((" ", text))
        else:
            rows.append(("-", text))
    return rows + [("+", line) for line in new[b:]]


def _near_changes(rows: Sequence[tuple[str, str]]) -> list[int]:
    near: set[int] = set()
    for place, (sign, _) in enumerate(rows):
        if sign != " ":
            near.update(range(max(0, place - _CONTEXT), min(len(rows), place + _CONTEXT + 1)))
    return sorted(near)


def _heading(
    above: Sequence[tuple[str, str]], hunk: Sequence[tuple[str, str]], starts: tuple[int, int]
) -> str:
    def place(signs: str, start: int) -> str:
        first = start + sum(sign in signs for sign, _ in above)
        return f"{first},{sum(sign in signs for sign, _ in hunk)}"

    return f"@@ -{place(' -', starts[0])} +{place(' +', starts[1])} @@"


def _unique(
    old: Sequence[bytes | str], new: Sequence[bytes | str], a: int, b: int, c: int, d: int
) -> list[tuple[int, int]]:
    """Return the longest list of lines that occur once in both parts and are in the same order."""
    counts, others = Counter(old[a:b]), Counter(new[c:d])
    places = {line: place for place, line in enumerate(new[c:d], c) if others[line] == 1}
    pairs = [(x, places[line]) for x, line in enumerate(old[a:b], a) if counts[line] == 1 and line in places]
    return _increasing(pairs)


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of the pairs in which the second numbers grow."""
    from bisect import bisect_left

    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, (_, y) in enumerate(pairs):
        at = bisect_left(tails, y)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(y)
            ends.append(place)
        else:
            tails[at], ends[at] = y, place
    found: list[tuple[int, int]] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        found.append(pairs[place])
        place = before[place]
    return found[::-1]


def _by_each(old: Sequence[bytes | str], new: Sequence[bytes | str], a: int, c: int) -> Matches:
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return {a + block.a + k: c + block.b + k for block in blocks for k in range(block.size)}
