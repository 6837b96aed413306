"""What an op that brings branches together may do without a person: move texts that people approved, and nothing else."""

from collections.abc import Iterator, Sequence
from typing import Any

from agentplane.plane import records
from agentplane.plane.layout import INBOX
from agentplane.plane.records import Change, Record, Stored
from agentplane.runs.deeds import Deed
from agentplane.runs.sides import Side, shown
from agentplane.text import document


# What getting another id changes: the id itself, and links to ids.
_MOVES = ("id", "supersedes", "superseded_by", "refines", "unrelated", "evidence")

_Essence = tuple[dict[str, Any], str]


def complaint(record: Record, done: Sequence[Deed], now: Side) -> str | None:
    """Why an op that says it brings branches together does more than that; None where it does not."""
    mine = stored_of(record.op, now)
    for change in record.changes:
        new = change.file == INBOX and change.before is None and change.found is None
        if new or change.after == change.before:
            continue
        others = list(_others(record, change, done, now))
        if change.after is None:
            taken = change.file == INBOX or any(other.after is None for other, _ in others)
            if not taken and not _stands(change, others, now):
                return f"takes {shown(change.id, 40)} out, which nobody decided"
            continue
        text = text_of(change.after, change, mine, now)
        known = [_essence(text_of(other.left, other, stored, now)) for other, stored in others]
        if text is None or _essence(text) not in known:
            return f"gives {shown(change.id, 40)} a text that no other op approved"
    return None


def stored_of(op: str, now: Side) -> Stored | None:
    row = now.rows.get(op)
    return records.readable(row.line) if row else None


def text_of(digest: str | None, change: Change, stored: Stored | None, now: Side) -> bytes | None:
    """The text under a digest, from the op's record, or from the file if it still stands there."""
    try:
        text = stored.raw(digest) if stored else None
    except (ValueError, TypeError):
        text = None
    page = now.pages.get(change.file)
    block = page.document.find(change.id) if page else None
    if text is None and page and block and block.digest == digest:
        text = page.document.core(block)
    return text if text is not None and document.digest(text) == digest else None


def _others(
    record: Record, change: Change, done: Sequence[Deed], now: Side
) -> Iterator[tuple[Change, Stored | None]]:
    """What other ops did to the same entry, under its id or the one that it had."""
    for deed in done:
        if deed.said.op != record.op:
            for other in deed.changes:
                if other.id in (change.id, change.was):
                    yield other, stored_of(deed.said.op, now)


def _stands(change: Change, others: list[tuple[Change, Stored | None]], now: Side) -> bool:
    """Whether the body of what is taken out stands under another id."""
    gone = {
        _body(text_of(other.left, other, stored, now))
        for other, stored in others
        if other.left == change.before
    }
    bodies = {
        page.document.body(block)
        for page in now.pages.values()
        for block in page.document.blocks
        if block.id != change.id
    }
    return bool(gone) and gone <= bodies


def _essence(text: bytes | None) -> _Essence | None:
    read = document.parse(text) if text else None
    if read is None or len(read.blocks) != 1:
        return None
    fields = read.header(read.blocks[0])
    return {name: value for name, value in fields.items() if name not in _MOVES}, read.body(read.blocks[0])


def _body(text: bytes | None) -> str | None:
    found = _essence(text)
    return found[1] if found else None
