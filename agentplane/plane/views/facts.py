"""Trusted entries as facts for programs, which are the rows of state.json.

A row has the approved text, from a memory file or from the record of the operation that approved it. The
digest in the ledger selects the text. An unaccepted manual edit is therefore never in a row.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import INBOX, Layout
from agentplane.plane.ledger.ledger import Known, Ledger
from agentplane.plane.store import pages, records
from agentplane.plane.store.pages import Page
from agentplane.plane.store.records import Stored
from agentplane.plane.views import external_ids
from agentplane.text.json import decode
from agentplane.text.markdown import document
from agentplane.text.markdown.statement import statement_of
from agentplane.text.yaml import coerce


Load = Callable[[str, str], Stored | None]
"""Return the record of an operation that has the text of a digest, or None."""

_OWN_LABEL = frozenset({"decision", "assumption", "invariant", "fact"})
"""Kinds whose label is their name. Another kind can have any label."""
_LABEL = re.compile(r"\s*([^\W\d_][\w -]{0,30}):[ \t]*\S")


class _Head(msgspec.Struct, frozen=True, gc=False):
    """The header fields that a row needs."""

    type: str = ""
    status: str = ""
    external_id: str | None = None
    layer: str | None = None
    confidence: float | None = None
    source: str | None = None
    evidence: tuple[str, ...] = ()
    expires_at: str | None = None


class _Text(msgspec.Struct, frozen=True, gc=False):
    """An approved text, with its packed header and its body."""

    packed: bytes
    body: str


class Fact(msgspec.Struct, frozen=True, gc=False):
    """A row with the fields of the format in their order, followed by agentplane's own fields."""

    id: str
    layer: str | None
    confidence: float | None
    statement: str
    source_run: str | None
    evidence: tuple[str, ...]
    expires_at: str | None
    kind: str
    status: str
    agentplane: "Origin"


class Origin(msgspec.Struct, frozen=True, gc=False):
    """The origin of a fact, which is the entry and the operation that approved its text."""

    id: str
    file: str
    sha256: str
    op: str


_head = decode.Pack(_Head)
_fields = decode.Pack(dict[str, Any])


def of(ledger: Ledger, texts: "Texts") -> Iterator[Fact]:
    """Yield the trusted entries of every kind, sorted by id. Leave out an entry whose text was pruned."""
    found = [
        (id_, mark, text, _read(text.packed))
        for id_, mark in sorted(ledger.known.items())
        if mark.digest and mark.file != INBOX and (text := texts.of(id_, mark))
    ]
    names = _names(found)
    for id_, mark, text, head in found:
        yield Fact(
            names.get(id_, id_),
            head.layer,
            head.confidence,
            _statement(text.body, head.type),
            head.source,
            head.evidence,
            head.expires_at,
            head.type,
            head.status,
            Origin(id_, mark.file, mark.digest or "", mark.op),
        )


class Texts:
    """The approved texts."""

    def __init__(self, found: Mapping[str, Page], load: Load) -> None:
        self._pages = found
        self._load = load
        self._last: tuple[str, Stored | None] = "", None

    def of(self, id_: str, mark: Known) -> _Text | None:
        page = self._pages.get(mark.file)
        block = page.document.find(id_) if page else None
        if page and block and block.digest == mark.digest:
            return _Text(block.packed, page.document.body(block))
        return self._recorded(id_, mark)

    def _recorded(self, id_: str, mark: Known) -> _Text | None:
        """Return the text from its operation's record.

        Many entries can share an operation, so the last record is cached.
        """
        if self._last[0] != mark.op:
            self._last = mark.op, self._load(mark.op, mark.digest or "")
        stored = self._last[1]
        data = stored.raw(mark.digest) if stored else None
        if data is None or document.digest(data) != mark.digest:
            return None
        page = document.parse(data)
        block = page.find(id_)
        return _Text(block.packed, page.body(block)) if block else None


def texts_in(layout: Layout, found: Mapping[str, Page]) -> Texts:
    """Return the texts of a plane on disk."""

    def load(op: str, digest: str) -> Stored | None:
        try:
            return records.load(layout, op, digest)
        except AgentplaneError:
            return None

    return Texts(found, load)


def pages_in(layout: Layout, read: Callable[[Layout, str], Page] = pages.read) -> dict[str, Page]:
    """Return the memory files that can be read. The texts of the others are in the records."""
    found: dict[str, Page] = {}
    try:
        names = layout.memory_files()
    except AgentplaneError:
        return found
    for name in names:
        try:
            found[name] = read(layout, name)
        except AgentplaneError:
            continue
    return found


def _names(found: list[tuple[str, Known, _Text, _Head]]) -> dict[str, str]:
    """Return the external ids of entries. If several entries share one, the accepted entry has it.

    No entry takes the id of another entry.
    """
    named: dict[str, str] = {}
    ids = {id_ for id_, _, _, _ in found}
    in_force = sorted(found, key=lambda row: row[3].status != "accepted")
    for id_, _, _, head in in_force:
        if head.external_id and external_ids.is_one(head.external_id) and head.external_id not in ids:
            named.setdefault(head.external_id, id_)
    return {id_: name for name, id_ in named.items()}


def _statement(body: str, kind: str) -> str:
    label = _LABEL.match(body) if kind not in _OWN_LABEL else None
    return statement_of(body, label[1] if label else kind)


def _read(packed: bytes) -> _Head:
    try:
        return _head.decode(packed)
    except msgspec.ValidationError:
        return _converted(_fields.decode(packed))


def _converted(fields: dict[str, Any]) -> _Head:
    """Return a header whose values have unexpected types. Unusable values are left out."""
    values: dict[str, Any] = {}
    for name in _Head.__struct_fields__:
        if (value := fields.get(name)) is None:
            continue
        convert = {"evidence": coerce.as_list, "confidence": coerce.as_number}.get(name, coerce.as_text)
        if (converted := convert(value)) is not None:
            values[name] = converted
    return _Head(**values)
