"""The first rows of the inbox, saved by the last session for the first paint.

They are shown until the plane was read. Every decision uses the plane itself. Without saved rows, or if the
memory has changed since, the screen opens empty.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from agentplane.errors import AgentplaneError
from agentplane.plane.derived import badge_stamp, cache_file


ROWS = 120
"""More than a screen can show."""
KEPT = "glimpse"
VERSION = "1"
_LARGEST = 32 << 20
_SETTINGS = ("theme", "ascii")
"""The settings that the first paint uses, even if the memory has changed since."""
_NOTHING: Mapping[str, Any] = {}
_READ_ERRORS = (AgentplaneError, OSError, ValueError, LookupError, TypeError, RecursionError)
"""Errors that a file of any content can cause in the readers used here."""


def load(wanted: str | None) -> Mapping[str, Any]:
    """Return the saved values for the plane at `wanted`, or for the plane around the current folder.

    The keys are `rows`, `goes_on`, `counts`, `waiting`, `project`, `theme` and `ascii`. `goes_on` is true if
    the group of the last row has more rows. If the memory has changed since, only the settings are returned.
    The result is empty if there is no usable file.
    """
    try:
        folder = wanted or badge_stamp.folder_of(os.getcwd())
        data = cache_file.read(folder, KEPT, VERSION, _LARGEST) if folder else None
        if folder is None or data is None:
            return _NOTHING
        values = json.loads(data.decode("utf-8", "surrogateescape"))
        if values["stamp"] != badge_stamp.of(folder):
            return {name: values[name] for name in _SETTINGS}
        values["rows"] = [tuple(map(str, one)) for one in values["rows"]]
    except _READ_ERRORS:
        return _NOTHING
    return values if all(len(one) == 7 for one in values["rows"]) else _NOTHING


def packed(rows: list[Any], waiting: int, counts: list[int], mark: str, more: Mapping[str, Any]) -> bytes:
    """Return the bytes that `load` reads. `rows` are all rows in the order in which they are shown."""
    values = [
        [one.id, one.badge, one.letter, one.text[:400], one.right, one.state, one.group]
        for one in rows[:ROWS]
    ]
    goes_on = len(rows) > ROWS and rows[ROWS].group == rows[ROWS - 1].group
    content = {
        "stamp": mark,
        "rows": values,
        "goes_on": goes_on,
        "waiting": waiting,
        "counts": counts,
        **more,
    }
    return json.dumps(content, ensure_ascii=True).encode()
