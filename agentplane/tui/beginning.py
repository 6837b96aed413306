"""The first candidates of a file, as far as their place in the list is sure.

Headers that are written as agentplane writes them are read here without a YAML parser, which takes longer to load than
the first paint may. From the first one on that is written in another way, `text.document` has to read the file.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from agentplane.memory.entry import INBOX_STATUS, Entry, Header
from agentplane.memory.kinds import Kind
from agentplane.plane.layout import INBOX
from agentplane.tui.listing import Row


_LONGEST_HEADER = 4096
_LONGEST_NAME = 80

_DELIMITER = re.compile(rb"\n---[ \t]*(?![^\n])")
_ODD = (b"\r", b"\0", b"```", b"~~~")
"""From these on, a --- may be no delimiter, or a text no text."""

# A subset of what `text.scalars` writes, whose meaning cannot be mistaken.
_SIGN = r"(?:[\w./@+=;()-]|:(?=[\w./]))"
_WORD = rf"[A-Za-z/]{_SIGN}*(?: {_SIGN}+)*"
_NUMBER = r"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?"
_QUOTED = r"'[ -&(-~]*'"
_ITEM = rf"(?:{_WORD}|{_NUMBER}|{_QUOTED}|\"[ !#-\[\]-~]*\")"
_LIST = re.compile(rf"^([a-z_]+):(?:\n  - {_ITEM})+$", re.ASCII | re.MULTILINE)
_FIELD = re.compile(
    rf"([a-z_]+): (?:((?!(?i:null|true|false)$){_WORD}|\d{{8}}T\d{{6}}Z-[a-z0-9]+|{_QUOTED})"
    rf"|(\d{{4}}-\d\d-\d\d)|{_NUMBER}|\[(?:{_ITEM}(?:, {_ITEM})*)?\])",
    re.ASCII,
)
_TEXTS = ("source", "updated", "proposed_by")


class Beginning(NamedTuple):
    entries: list[Entry]
    end: int
    """Where the first one begins that was not read."""
    stopped: bool
    """Whether the next one is written in a way that is not read here."""


def read(data: bytes, kinds: Mapping[str, Kind], *, whole: bool) -> Beginning:
    """The entries that a file begins with; of its last one the end may be missing, unless it is the whole file."""
    odd = min((place for sign in _ODD if (place := data.find(sign)) >= 0), default=len(data))
    stopped = odd < len(data) or data.startswith((b"---", b"\xef\xbb\xbf"))
    data = data[:odd]
    breaks = [] if stopped and not odd else [found.span() for found in _DELIMITER.finditer(data)]
    entries: dict[str, Entry] = {}
    for place in range(0, len(breaks) - 1, 2):
        (start, opened), (closed, begun) = breaks[place : place + 2]
        last = place + 2 >= len(breaks)
        if last and (stopped or not whole):
            return Beginning([*entries.values()], start + 1, stopped)
        raw = data[begun + 1 :] if last else data[begun + 1 : breaks[place + 2][0]]
        entry = _entry(data[opened + 1 : closed], raw.rstrip(), kinds)
        if entry is None:
            return Beginning([*entries.values()], start + 1, stopped=True)
        # Of an id that is used twice, the first counts.
        entries.setdefault(entry.id, entry)
    if len(breaks) % 2:
        return Beginning([*entries.values()], breaks[-1][0] + 1, stopped or whole)
    return Beginning([*entries.values()], len(data), stopped)


def _entry(header: bytes, raw: bytes, kinds: Mapping[str, Kind]) -> Entry | None:
    fields = _fields(header)
    if fields is None or fields.get("status") != INBOX_STATUS or not fields.get("id", "").strip():
        return None
    kind = kinds.get(fields.get("type", ""))
    try:
        raw.decode()
    except UnicodeDecodeError:
        return None
    if kind is None:
        return None
    texts: dict[str, Any] = {name: fields[name] for name in _TEXTS if name in fields}
    head = Header(id=fields["id"], type=kind.name, status=INBOX_STATUS, **texts)
    start, end = len(header), len(header) + len(raw)
    return Entry(head, header + raw, 0, start, end, INBOX, 0, "", False, kind.label)


def _fields(header: bytes) -> dict[str, str] | None:
    """The fields, those that hold no text as nothing; None where one is not surely what it seems."""
    if len(header) > _LONGEST_HEADER or not header.isascii():
        return None
    fields: dict[str, str] = {}
    for line in _LIST.sub(r"\1: []", header.decode()).split("\n"):
        found = _FIELD.fullmatch(line)
        if found is None or found[1] in fields:
            return None
        text, day = found[2], found[3]
        if not _is_day(day) or (text is None and day is None and found[1] in ("id", "type", *_TEXTS)):
            return None
        fields[found[1]] = (text or day or "").strip("'")
    return fields


def _is_day(text: str | None) -> bool:
    try:
        return text is None or bool(date.fromisoformat(text))
    except ValueError:
        return False


def parse(data: bytes, kinds: Mapping[str, Kind], *, whole: bool) -> Beginning:
    """The same of any file."""
    from agentplane.memory.entry import entry_at, read_headers
    from agentplane.text import document

    end = len(data) if whole else max(data.rfind(b"\n---\nid:"), 0) + 1
    blocks = document.parse(data[:end]).blocks
    heads, _ = read_headers([block.packed for block in blocks])
    entries = []
    for block, head in zip(blocks, heads, strict=True):
        kind = kinds.get(head.type)
        entries.append(entry_at(head, data, block, INBOX, kind.label if kind else "", trusted=False))
    return Beginning(entries, end, stopped=False)


def sure(
    made: Iterable[tuple[Row, str | None]], is_complete: Callable[[str | None], bool], most: int
) -> tuple[list[Row], bool]:
    """The first rows of the list, and whether the group of the last one goes on.

    Comes from rows and their runs in the order of the file. A group that goes on in the rest of the file moves down
    all those that come after it.
    """
    groups: dict[str, tuple[str | None, list[Row]]] = {}
    for row, run in made:
        groups.setdefault(row.group, (run, []))[1].append(row)
    rows: list[Row] = []
    for run, members in groups.values():
        rows += members
        if len(rows) > most:
            return rows[:most], rows[most].group == rows[most - 1].group
        if not is_complete(run):
            return rows, True
    return rows, False


def never_named_in(read_rest: Callable[[], bytes | None]) -> Callable[[str | None], bool]:
    """Whether a run is named nowhere in the rest of a file; no where that cannot be told."""

    @cache
    def names() -> bytes | None:
        rest = read_rest()
        if rest is None or b'source: "' in rest:
            return None
        return b"\n".join(part[:_LONGEST_NAME] for part in rest.split(b"source")[1:])

    def is_complete(run: str | None) -> bool:
        stamp, _, tail = (run or "").partition("-")
        mark = (tail or stamp).encode()
        if not mark or len(mark) > _LONGEST_NAME // 2:
            return False
        found = names()
        return found is not None and mark not in found

    return is_complete
