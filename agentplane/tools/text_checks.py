"""Text that tools are given and that no approved entry has: in managed blocks, in context/active.md and in kept packs."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from agentplane.context import active, pack
from agentplane.context.choose import Ask
from agentplane.errors import AgentplaneError
from agentplane.findings import Finding
from agentplane.memory.shelf import Memory
from agentplane.plane import cache_checks, records
from agentplane.plane.layout import INBOX
from agentplane.plane.store import Store
from agentplane.text import document, files
from agentplane.text.visible import one_line, visible
from agentplane.tools import answers, block, ground, sync
from agentplane.tools.table import TOOLS


_MOST = 5
"""Lines that are named of one file."""
_WHOLE = 1 << 40
"""A budget that cuts nothing."""
_TITLE = re.compile(r"# Project memory, revision [0-9a-f]{1,40}(, (?:for the task|about) .*)?")
_HEAD = re.compile(r"- [A-Za-z][A-Za-z0-9]{0,15}-[A-Za-z0-9]{1,24}(?: \[[0-9-]{10}\])?(?:, [\w-]{1,40})?: ")
_SCOPE = re.compile(r" \(only for [^()]*\)\Z")
_PASSING = re.compile(r"## (?:The last run|Not reviewed|Not in here)")
"""From such a title on, a pack tells what changes from run to run. Files that git carries have none of it."""
_IDS = re.compile(r"ID(?:, ID)*(?: and 0+ more)?")


def check(store: Store) -> Iterator[Finding]:
    """`store` reads the plane without the cache."""
    for name in answers.wrong(store):
        what = "is not what the approved memory gives, and sessions would start with it"
        where = store.layout.shown(f"cache/{name}")
        yield Finding("error", where, what, cache_checks.REMEDY, fixable=True)
    lines = _Lines(store)
    project, root = store.layout.project, store.layout.root
    for path in dict.fromkeys(tool.target.path for tool in sync.wired(project, TOOLS)):
        data = files.read_if(ground.real(project, path)) or b""
        found = block.find(data)
        if found is not None:
            first = data.count(b"\n", 0, found.inside) + 1
            yield from _unknown(path, found.content(data), first, lines)
    try:
        data = files.read_if(store.layout.file(active.ACTIVE)) or b""
    except AgentplaneError:
        return
    yield from _unknown(f"{root.name}/{active.ACTIVE}", data, 1, lines)


def _unknown(path: str, data: bytes, first: int, lines: "_Lines") -> Iterator[Finding]:
    passing = False
    left = _MOST
    for number, line in enumerate(data.decode(errors="replace").splitlines(), first):
        passing = passing or _PASSING.match(line) is not None
        if left and not lines.knows(line):
            left -= 1
            what = f"holds text that no approved entry has: {one_line(line, 100)}"
            remedy = "Read it, then run `agentplane sync` to write the approved memory again."
            yield Finding("warning" if passing else "error", f"{path}:{number}", what, remedy)


class _Lines:
    """The lines that agentplane may have written: of the memory as it is now, and of entries that were approved before."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def knows(self, line: str) -> bool:
        text = line.strip()
        if not text or text in self._now or _shape(text) in self._shapes or _TITLE.fullmatch(text):
            return True
        head = _HEAD.match(line)
        return _SCOPE.sub("", line[head.end() :] if head else line).strip() in self._earlier

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self._store.snapshot())

    @cached_property
    def _now(self) -> frozenset[str]:
        return frozenset(line.strip() for text in self._packs() for line in text.splitlines())

    @cached_property
    def _shapes(self) -> frozenset[str]:
        """Lines of agentplane's own that differ in ids and numbers only."""
        own = [f"- {pack.LEFT_OUT}: DEC-1. `agentplane show ID` has them."]
        own += [f"@{self._store.layout.root.name}/{active.ACTIVE}"]
        return frozenset(_shape(line) for line in own) | frozenset(
            _shape(line.strip()) for text in self._packs(entries=False) for line in text.splitlines()
        )

    def _packs(self, *, entries: bool = True) -> Iterable[str]:
        today = self._store.clock().date()
        for ask in (Ask(budget=_WHOLE), Ask(budget=_WHOLE, passing=False)):
            sources = active.sources(self._memory, ask, today)
            if not entries:
                sources = msgspec.structs.replace(sources, entries=(), waiting=1, hand_edits=("DEC-1",))
            yield pack.make(sources, ask).text

    @cached_property
    def _earlier(self) -> frozenset[str]:
        """All lines that entries ever had when they were approved. Read only where a file is not of this memory."""
        found: set[str] = set()
        ledger = self._store.snapshot().ledger
        committed = {note.op for note in ledger.ops}
        for line in records.each(self._store.layout):
            stored = records.readable(line)
            if stored is None or stored.record.op not in committed:
                continue
            for change in stored.record.changes:
                if change.after is not None and change.file != INBOX:
                    found.update(_lines_of(stored.raw(change.after), change.after))
        found.update(
            line for entry in self._memory.approved() for line in _said(visible(entry.body).splitlines())
        )
        return frozenset(found)


def _lines_of(text: bytes | None, digest: str) -> Iterator[str]:
    if text is None or document.digest(text) != digest:
        return
    read = document.parse(text)
    for one in read.blocks:
        yield from _said(visible(read.body(one)).splitlines())


def _said(lines: Iterable[str]) -> Iterator[str]:
    """Each line as a pack may have it: on one line, and without the label of its kind."""
    for line in lines:
        yield line.strip()
        yield one_line(line)
        _, label, rest = line.partition(": ")
        if label:
            yield one_line(rest)


def _shape(line: str) -> str:
    line = re.sub(r"\b[0-9]{8}T[0-9]{6}Z-[a-z0-9]+\b", "RUN", line)
    line = re.sub(r"\b[A-Z][A-Z0-9]{0,15}-[A-Z0-9]{1,24}\b", "ID", line)
    return _IDS.sub("ID", re.sub(r"[0-9]+", "0", line))
