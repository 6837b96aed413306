"""The first rows of the inbox, for the first paint: kept from the last time, read at once, or by a child process.

Only a glimpse: what is decided on is read again. Where it cannot be had, the screen opens without it.
"""

import json
import marshal
import os
import select
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from agentplane.errors import AgentplaneError
from agentplane.plane import cache_file, stamp


ROWS = 120
"""More than a screen can show."""
_SCREENFUL = 60
"""Fewer are not enough where there are more."""
KEPT = "glimpse"
_BEGINNING = 64 << 10
"""So much of a long file is read for them."""
_LONGEST = 32 << 20
"""Of a longer file, the rest is not looked through."""
_NOTHING: Mapping[str, Any] = {}
_CANT_BE_READ = (AgentplaneError, OSError, ValueError, LookupError, TypeError, RecursionError)
"""Errors that a file of any content can cause in the readers used here."""


class AtHand:
    """What was there at once."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = found

    fd = None
    """What becomes readable once it is there; None: it is there."""

    def get(self, _: float) -> Mapping[str, Any]:
        return self._found

    def close(self) -> None:
        pass


class Glimpse:
    """What the child reads, once it has."""

    def __init__(self, fd: int, pid: int) -> None:
        self.fd: int | None = fd
        self._pid = pid

    def get(self, seconds: float) -> Mapping[str, Any]:
        """`rows` and whether the group of the last one `goes_on`; `counts`, `waiting`, `project`, `theme`, `ascii`.

        Nothing if it takes longer.
        """
        fd = self.fd
        try:
            if fd is None or not select.select([fd], [], [], seconds)[0]:
                return _NOTHING
            parts = []
            while part := os.read(fd, 1 << 20):
                parts.append(part)
            found: Mapping[str, Any] = marshal.loads(b"".join(parts))  # noqa: S302 -- from our own child
        except (OSError, EOFError, ValueError, TypeError):
            return _NOTHING
        return found

    def close(self) -> None:
        if self.fd is None:
            return
        os.close(self.fd)
        self.fd = None
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def begin(wanted: str | None) -> Glimpse | AtHand | None:
    """What is there at once, or the child that reads. To be called while this process has one thread."""
    found = kept(wanted) or _read_at_once(wanted)
    if found is not None:
        return AtHand(found)
    if not hasattr(os, "fork"):
        return None
    read_end, write_end = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(read_end)
        os.close(write_end)
        return None
    if pid == 0:
        _answer(read_end, write_end, wanted)
    os.close(write_end)
    return Glimpse(read_end, pid)


def kept(wanted: str | None) -> Mapping[str, Any] | None:
    """What was kept of the plane that is named, or that the current folder is in; None if it has changed since."""
    try:
        folder = wanted or stamp.folder_of(os.getcwd())
        if folder is None:
            return None
        data = cache_file.read(folder, KEPT, _LONGEST)
        if data is None:
            return None
        found = json.loads(data.decode("utf-8", "surrogateescape"))
        if found["stamp"] != stamp.of(folder):
            return None
        found["rows"] = [tuple(map(str, one)) for one in found["rows"]]
    except _CANT_BE_READ:
        return None
    return found if all(len(one) == 7 for one in found["rows"]) else None


def packed(rows: list[Any], waiting: int, counts: list[int], mark: str, more: Mapping[str, Any]) -> bytes:
    """What `kept` reads; `rows` as they are shown first."""
    values = [
        [one.id, one.badge, one.letter, one.text[:400], one.right, one.state, one.group]
        for one in rows[:ROWS]
    ]
    goes_on = len(rows) > ROWS and rows[ROWS].group == rows[ROWS - 1].group
    told = {"stamp": mark, "rows": values, "goes_on": goes_on, "waiting": waiting, "counts": counts, **more}
    return json.dumps(told, ensure_ascii=True).encode()


def _answer(read_end: int, write_end: int, wanted: str | None) -> None:
    """The child: writes what it read, and ends without anything that Python does at its end."""
    try:
        os.close(read_end)
        data = memoryview(marshal.dumps(dict(read(wanted) or {})))
        while data:
            data = data[os.write(write_end, data) :]
    finally:
        os._exit(
            0
        )  # An error ends the child as well. The parent then reads the plane itself and reports the error.


def _read_at_once(wanted: str | None) -> Mapping[str, Any] | None:
    """The same in this process, where that is quick: the file is written as agentplane writes it."""
    try:
        return read(wanted, at_once=True)
    except _CANT_BE_READ:  # the reader of the whole plane reports the error
        return None


def read(wanted: str | None, *, at_once: bool = False) -> Mapping[str, Any] | None:
    """The first candidates of the file, without a look at the rest of the plane: what `Glimpse.get` gives."""
    from datetime import UTC, datetime
    from pathlib import Path

    from agentplane.memory.kinds import kinds_in
    from agentplane.plane import layout as layouts
    from agentplane.plane import settings
    from agentplane.tui import beginning, rows

    start = Path(wanted or ".")
    layout = layouts.at(start) if layouts.is_plane(start) else layouts.find(start)
    found = settings.load(layout.config, "config.toml")
    path = layout.file(layouts.INBOX)
    data = _bytes(path, 0, _BEGINNING + 1)
    whole = len(data) <= _BEGINNING
    first = (beginning.read if at_once else beginning.parse)(data, kinds_in(layout, found), whole=whole)
    if at_once and first.stopped and len(first.entries) < _SCREENFUL:
        return None
    whole = whole and first.end == len(data)
    place = rows.Place("run", datetime.now(UTC), rows.PLAIN if found.tui.ascii else rows.Marks())
    made = [(rows.row(entry, None, place), entry.head.source) for entry in first.entries]
    is_complete = beginning.never_named_in(lambda: b"" if whole else _rest(path, first.end))
    sure, goes_on = beginning.sure(made, (lambda _: True) if whole else is_complete, ROWS)
    return {
        "rows": [(one.id, one.badge, one.letter, one.text, one.right, one.state, one.group) for one in sure],
        "goes_on": goes_on,
        "counts": stamp.kept_counts(str(layout.root)) or [],
        "project": layout.project.name,
        "theme": found.tui.theme,
        "ascii": found.tui.ascii,
        **({"waiting": len(made)} if whole else {}),
    }


def _rest(path: Any, start: int) -> bytes | None:
    rest = _bytes(path, start, _LONGEST + 1)
    return rest if len(rest) <= _LONGEST else None


def _bytes(path: Any, start: int, most: int) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(fd, "rb") as file:
        file.seek(start)
        return file.read(most)
