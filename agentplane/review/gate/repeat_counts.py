"""Counts of rejected statements that were proposed again and refused.

The counts exist only on this machine, in cache/, so a refused proposal leaves no trace that could be
committed. A count contains no text, and it restarts at zero when the cache is cleared.
"""

from collections import Counter

import msgspec

from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.text.json import decode


_FILE = "suppressed.jsonl"
_MOST = 1 << 20
"""Size limit in bytes. An exact count beyond about ten thousand isn't useful."""
_LONGEST = 80


class _Line(msgspec.Struct, frozen=True):
    by: str
    id: str
    """The candidate that was rejected."""


_line = decode.Json(_Line)


def add(layout: Layout, by: str, id_: str) -> int:
    """Count one more refusal, and return the number for this rejection, including this one. Never fails."""
    before = sum(line.id == id_ for line in _lines(layout))
    line = msgspec.json.encode(_Line(by[:_LONGEST], id_))
    cache.add(layout, _FILE, line + b"\n", _MOST)
    return before + 1


def by_source(layout: Layout) -> Counter[str]:
    return Counter(line.by for line in _lines(layout))


def _lines(layout: Layout) -> list[_Line]:
    found = []
    for line in (cache.load_plain(layout, _FILE) or b"").splitlines():
        try:
            found.append(_line.decode(line))
        except (msgspec.MsgspecError, ValueError):
            continue
    return found
