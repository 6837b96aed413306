"""Checks for unapproved text in managed blocks, in context/active.md and in cached context packs."""

from collections.abc import Iterable, Iterator

from agentplane.agents.catalog import TOOLS
from agentplane.context import active, pack_text
from agentplane.errors import AgentplaneError
from agentplane.findings import Finding, Severity, Shell
from agentplane.lazy import cached_property
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.derived import cache_checks
from agentplane.plane.layout import INBOX
from agentplane.plane.store import records
from agentplane.plane.store.store import Store
from agentplane.review import delivery
from agentplane.review.delivery import Delivery
from agentplane.text import files
from agentplane.text.log import chain
from agentplane.text.markdown import document
from agentplane.text.visible import one_line
from agentplane.tools import foreign_file
from agentplane.tools.hooks import start_context
from agentplane.tools.memory_file import allowed_lines, git_conflicts, sync
from agentplane.tools.memory_file.allowed_lines import Known, Line


_MOST = 5
"""Maximum number of reported lines per file."""
_PASSING = ("## Not reviewed", pack_text.NOT_IN_HERE)
"""Headings of sections that change from run to run."""
_SYNC = ("agentplane", "sync")
_REMEDY = Shell(_SYNC, "Review the line, then run ", " to restore the approved memory.")


def check(store: Store) -> Iterator[Finding]:
    """Report such text. `store` must read the plane without the cache."""
    for name in start_context.wrong(store):
        what = "this cached context differs from the approved memory, and new sessions would receive the cached text"
        where = store.layout.shown(f"cache/{name}")
        yield Finding("answer-wrong", "error", where, what, (cache_checks.CLEAR,), name)
    project, root = store.layout.project, store.layout.root
    texts: dict[str, bytes] = {}
    for path in dict.fromkeys(tool.target.path for tool in sync.wired(project, TOOLS)):
        texts[path] = files.read_if(foreign_file.real(project, path)) or b""
    in_conflict = {path for path, _ in git_conflicts.in_conflict(store.layout)}
    found = {path: allowed_lines.blocks(data) for path, data in texts.items() if path not in in_conflict}
    try:
        data = files.read_if(store.layout.file(active.ACTIVE)) or b""
    except AgentplaneError:
        data = b""
    path = f"{root.name}/{active.ACTIVE}"
    texts[path], found[path] = data, allowed_lines.lines(data)
    approved = _Approved(store, texts.values())
    for path, lines in found.items():
        yield from _unknown(path, lines, approved)


def _unknown(path: str, lines: Iterable[Line], approved: "_Approved") -> Iterator[Finding]:
    left = _MOST
    for line in lines:
        if left and approved.withholds(line):
            left -= 1
            name = one_line(line.id, 40)
            what = f"this line has text from {name}, an entry that seems to contain a secret and is withheld from tools"
            remedy = Shell(_SYNC, after=" to remove the text, then rotate the secret.")
            yield Finding("text-withheld", "error", f"{path}:{line.number}", what, (remedy,), line.id)
        elif left and not approved.has(line):
            left -= 1
            what = f"this line has text that is in no approved entry: {one_line(line.raw, 100)}"
            passing = line.section.startswith(_PASSING) and not line.id
            severity: Severity = "warning" if passing else "error"
            yield Finding("text-unknown", severity, f"{path}:{line.number}", what, (_REMEDY,), path)


class _Approved:
    """The lines of the current memory, and of entries that were approved earlier."""

    def __init__(self, store: Store, texts: Iterable[bytes]) -> None:
        self._store, self._texts = store, texts

    def withholds(self, line: Line) -> bool:
        """True if a line is in the memory, but only in entries that are withheld from all tools."""
        return bool(line.id) and self._withheld.kind(line) == "entry" and self._now.kind(line) != "entry"

    def has(self, line: Line) -> bool:
        return self._now.kind(line) != "unknown" or self._earlier.kind(line) != "unknown"

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self._store.snapshot())

    @cached_property
    def _now(self) -> Known:
        layout, memory = self._store.layout, self._memory
        log = chain.lines_backwards(layout.log)
        edited = [edit.id for edit in memory.hand_edits]
        return allowed_lines.known(self._given.entries, layout.root.name, self._texts, log, edited)

    @cached_property
    def _given(self) -> Delivery:
        entries = self._memory.approved()
        if not self._memory.snapshot.settings.gate.finds_secrets:
            return Delivery(tuple(entries))
        held = delivery.searched(entries)
        ids = {entry.id for entry in held}
        return Delivery(tuple(entry for entry in entries if entry.id not in ids), held)

    @cached_property
    def _withheld(self) -> Known:
        return allowed_lines.known(self._given.withheld, self._store.layout.root.name)

    @cached_property
    def _earlier(self) -> Known:
        """The lines of earlier entries. They are read only if a file isn't of the current memory."""
        return allowed_lines.known(self._entries(), self._store.layout.root.name)

    def _entries(self) -> Iterator[Entry]:
        committed = {note.op for note in self._store.snapshot().ledger.ops}
        for line in records.each(self._store.layout):
            stored = records.readable(line)
            if stored is None or stored.record.op not in committed:
                continue
            for change in stored.record.changes:
                text = None if change.after is None else stored.raw(change.after)
                if text is not None and change.file != INBOX and document.digest(text) == change.after:
                    yield from self._memory.entries_in(text, change.file)
