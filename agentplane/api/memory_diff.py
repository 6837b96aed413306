"""The approved entries that changed since a Git commit or a time."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal

import msgspec

from agentplane.errors import AgentplaneError, BadInput
from agentplane.guard import plane_at_commit
from agentplane.guard.plane_at_commit import Side
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.git import git
from agentplane.plane.layout import INBOX, LOG, Layout
from agentplane.plane.ledger.ledger import Known
from agentplane.plane.store.store import Clock, timestamp
from agentplane.text import moments
from agentplane.text.log import times
from agentplane.text.visible import one_line


Kind = Literal["added", "changed", "removed"]
Missing = Literal["repository", "commit"]


class EntryChange(msgspec.Struct, frozen=True):
    """An approved entry with its text then and now. A text is None if the entry was missing or its text was pruned."""

    id: str
    change: Kind
    before: Entry | None
    after: Entry | None


class MemoryDiff(msgspec.Struct, frozen=True):
    commit: str | None
    """The commit that the memory is compared with, or None."""
    time: str | None
    """The time that the memory is compared with, or None."""
    missing: Missing | None
    """Why there is neither: no Git repository, or no commit with this memory. Then every entry counts as added."""
    revision: str
    entries: tuple[EntryChange, ...]


class BadBase(BadInput):
    """A text that names no commit, date or age to compare the memory with."""


class _Base(msgspec.Struct, frozen=True):
    side: Side
    commit: str | None = None
    time: str | None = None
    missing: Missing | None = None


def between(memory: Memory, since: str | None, clock: Clock) -> MemoryDiff:
    """Compare the approved entries with those of a Git revision, a date or an age, or of the last commit."""
    layout = memory.snapshot.layout
    base = _last_commit(layout) if since is None else _named(layout, since, clock)
    entries = tuple(_changes(memory, base.side))
    return MemoryDiff(base.commit, base.time, base.missing, memory.snapshot.ledger.revision(), entries)


def _last_commit(layout: Layout) -> _Base:
    prefix = _prefix(layout)
    if prefix is None:
        return _Base(Side(layout, "", {}), missing="repository")
    commit = git.commit(layout.root, "HEAD")
    side = plane_at_commit.at_commit(layout, prefix, commit) if commit else Side(layout, prefix, {})
    if commit is None or LOG not in side.files:
        return _Base(side, missing="commit")
    return _Base(side, commit)


def _named(layout: Layout, since: str, clock: Clock) -> _Base:
    """Return the memory at a date or age, or else in the commit that a Git revision names."""
    moment = moments.moment(since, clock())
    if moment is None:
        prefix = _prefix(layout)
        commit = None if prefix is None else git.commit(layout.root, since)
        if prefix is None or commit is None:
            revision = "" if prefix is None else "a Git revision such as HEAD~3 or main, "
            raise BadBase(
                f"Invalid revision, date or age: {one_line(since, 40)}.",
                todo=f"Use {revision}{moments.FORMS}.",
            )
        return _Base(plane_at_commit.at_commit(layout, prefix, commit), commit)
    now = plane_at_commit.checked_out(layout, "")
    log = b"".join(line for line in now.log if times.of(line).moment <= moment)
    side = msgspec.structs.replace(now, files={**now.files, LOG: log})
    return _Base(side, time=timestamp(datetime.fromtimestamp(moment, UTC)))


def _prefix(layout: Layout) -> str | None:
    return git.prefix(layout.root) if git.top(layout.root) else None


def _changes(memory: Memory, base: Side) -> Iterator[EntryChange]:
    old, new = _approved(base.ledger.known), _approved(memory.snapshot.ledger.known)
    for id_ in sorted(old.keys() | new.keys()):
        before, after = old.get(id_), new.get(id_)
        if before and after and before.digest == after.digest:
            continue
        change: Kind = "added" if before is None else "removed" if after is None else "changed"
        yield EntryChange(
            id_,
            change,
            _entry(memory, id_, before, _text_at(memory, base, id_, before)),
            _entry(memory, id_, after, memory.snapshot.approved_text(id_)),
        )


def _approved(known: dict[str, Known]) -> dict[str, Known]:
    return {id_: mark for id_, mark in known.items() if mark.digest and mark.file != INBOX}


def _text_at(memory: Memory, base: Side, id_: str, mark: Known | None) -> bytes | None:
    """Return the earlier text of an entry, from its file then or from the record of its operation."""
    if mark is None:
        return None
    page = base.pages.get(mark.file)
    block = page.document.find(id_) if page else None
    if page and block and block.digest == mark.digest:
        return page.document.core(block)
    try:
        return memory.snapshot.text_of(mark.op, mark.digest)
    except AgentplaneError:
        return None  # another branch has the record


def _entry(memory: Memory, id_: str, mark: Known | None, text: bytes | None) -> Entry | None:
    if mark is None or text is None:
        return None
    return next((entry for entry in memory.entries_in(text, mark.file) if entry.id == id_), None)
