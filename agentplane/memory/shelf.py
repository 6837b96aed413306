"""The memory of a plane at one moment: the shelf, the inbox, and what was edited by hand."""

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

import msgspec

from agentplane.memory import ids
from agentplane.memory.entry import Entry, entry_of
from agentplane.memory.kinds import Kind, kinds_of
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger import Known
from agentplane.plane.store import Snapshot


class HandEdit(msgspec.Struct, frozen=True):
    """An entry whose file holds something else than its last op wrote."""

    id: str
    file: str
    line: int | None
    change: Literal["changed", "added", "removed"]


class Memory:
    """Reads a snapshot; works out only what is asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        return kinds_of(self.snapshot.settings)

    @cached_property
    def _kind_of_file(self) -> dict[str, Kind]:
        return {kind.file: kind for kind in self.kinds.values()}

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Every entry that can be read, by id: the shelf in file order, then the inbox."""
        found: dict[str, Entry] = {}
        for file in self.snapshot.pages:
            for entry in self._of_file(file):
                found.setdefault(entry.id, entry)
        return found

    @property
    def shelf(self) -> list[Entry]:
        return [entry for entry in self.entries.values() if entry.file != INBOX]

    @property
    def inbox(self) -> list[Entry]:
        return [entry for entry in self.entries.values() if entry.file == INBOX]

    @property
    def inbox_ids(self) -> list[str]:
        """The candidates' ids, without a look at the rest of them."""
        page = self.snapshot.pages.get(INBOX)
        return [block.id for block in page.document.blocks] if page else []

    def get(self, wanted: str) -> Entry:
        """The entry that a person names."""
        return self.entries[ids.match(wanted, self.entries)]

    @property
    def hand_edits(self) -> list[HandEdit]:
        """What waits to be adopted or reverted."""
        return [] if self.snapshot.settings.trust.hand_edits == "accept" else self.all_hand_edits

    @cached_property
    def all_hand_edits(self) -> list[HandEdit]:
        """Every difference between the files and what the ops wrote, in file order."""
        return [*self._edited(), *self._removed()]

    @property
    def ids_in_files(self) -> set[str]:
        return {block.id for page in self.snapshot.pages.values() for block in page.document.blocks}

    def is_trusted(self, id_: str, file: str, digest: str) -> bool:
        mark = self.snapshot.ledger.known.get(id_)
        if mark is not None and mark.digest == digest and mark.file == file:
            return True
        return self.snapshot.settings.trust.hand_edits == "accept" and file != INBOX

    def _of_file(self, file: str) -> Iterator[Entry]:
        document = self.snapshot.pages[file].document
        kind = self._kind_of_file.get(file)
        for block in document.blocks:
            entry = entry_of(
                document,
                block,
                file,
                trusted=file != INBOX and self.is_trusted(block.id, file, block.digest),
                label=kind.label if kind else "",
            )
            own = self.kinds.get(entry.head.type)
            yield entry if kind or own is None else msgspec.structs.replace(entry, label=own.label)

    def _edited(self) -> Iterator[HandEdit]:
        known = self.snapshot.ledger.known
        for file, page in self.snapshot.pages.items():
            for block in page.document.blocks:
                mark = known.get(block.id)
                if mark is None or mark.digest is None or mark.file != file:
                    yield HandEdit(block.id, file, block.line, "added")
                elif mark.digest != block.digest:
                    yield HandEdit(block.id, file, block.line, "changed")

    def _removed(self) -> Iterator[HandEdit]:
        present = {
            (file, block.id) for file, page in self.snapshot.pages.items() for block in page.document.blocks
        }
        for id_, mark in self.snapshot.ledger.known.items():
            if mark.digest is not None and (mark.file, id_) not in present:
                yield HandEdit(id_, mark.file, None, "removed")

    def known(self, id_: str) -> Known | None:
        return self.snapshot.ledger.known.get(id_)
