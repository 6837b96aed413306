"""The knowledge that each operation of a log could have, from the texts in its own history and the
records.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from agentplane.guard.plane_at_commit import Side
from agentplane.lazy import cached_property
from agentplane.memory.view import Memory
from agentplane.plane.ledger import ledger as ledgers
from agentplane.plane.ledger import log_events, summing, text_versions
from agentplane.plane.ledger.event_graph import EventGraph
from agentplane.plane.ledger.ledger import Known, Ledger
from agentplane.plane.ledger.text_versions import Version
from agentplane.plane.settings import Settings, Trust
from agentplane.plane.store import records
from agentplane.plane.store.pages import Page
from agentplane.plane.store.records import Change, Stored
from agentplane.plane.store.snapshot import Snapshot
from agentplane.text.log import event_line
from agentplane.text.markdown import document
from agentplane.text.markdown.document import Block, Document


class Past:
    """The history of one side, computed lazily."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._stored: dict[str, Stored | None] = {}
        self._blocks: dict[str, Block | None] = {}

    @cached_property
    def _replayed(self) -> tuple[Ledger, EventGraph, dict[str, list[Version]]]:
        return summing.of_branches_in(
            (line for line in self.side.log if event_line.has_form(line)), self.side.heads
        )

    @property
    def graph(self) -> EventGraph:
        return self._replayed[1]

    @property
    def versions(self) -> Mapping[str, Sequence[Version]]:
        return self._replayed[2]

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each operation's event in the common order."""
        found: dict[str, int] = {}
        for place, line in enumerate(self.graph.lines):
            if event := log_events.OP.read(line):
                found.setdefault(event.op, place)
        return found

    @cached_property
    def _is_straight(self) -> bool:
        """True if no two events are on different branches. Then the last text before an event is the current
        one.
        """
        return not any(self.graph.strands)

    def _known_at(self, id_: str, place: int) -> Sequence[Version]:
        graph = self.graph
        if self._is_straight:
            found = self.versions.get(id_, ())
            end = bisect_left(found, place, key=lambda version: version.place)
            return found[max(0, end - 1) : end]
        return [v for v in self.versions.get(id_, ()) if v.place != place and graph.reaches(v.place, place)]

    def knew(self, id_: str, place: int) -> bool:
        """True if any operation before this event had the id."""
        return bool(self._known_at(id_, place))

    def is_given_apart(self, id_: str, place: int) -> bool:
        """True if an operation that does not follow this event had the id. Then the id is not new."""
        found = self.versions.get(id_, ())
        if self._is_straight:
            return bool(found) and found[0].place < place
        return any(not self.graph.reaches(place, version.place) for version in found)

    def state(self, id_: str, place: int) -> Known | None:
        """Return the state of an id that counted when the event was written."""
        found = self._known_at(id_, place)
        if not found:
            return None
        first = text_versions.live(found, self.graph)[0]
        return Known(first.digest, first.file, first.op)

    def ends(self, id_: str, place: int) -> Sequence[Version]:
        """Return the versions of an id at the ends of the branches that met before the event."""
        return text_versions.ends(self._known_at(id_, place), self.graph)

    def before(self, place: int) -> tuple[Ledger, EventGraph, dict[str, list[Version]]]:
        """Return the ledger of all events in the history of an event, without the event."""
        graph = self.graph
        lines = [graph.lines[n] for n in range(len(graph.lines)) if n != place and graph.reaches(n, place)]
        return summing.of_branches_in(lines, self.side.heads)

    def stored(self, op: str) -> Stored | None:
        if op not in self._stored:
            row = self.side.rows.get(op)
            self._stored[op] = records.readable(row.line) if row else None
        return self._stored[op]

    def text(self, op: str, digest: str | None, file: str = "", id_: str = "") -> bytes | None:
        """Return the text with this digest from the record of an operation, or from the file if the text is
        still current.
        """
        if digest is None:
            return None
        stored = self.stored(op)
        try:
            text = stored.raw(digest) if stored else None
        except (ValueError, TypeError):
            text = None
        if text is not None and document.digest(text) == digest:
            return text
        page = self.side.pages.get(file)
        block = page.document.find(id_) if page else None
        return page.document.core(block) if page and block and block.digest == digest else None

    def block(self, text: bytes) -> Block | None:
        """Return the entry that the text contains, or None if the text is not exactly one entry."""
        digest = document.digest(text) + (" crlf" if b"\r" in text else "")
        if digest not in self._blocks:
            read = document.parse(text)
            whole = len(read.blocks) == 1 and not read.troubles and read.blocks[0].start == 0
            self._blocks[digest] = read.blocks[0] if whole else None
        return self._blocks[digest]

    def page(self, file: str, texts: Iterable[bytes]) -> Page:
        """Return a memory file of these entries. Each entry is parsed separately, so none can extend into the
        next one.
        """
        data, blocks = b"", []
        for text in texts:
            block = self.block(text)
            if block is None:
                continue
            at = len(data)
            blocks.append(
                Block(
                    block.id, block.line, at + block.start, at + block.head, at + block.body, at + block.end,
                    block.key, block.digest, block.packed,
                )
            )  # fmt: skip
            data += text + b"\n\n"
        return Page(file, "", Document(data, tuple(blocks), ()))


class _Recalled(Snapshot, frozen=True, kw_only=True):
    """A plane at an earlier moment. Its texts come from the records of the side that is checked."""

    past: Past

    def text_of(self, op: str, digest: str | None) -> bytes | None:
        return self.past.text(op, digest)


def recalled(past: Past, ledger: Ledger, files: Mapping[str, Sequence[bytes]]) -> Memory:
    """Return the memory at an earlier moment, limited to the facts in the log and the records."""
    pages = {file: past.page(file, texts) for file, texts in sorted(files.items())}
    return Memory(_Recalled(past.side.layout, _strict(past.side.settings), ledger, pages, past=past))


def _strict(settings: Settings) -> Settings:
    """Return settings with the kinds of the branch and default trust, so that no manual edit counts."""
    return Settings(kinds=settings.kinds, trust=Trust())


def tops_before(fresh: Iterable[Change]) -> dict[str, int]:
    """Return, for each prefix of new ids, the number before the first new id.

    An operation takes the next free number. Manually written entries take numbers too, and no record names
    them.
    """
    first: dict[str, int] = {}
    for change in fresh:
        tops: dict[str, int] = {}
        ledgers.raise_tops(tops, [change.id])
        for prefix, number in tops.items():
            first[prefix] = min(first.get(prefix, number - 1), number - 1)
    return first
