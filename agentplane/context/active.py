"""`context/active.md`, the context pack for the current task on disk, and its receipt."""

from collections.abc import Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from agentplane.context import notes, pack, pack_text
from agentplane.context.choose import Ask
from agentplane.context.pack import Pack, Receipt
from agentplane.context.sources import Sources
from agentplane.curate import doubts
from agentplane.memory import expiry
from agentplane.memory.view import Memory
from agentplane.plane.layout import Layout
from agentplane.review import delivery, feedback
from agentplane.review.conflicts import assumptions
from agentplane.runs.query import last_runs
from agentplane.text import files
from agentplane.text.json import canonical, decode


ACTIVE = "context/active.md"
RECEIPT = "context/receipt.json"
RECEIPTS = "context/files.json"
"""Receipts of files that have room for only part of the context pack."""


def import_line(plane: str) -> str:
    """Return the import line for a tool's file. `plane` is the name of the plane's folder."""
    return f"@{plane}/{ACTIVE}"


def sources(memory: Memory, ask: Ask, today: date) -> Sources:
    """Return the sources of a context pack, with accepted, unexpired entries as people approved them."""
    accepted = [entry for entry in memory.approved() if entry.head.status == "accepted"]
    current = tuple(entry for entry in accepted if not expiry.is_over(entry.head, today))
    lasting = Sources(
        revision=memory.snapshot.ledger.revision(),
        entries=current,
        divide=partial(delivery.divided, memory.snapshot),
        expired=tuple(entry for entry in accepted if expiry.is_over(entry.head, today)),
        against=assumptions.by_id(assumptions.among(memory.snapshot, current)),
    )
    if not ask.passing:
        return lasting
    found = doubts.of(memory)
    doubtful = doubts.withheld(memory, found)
    lasting = msgspec.structs.replace(
        lasting,
        entries=doubts.without(lasting.entries, doubtful),
        doubts={id_: doubt.text for id_, doubt in found.items()},
        doubtful=tuple(sorted(doubtful & {entry.id for entry in lasting.entries})),
    )
    wanted = memory.snapshot.settings.context.last_run
    last = last_runs.of(memory.snapshot.layout, ask.task) if wanted else last_runs.NONE
    return msgspec.structs.replace(
        lasting,
        waiting=len(memory.inbox_ids),
        hand_edits=tuple(edit.id for edit in memory.hand_edits),
        last_run=notes.of(last.run) if last.run else None,
        by_history=last.by_history,
        sent_back=feedback.given_to(memory, ask.reader) if ask.reader else (),
    )


def write(layout: Layout, made: Pack) -> bool:
    """Write a context pack to disk. Return True if a file changed. Current files are left untouched."""
    wanted = ((ACTIVE, made.text.encode()), (RECEIPT, pack.receipt_bytes(made.receipt)))
    files.make_folder(layout.root / "context")
    changed = [name for name, data in wanted if files.read_if(layout.file(name)) != data]
    for name, data in wanted:
        if name in changed:
            files.write_atomic(layout.file(name), data)
    return bool(changed)


def holds(root: Path, whole: Pack) -> bool:
    """True if the context pack on disk is the whole one, or another one from the same memory.

    For example, it may have been made for a task.
    """
    data = files.read_if(root / ACTIVE)
    if data is None or data == whole.text.encode():
        return data is not None
    try:
        on_disk = decode.Json(Receipt).decode(files.read_if(root / RECEIPT) or b"")
    except msgspec.MsgspecError:
        return False
    receipt = whole.receipt
    in_force = {given.id for given in receipt.given} | {
        cut.id for cut in receipt.cut if cut.kind in pack.IN_FORCE
    }
    elsewhere = _repeated_ids(receipt)
    is_as_made = on_disk.sha256 == canonical.sha256(data)
    return (
        is_as_made
        and on_disk.revision == receipt.revision
        and {given.id for given in on_disk.given} <= in_force
        and _repeated_ids(on_disk) <= elsewhere
    )


def _repeated_ids(receipt: Receipt) -> set[str]:
    return {cut.id for cut in receipt.cut if cut.kind == "said"}


def write_receipts(root: Path, receipts: Mapping[str, Receipt | None]) -> None:
    """Write the receipts of smaller context packs, by file.

    None drops the receipt of a file, because the file now has the whole context pack.
    """
    old = files.read_if(root / RECEIPTS)
    known = {**_receipts(old), **{path: msgspec.to_builtins(receipt) for path, receipt in receipts.items()}}
    remaining = {path: known[path] for path in sorted(known) if known[path] is not None}
    if not remaining:
        files.remove(root / RECEIPTS)
        return
    data = msgspec.json.encode({"schema": "agentplane/receipts@1", "files": remaining})
    wanted = msgspec.json.format(data, indent=2) + b"\n"
    if old != wanted:
        files.write_atomic(root / RECEIPTS, wanted)


def _receipts(data: bytes | None) -> dict[str, Any]:
    try:
        return dict(decode.Json().decode(data or b"{}")["files"])
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
        return {}


def revision(root: Path) -> str | None:
    """Return the revision of the context pack on disk, read from its first line."""
    data = files.read_if(root / ACTIVE) or b""
    found = pack_text.read_title(data.partition(b"\n")[0].decode(errors="replace").rstrip())
    return found.revision or None if found else None
