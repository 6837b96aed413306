"""The first rows of the inbox, for the first paint: kept from the last time, or read by a child process.

Only a glimpse: what is decided on is read again. Where it cannot be had, the screen opens without it.
"""

import json
import marshal
import os
import select
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from agentplane.plane import stamp


ROWS = 120
KEPT = "glimpse"
_BEGINNING = 64 << 10
"""So much of a long file is read: more than a screen can show."""
_NOTHING: Mapping[str, Any] = {}


class Kept:
    """What was kept when nothing has changed since."""

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
        """`rows`, `counts`, `waiting`, `project`, `theme`, `ascii`; nothing if it takes longer."""
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


def begin(wanted: str | None) -> Glimpse | Kept | None:
    """What was kept, or the child that reads. To be called while this process has one thread."""
    found = kept(wanted)
    if found is not None:
        return Kept(found)
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
        # Without O_NONBLOCK a FIFO in its place would hang the start.
        fd = os.open(os.path.join(folder, "cache", KEPT), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with open(fd, encoding="utf-8", errors="surrogateescape") as file:
            found = json.load(file)
        if found["stamp"] != stamp.of(folder):
            return None
        found["rows"] = [tuple(map(str, one)) for one in found["rows"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if all(len(one) == 7 for one in found["rows"]) else None


def packed(rows: list[Any], waiting: int, counts: list[int], mark: str, more: Mapping[str, Any]) -> bytes:
    """What `kept` reads; `rows` as they are shown first."""
    values = [
        [one.id, one.badge, one.letter, one.text[:400], one.right, one.state, one.group]
        for one in rows[:ROWS]
    ]
    told = {"stamp": mark, "rows": values, "waiting": waiting, "counts": counts, **more}
    return json.dumps(told, ensure_ascii=True).encode()


def _answer(read_end: int, write_end: int, wanted: str | None) -> None:
    """The child: writes what it read, and ends without anything that Python does at its end."""
    try:
        os.close(read_end)
        data = memoryview(marshal.dumps(read(wanted)))
        while data:
            data = data[os.write(write_end, data) :]
    except BaseException:  # noqa: BLE001, S110 -- the parent reads the plane itself and tells what is wrong
        pass
    finally:
        os._exit(0)


def read(wanted: str | None) -> dict[str, Any]:
    """The first candidates of the file, without a look at its rest or at that of the plane."""
    from pathlib import Path

    from agentplane.plane import layout as layouts
    from agentplane.plane import settings

    start = Path(wanted or ".")
    layout = layouts.at(start) if layouts.is_plane(start) else layouts.find(start)
    found = settings.load(layout.config, "config.toml")
    beginning, whole = _beginning(layout.file(layouts.INBOX))
    made = _rows(layout, found, beginning)
    more = {"waiting": len(made)} if whole and len(made) < ROWS else {}
    return {
        "rows": [
            (one.id, one.badge, one.letter, one.text, one.right, one.state, one.group) for one in made[:ROWS]
        ],
        "counts": stamp.kept_counts(str(layout.root)) or [],
        "project": layout.project.name,
        "theme": found.tui.theme,
        "ascii": found.tui.ascii,
        **more,
    }


def _beginning(path: Any) -> tuple[bytes, bool]:
    """The first entries of a file, and whether that is all of it. What is cut off in the middle is left out."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(fd, "rb") as file:
        data = file.read(_BEGINNING + 1)
    if len(data) <= _BEGINNING:
        return data, True
    end = data.rfind(b"\n---\nid:")
    return data[: max(end, 0) + 1], False


def _rows(layout: Any, found: Any, data: bytes) -> list[Any]:
    from datetime import UTC, datetime

    from agentplane.memory.entry import Entry, read_headers
    from agentplane.memory.kinds import kinds_in
    from agentplane.plane.layout import INBOX
    from agentplane.text import document
    from agentplane.tui import rows

    blocks = document.parse(data).blocks
    kinds = kinds_in(layout, found)
    heads, _ = read_headers([block.packed for block in blocks])
    place = rows.Place("run", datetime.now(UTC), rows.PLAIN if found.tui.ascii else rows.Marks())
    made = []
    for block, head in zip(blocks, heads, strict=True):
        kind = kinds.get(head.type)
        raw = data[block.body : block.end]
        entry = Entry(head, raw, INBOX, block.line, block.digest, False, kind.label if kind else "")
        made.append(rows.row(entry, None, place))
    return rows.grouped(made)
