"""Operations on manual edits of memory files: accept them, or restore the approved text."""

from collections.abc import Collection, Mapping
from typing import Literal

from agentplane.errors import BadInput, Refused
from agentplane.memory import condition_place, ids
from agentplane.memory.view import HandEdit, Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store import records
from agentplane.plane.store.plan import Edit, Plan
from agentplane.text.markdown.draft import Gap


def adopt(
    memory: Memory, wanted: Collection[str], seen_digests: Mapping[str, str | None] | None = None
) -> Plan:
    """Approve the manual edits in the files, without changing their bytes.

    `seen_digests` contains the digests of the texts that the person saw, or None for a removed text.
    """
    edits = []
    chosen = _hand_edits(memory, wanted)
    for change in chosen if seen_digests is not None else ():
        _check_seen(memory, change, seen_digests or {})
    added = {change.id for change in chosen if change.change == "added"}
    for change in chosen:
        _check_readable(memory, change)
        if original := _original_file(memory, change):
            raise Refused(
                f"{change.id} is already in {original}.",
                where=_place_of(memory, change),
                todo=f"Give the new entry a different ID, or run {_command('reject', change)} to discard the edit.",
            )
        if change.change == "removed" and change.id in added:
            continue  # the entry was moved, and its new place is adopted
        text = None if change.change == "removed" else memory.snapshot.core(change.file, change.id)
        if text is not None:
            approved, path = (
                memory.snapshot.approved_text(change.id),
                memory.snapshot.layout.shown(change.file),
            )
            condition_place.refuse_unreadable(text, approved, path, change.line or 1)
        edits.append(Edit(change.id, change.file, text))
    return Plan("adopt", edits)


def _original_file(memory: Memory, change: HandEdit) -> str | None:
    """Return the file that still has the approved entry, if the manual edit is a copy of it in another file."""
    mark = memory.known(change.id)
    is_copy = mark and mark.digest and mark.file != change.file and memory.snapshot.core(mark.file, change.id)
    return mark.file if mark and is_copy else None


def _command(verb: Literal["approve", "reject"], change: HandEdit) -> str:
    return f"`{' '.join(change.command(verb))}`"


def _place_of(memory: Memory, change: HandEdit) -> str:
    """Return the file and, unless the entry is no longer in it, the line of a manual edit."""
    path = memory.snapshot.layout.shown(change.file)
    return path if change.line is None else f"{path}:{change.line}"


def _check_seen(memory: Memory, change: HandEdit, seen_digests: Mapping[str, str | None]) -> None:
    now = memory.entries.get(change.id)
    if seen_digests.get(change.id) != (now.digest if now else None):
        raise Refused(
            f"{change.id} was edited again after you reviewed it.",
            where=_place_of(memory, change),
            todo="No edit was accepted. Review the current text.",
        )


def adopt_what_counts(memory: Memory) -> Plan | None:
    """Adopt all manual edits of approved entries that can be adopted, for settings that trust manual edits.

    Return None if there are none.
    """
    edits = memory.all_hand_edits
    files = {(change.id, change.change): change.file for change in edits}
    names = [
        change.id
        for change in edits
        if INBOX not in (change.file, files.get((change.id, "added")))
        and change.change != "broken"
        and _original_file(memory, change) is None
    ]
    return adopt(memory, names) if names else None


def revert(memory: Memory, wanted: Collection[str]) -> Plan:
    """Restore the approved text. The manual edit is kept in the record of the operation."""
    edits = []
    for change in _hand_edits(memory, wanted):
        _check_readable(memory, change)
        mark = memory.known(change.id)
        if change.change == "added" or mark is None:
            edits.append(Edit(change.id, change.file, None, after=mark.digest if mark else None))
            continue
        text = memory.snapshot.approved_text(change.id)
        if text is None:
            raise Refused(
                f"The approved text of {change.id} was permanently removed, so it can't be restored.",
                todo=f"Run {_command('approve', change)} to accept the edit.",
            )
        gap = _old_place(memory, change, text)
        edits.append(Edit(change.id, change.file, text, after=mark.digest, gap=gap))
    return Plan("revert", edits)


def _old_place(memory: Memory, change: HandEdit, text: bytes) -> Gap | None:
    """Return the gap after the entry that preceded it in its last operation. None means its current place or
    the end.
    """
    mark = memory.known(change.id)
    page = memory.snapshot.pages.get(change.file)
    if mark is None or page is None or change.change not in ("removed", "broken"):
        return None
    stored = records.load(memory.snapshot.layout, mark.op)
    old = next((item.gap for item in stored.record.changes if item.id == change.id), None)
    if old is None:
        return None
    line_break = "\r\n" if b"\r\n" in text else "\n"
    blocks = page.document.blocks
    predecessor = next((place for place, block in enumerate(blocks) if block.id == old.after), -1)
    follows = predecessor + 1 < len(blocks)
    before = page.document.data[: blocks[predecessor + 1].start if follows else None]
    is_separated = before.endswith((b"\n\n", b"\n\r\n")) and (old.after is None or predecessor >= 0)
    return Gap(
        old.after, lead="" if is_separated else line_break, tail=line_break * 2 if follows else line_break
    )


def _hand_edits(memory: Memory, wanted: Collection[str]) -> list[HandEdit]:
    """Return the manual edits with these names, or all of them if none is named."""
    edits = memory.all_hand_edits
    if not edits:
        raise BadInput("No manual edits found.")
    if not wanted:
        return edits
    edited = {change.id for change in edits}
    names = {ids.match(name, edited | memory.entries.keys()) for name in wanted}
    for name in sorted(names - edited):
        raise BadInput(f"{name} has no manual edit.", todo="Run `agentplane inbox` to list manual edits.")
    return [change for change in edits if change.id in names]


def _check_readable(memory: Memory, change: HandEdit) -> None:
    """Refuse a broken entry. Adopting it would lose its text, and reverting it would add a second copy."""
    if change.change == "broken":
        raise Refused(
            f"{change.id} can't be read.",
            where=_place_of(memory, change),
            todo=f"Fix the header of the entry, or delete the entry and run {_command('reject', change)}.",
        )
