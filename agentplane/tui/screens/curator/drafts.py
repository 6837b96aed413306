"""The texts that a person edits before entries are merged or split."""

from collections.abc import Sequence
from datetime import date

from agentplane.commands import MergeEntries, SplitEntry
from agentplane.curate import merge_draft, split_draft
from agentplane.memory import entry_changes
from agentplane.memory.operations import Stamp
from agentplane.memory.view import Memory
from agentplane.text.visible import one_line
from agentplane.tui.screens.entry.editor import Draft


_NOW = Stamp(date.min, "", None)
"""The stamp of a check, which writes nothing."""


def of_merge(memory: Memory, ids: Sequence[str]) -> Draft:
    """Return a draft that merges approved entries into the first one."""
    entries = entry_changes.accepted(memory, ids)
    names = tuple(entry.id for entry in entries)
    seen = {entry.id: entry.digest for entry in entries}
    others = ", ".join(one_line(id_, 20) for id_ in names[1:])

    def check(text: bytes) -> None:
        entry_changes.merge_entries(memory, names, text, seen, _NOW)

    return Draft(
        id=names[0],
        title=f"Merge {others} into {names[0]}",
        hint=f"When you save, {names[0]} gets this text and supersedes {others}. You can undo this later.",
        text=merge_draft.drafted(memory, names).decode(errors="replace"),
        layout=memory.snapshot.layout,
        check=check,
        op=lambda text: MergeEntries(names, text, tuple(seen.items())),
        saves_unchanged=True,
    )


def of_split(memory: Memory, id_: str) -> Draft:
    """Return a draft that splits an approved entry into several entries."""
    (entry,) = entry_changes.accepted(memory, [id_])

    def check(text: bytes) -> None:
        entry_changes.split_entry(memory, entry.id, split_draft.texts(text), entry.digest, _NOW)

    return Draft(
        id=entry.id,
        title=f"Split {entry.id}",
        hint="When you save, each part becomes an entry with a new ID. You can undo this later.",
        text=split_draft.draft(memory, entry).decode(errors="replace"),
        layout=memory.snapshot.layout,
        check=check,
        op=lambda text: SplitEntry(entry.id, split_draft.texts(text), entry.digest),
        saves_unchanged=True,
    )
