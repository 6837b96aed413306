"""The memory of a project at one moment, with approved entries, the inbox and manual edits."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from agentplane.errors import AgentplaneError, BadInput
from agentplane.lazy import cached_property
from agentplane.memory import ids
from agentplane.memory.entry import Entry, Header, entry_at, read_headers, share
from agentplane.memory.kinds import Kind, kinds_in
from agentplane.plane.derived import server_memory
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger.ledger import Known
from agentplane.plane.store import records
from agentplane.plane.store.pages import Page
from agentplane.plane.store.snapshot import Snapshot
from agentplane.text.gc_pause import uncollected
from agentplane.text.markdown import document
from agentplane.text.markdown.document import Block
from agentplane.text.visible import one_line


_HEADED = re.compile(rb"^[\"']?id[\"']?[ \t]*:[ \t]*[\"']?([A-Za-z][A-Za-z0-9]*-[0-9]+)", re.MULTILINE)


class HandEdit(msgspec.Struct, frozen=True):
    """An entry whose file differs from the text that its last operation wrote."""

    id: str
    file: str
    line: int | None
    change: Literal["changed", "added", "removed", "broken"]
    """`broken` means that the entry is in the file but can't be read any more."""

    def command(self, verb: Literal["approve", "reject"]) -> tuple[str, ...]:
        """Return the command that accepts or discards it. In the inbox, the ID alone means the candidate."""
        return ("agentplane", verb, *(("--edits",) if self.file == INBOX else ()), one_line(self.id, 40))


class _Marked(msgspec.Struct, frozen=True, dict=True):
    """A file of a snapshot, and the ledger's state of the ids in it.

    It needs no kinds, so invalid settings hide no edit.
    """

    page: Page
    marks: list[Known | None]

    @cached_property
    def edited(self) -> tuple[HandEdit, ...]:
        return tuple(self._edited())

    def _edited(self) -> Iterator[HandEdit]:
        file = self.page.file
        for block, mark in zip(self.page.document.blocks, self.marks, strict=True):
            if mark is None or mark.digest is None or mark.file != file:
                yield HandEdit(block.id, file, block.line, "added")
            elif mark.digest != block.digest:
                yield HandEdit(block.id, file, block.line, "changed")

    @cached_property
    def approved_count(self) -> int:
        """The number of its entries with an approved text in this file, whether or not the file has that
        text.
        """
        return sum(
            mark is not None and mark.digest is not None and mark.file == self.page.file
            for mark in self.marks
        )


class _Part(msgspec.Struct, frozen=True):
    """The entries of one file of a snapshot. They depend only on these fields."""

    marked: _Marked
    kinds: dict[str, Kind]
    by_hand_counts: bool
    entries: tuple[Entry, ...]

    def is_of(self, marked: _Marked, kinds: dict[str, Kind], by_hand: bool) -> bool:
        same = self.marked.page is marked.page and self.by_hand_counts == by_hand
        return same and self.marked.marks == marked.marks and self.kinds == kinds


class Memory:
    """Reads a snapshot. Each part is computed when it is first used."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        return kinds_in(self.snapshot.layout, self.snapshot.settings)

    @cached_property
    def _kind_of_file(self) -> dict[str, Kind]:
        return {kind.file: kind for kind in self.kinds.values()}

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Every readable entry by id, the approved entries in file order first, then the inbox."""
        found = dict(self._on_shelf)
        for entry in self._inbox:
            found[entry.id] = entry
        return found

    @cached_property
    def _on_shelf(self) -> dict[str, Entry]:
        """The approved entries by id. Don't change the dict, because a long-lived process uses it again."""
        parts = tuple(part for file, part in self._parts.items() if file != INBOX)

        def made() -> dict[str, Entry]:
            found: dict[str, Entry] = {}
            for part in parts:
                for entry in part.entries:
                    if entry.id not in found or entry.trusted:
                        found[entry.id] = entry
            return found

        return server_memory.once(self.snapshot.layout, "shelf", parts, made)

    @cached_property
    def shelf_in_order(self) -> tuple[Entry, ...]:
        """The approved entries as one object. It stays the same until one of them changes."""
        found = self._on_shelf
        return server_memory.once(
            self.snapshot.layout, "shelf in order", (found,), lambda: tuple(found.values())
        )

    @cached_property
    def _inbox(self) -> tuple[Entry, ...]:
        """The candidates without an approved entry of the same id."""
        part = self._parts.get(INBOX)
        return tuple(entry for entry in part.entries if entry.id not in self._on_shelf) if part else ()

    @cached_property
    def _parts(self) -> dict[str, _Part]:
        with uncollected():
            return {file: self._part(page) for file, page in self.snapshot.pages.items()}

    def _part(self, page: Page) -> _Part:
        layout, name, shelf = self.snapshot.layout, f"part {page.file}", self.snapshot.ledger.shelf
        # An operation that changes no approved entry keeps this very object, and changes no mark of their
        # files.
        cached: tuple[str | None, _Part | None] = server_memory.get(layout, name) or (None, None)
        cached_shelf, before = cached
        same_marks = shelf is not None and cached_shelf is shelf and page.file != INBOX
        if (
            before is not None
            and same_marks
            and before.is_of(_Marked(page, before.marked.marks), self.kinds, self._by_hand_counts)
        ):
            return before
        marked = self._marked_page(page)
        if before is None or not before.is_of(marked, self.kinds, self._by_hand_counts):
            entries = tuple(self._of_file(page.file, page.document.blocks))
            before = _Part(marked, self.kinds, self._by_hand_counts, entries)
        server_memory.put(layout, name, (shelf, before))
        return before

    @cached_property
    def _blocks(self) -> dict[str, tuple[str, Block]]:
        """File and block of each id. The file of its last operation has priority, then the first one."""
        found: dict[str, tuple[str, Block]] = {}
        for file, page in self.snapshot.pages.items():
            for block in page.document.blocks:
                mark = self.snapshot.ledger.known.get(block.id)
                if block.id not in found or (mark and mark.file == file):
                    found[block.id] = (file, block)
        return found

    @property
    def _by_hand_counts(self) -> bool:
        """True if manual edits are trusted. During a merge of branches, Git may have written the text in a
        file.
        """
        return self.snapshot.settings.trust.hand_edits == "accept" and not self.snapshot.ledger.unsettled

    @property
    def shelf(self) -> list[Entry]:
        return list(self.shelf_in_order)

    @property
    def inbox(self) -> list[Entry]:
        return list(self._inbox)

    @property
    def inbox_ids(self) -> list[str]:
        """The ids of the candidates, without reading their headers."""
        page = self.snapshot.pages.get(INBOX)
        return [block.id for block in page.document.blocks] if page else []

    @property
    def hidden(self) -> list[str]:
        """Candidates that can't be decided about, because an approved entry has the same id."""
        return [id_ for id_ in self.inbox_ids if id_ in self.entries and self.entries[id_].file != INBOX]

    @cached_property
    def by_external_id(self) -> dict[str, Entry]:
        """The entries with external ids. If several share one id, the accepted entry comes before a candidate."""
        found: dict[str, Entry] = {}
        for entry in self.entries.values():
            name = entry.head.external_id
            if name is not None and (name not in found or _rank(entry) < _rank(found[name])):
                found[name] = entry
        return found

    def named_without_entry(self) -> dict[str, str]:
        """Return the ids of facts that runs named and no entry has, each with the run that named it first."""
        named = self.snapshot.ledger.named
        there = self.by_external_id.keys() | self._blocks.keys() if named else set()
        known = self.snapshot.ledger.known
        return {id_: run for id_, run in named.items() if id_ not in there and id_ not in known}

    def get(self, wanted: str) -> Entry:
        """Return the entry that a person names."""
        exact = [
            (page, block) for page in self.snapshot.pages.values() if (block := page.document.find(wanted))
        ]
        if len(exact) == 1 and wanted == wanted.upper():
            page, block = exact[0]
            return self._of_file(page.file, [block])[0]
        gone = wanted.upper()
        if gone in self.snapshot.ledger.known and gone not in self._blocks:
            name = one_line(gone, 40)
            if (became := self._became(gone)) is not None:
                verb, entry = became
                raise BadInput(f"{name} was {verb} {entry}.", todo=f"Run `agentplane show {entry}`.")
            raise BadInput(
                f"{name} no longer exists.",
                todo=f"Run `agentplane history {name}` to see what happened to this entry.",
            )
        try:
            id_ = ids.match(wanted, self._blocks)
        except BadInput:
            # Last, so that no program can give an entry the name that a person uses for another entry.
            if wanted in self.by_external_id:
                return self.by_external_id[wanted]
            raise
        file, block = self._blocks[id_]
        return self._of_file(file, [block])[0]

    def _became(self, candidate: str) -> tuple[str, str] | None:
        """Return how a candidate became part of an entry, such as "merged into", with the id of the entry."""
        try:
            record = records.load(self.snapshot.layout, self.snapshot.ledger.known[candidate].op).record
        except AgentplaneError:
            return None
        became = (change.id for change in record.changes if change.was == candidate)
        verb = "merged into" if record.verb == "merge" else "approved as"
        return next(((verb, one_line(id_, 40)) for id_ in became if id_ in self._blocks), None)

    @property
    def hand_edits(self) -> list[HandEdit]:
        """The manual edits to adopt or revert."""
        return [] if self._by_hand_counts else self.all_hand_edits

    @cached_property
    def all_hand_edits(self) -> list[HandEdit]:
        """Every difference between the files and the texts of the operations, in file order."""
        edited = [edit for marked in self._marked.values() for edit in marked.edited]
        return [*edited, *self._removed()]

    @cached_property
    def _marked(self) -> dict[str, _Marked]:
        if server_memory.is_on():
            return {file: part.marked for file, part in self._parts.items()}
        return {file: self._marked_page(page) for file, page in self.snapshot.pages.items()}

    def _marked_page(self, page: Page) -> _Marked:
        known = self.snapshot.ledger.known
        return _Marked(page, [known.get(block.id) for block in page.document.blocks])

    def is_in_files(self, id_: str) -> bool:
        """True if an id is in a file, even in a part that can't be read now."""
        found = any(page.document.find(id_) for page in self.snapshot.pages.values())
        return found or (self.broken > 0 and id_ in self._broken_ids())

    @property
    def ids_in_files(self) -> set[str]:
        return set(self._blocks) | set(self._broken_ids())

    def _broken_ids(self) -> Iterator[str]:
        """Yield ids in pieces that can't be read now, but may be fixed."""
        for page in self.snapshot.pages.values():
            for piece in page.document.troubles:
                text = page.document.data[piece.start : piece.end]
                yield from (found.decode() for found in _HEADED.findall(text))

    def _of_file(self, file: str, blocks: Sequence[Block]) -> list[Entry]:
        """Return the entries of many blocks at once, which takes only a few calls for ten thousand
        entries.
        """
        data, known = self.snapshot.pages[file].document.data, self.snapshot.ledger.known
        kind, kinds = self._kind_of_file.get(file), self.kinds
        by_hand_counts = self._by_hand_counts
        heads, bent = read_headers([block.packed for block in blocks])
        if server_memory.is_on():
            share(heads)
            _share(blocks, heads, known)
        entries = []
        for block, head in zip(blocks, heads, strict=True):
            mark = known.get(block.id)
            trusted = mark is not None and mark.digest == block.digest and mark.file == file
            own = kind or kinds.get(head.type)
            counts = (trusted or by_hand_counts) and file != INBOX
            entries.append(entry_at(head, data, block, file, own.label if own else "", trusted=counts))
        for place, problems in bent.items():
            entries[place] = msgspec.structs.replace(entries[place], problems=problems)
        return entries

    def _removed(self) -> Iterator[HandEdit]:
        digests = [mark.digest for mark in self.snapshot.ledger.known.values()]
        approved = len(digests) - digests.count(None)
        if approved == sum(marked.approved_count for marked in self._marked.values()):
            return
        present = {
            (file, block.id) for file, page in self.snapshot.pages.items() for block in page.document.blocks
        }
        for id_, mark in self.snapshot.ledger.known.items():
            if mark.digest is not None and (mark.file, id_) not in present:
                line = self._broken_line(id_, mark.file)
                yield HandEdit(id_, mark.file, line, "broken" if line else "removed")

    def _broken_line(self, id_: str, file: str) -> int | None:
        """Return the line of an entry that can't be read, or None if it is missing."""
        if file not in self.snapshot.pages:
            return None
        document = self.snapshot.pages[file].document
        headed = re.compile(
            rb"^[\"']?id[\"']?[ \t]*:[ \t]*[\"']?" + re.escape(id_.encode()) + rb"[\"']?[ \t\r]*$",
            re.MULTILINE,
        )
        broken_pieces = (
            piece for piece in document.troubles if headed.search(document.data, piece.start, piece.end)
        )
        return next((piece.line for piece in broken_pieces), None)

    def approved_as(self, id_: str) -> Entry | None:
        """Return the approved text of an entry in memory."""
        found = self._on_shelf.get(id_)
        if found is not None and found.trusted:
            return found
        mark = self.snapshot.ledger.known.get(id_)
        if self._by_hand_counts or mark is None or mark.digest is None or mark.file == INBOX:
            return None
        return next(iter(self._as_approved(id_, mark.file)), None)

    def approved(self) -> list[Entry]:
        """Return the approved entries. For an entry with a manual edit, this is the text of its last
        operation.
        """
        found = {entry.id: entry for entry in self.shelf if entry.trusted}
        if not self._by_hand_counts:
            for id_, mark in self.snapshot.ledger.known.items():
                if mark.digest is not None and mark.file != INBOX and id_ not in found:
                    found |= {entry.id: entry for entry in self._as_approved(id_, mark.file)}
        return list(found.values())

    def _as_approved(self, id_: str, file: str) -> list[Entry]:
        """Return an entry with its last approved text, or nothing if that text was pruned."""
        text = self.snapshot.approved_text(id_)
        return [] if text is None else [entry for entry in self.entries_in(text, file) if entry.id == id_]

    def entries_in(self, text: bytes, file: str) -> list[Entry]:
        """Return the entries of a text that was approved for a file."""
        read = document.parse(text)
        heads, _ = read_headers([block.packed for block in read.blocks])
        kind = self._kind_of_file.get(file)
        return [
            entry_at(head, text, block, file, kind.label if kind else "", trusted=True)
            for head, block in zip(heads, read.blocks, strict=True)
        ]

    @property
    def broken(self) -> int:
        """The number of unreadable pieces in the files."""
        return sum(len(page.document.troubles) for page in self.snapshot.pages.values())

    def known(self, id_: str) -> Known | None:
        return self.snapshot.ledger.known.get(id_)


def _share(blocks: Sequence[Block], heads: Sequence[Header], known: Mapping[str, Known]) -> None:
    """Make the entries of a file and the ledger share one object for equal ids and digests."""
    for block, head in zip(blocks, heads, strict=True):
        mark = known.get(block.id)
        if mark is not None and mark.digest == block.digest:
            msgspec.structs.force_setattr(block, "digest", mark.digest)
        if head.id == block.id:
            msgspec.structs.force_setattr(head, "id", block.id)


def _rank(entry: Entry) -> int:
    """Return the sort key of an entry among others with the same external id."""
    return (entry.head.status == "accepted" and entry.file != INBOX, entry.file == INBOX, True).index(True)
