"""How often what was rejected was proposed again and refused.

Counted on this machine only, in cache/: a refused proposal leaves nothing that could be committed. The
count holds no text, and it begins anew when the cache is cleared.
"""

from collections import Counter

import msgspec

from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.text.json import decode


_FILE = "suppressed.jsonl"
_MOST = 1 << 20
"""Bytes; beyond some ten thousand nobody needs to know how many more there were."""
_LONGEST = 80


class _Line(msgspec.Struct, frozen=True):
    by: str
    id: str
    """The candidate that was rejected."""


_line = decode.Json(_Line)


def add(layout: Layout, by: str, id_: str) -> int:
    """Counts one more. Returns how many there were of this rejection, with this one; never fails."""
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
