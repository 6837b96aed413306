"""Entries as they were read, with a typed header, a body and a place."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from agentplane.text import days
from agentplane.text.json import decode
from agentplane.text.markdown.statement import statement_of
from agentplane.text.yaml.coerce import as_list, as_number, as_text


if TYPE_CHECKING:
    from agentplane.text.markdown.document import Block


INBOX_STATUS = "proposed"
SHELF_STATUSES = ("accepted", "deprecated", "superseded")
ARRIVING = ("superseded", "deprecated")
"""The statuses that a candidate can arrive with, if it wasn't in force any more when it was proposed."""

STATED = ("tags", "source", "evidence", "confidence", "expires_at", "check", "scope")
"""Header keys that describe a statement, in the order of a header."""
Link = Literal["supersedes", "refines", "unrelated"]
LINKS: tuple[Link, ...] = get_args(Link)
"""Header keys with the entries that a candidate is related to, according to its proposer."""
REFERENCES = ("supersedes", "superseded_by", "refines", "unrelated", "evidence")
"""Header keys whose values can be ids of other entries."""
POSTPONING = ("sent_back", "snoozed_until")
"""Header keys that only decide when a candidate asks for attention."""


# Tuples, because ten thousand empty lists are ten thousand objects for the garbage collector.
class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The known keys of a header. Unknown keys stay in the file and are never changed."""

    id: str
    type: str
    status: str
    tags: tuple[str, ...] = ()
    source: str | None = None
    """The run that it came from."""
    updated: str | None = None
    confidence: float | None = None
    evidence: tuple[str, ...] = ()
    """Paths, `path:line`, `path#symbol`, commits, URLs."""
    expires_at: str | None = None
    check: str | None = None
    """A condition that must stay true. `memory/condition.py` reads it."""
    scope: tuple[str, ...] = ()
    """Path globs of its scope. If it is empty, the scope is the whole project."""
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    arrives: str | None = None
    """The status that a candidate gets when it is approved, if that isn't `accepted`."""
    refines: tuple[str, ...] = ()
    """Entries that it adds details to, according to its proposer."""
    unrelated: tuple[str, ...] = ()
    """Entries with similar words that it is unrelated to, according to its proposer."""
    anchor: str | None = None
    """The commit at which it was approved."""
    harvested: str | None = None
    """Hash of the original words, if it was imported from another place."""
    external_id: str | None = None
    """The id that a program gave this entry and uses for it."""
    layer: str | None = None
    systemic_scale: float | None = None
    proposed_by: str | None = None
    approved_by: str | None = None
    pinned: bool = False
    """True if a person wants it in every context pack whose scope it matches, with priority over other
    entries.
    """
    sent_back: str | None = None
    """In a candidate, the comment of the person who sent it back to its proposer."""
    snoozed_until: str | None = None
    """In a candidate, the first day on which it asks for attention again."""


class Entry(msgspec.Struct, frozen=True, gc=False, eq=False):
    head: Header
    text: bytes
    """The bytes that it was read from. Entries of a file share its bytes, so that they aren't copied."""
    starts: int
    """Offset in `text` of its header's first byte."""
    body_starts: int
    ends: int
    file: str
    """Path inside the plane."""
    line: int
    digest: str
    trusted: bool
    """True if its bytes are the bytes that its last operation wrote."""
    label: str
    """The label that its kind puts before a statement."""
    problems: tuple[str, ...] = ()
    """Problems of its header that don't prevent reading it."""

    @property
    def raw(self) -> bytes:
        """The body as bytes of the file."""
        return self.text[self.body_starts : self.ends]

    @property
    def header(self) -> bytes:
        """The header as bytes of the file."""
        return self.text[self.starts : self.body_starts]

    def with_text(self, raw: bytes, head: Header) -> "Entry":
        """Return the entry with another body, and a header that isn't in a file."""
        return msgspec.structs.replace(self, head=head, text=raw, starts=0, body_starts=0, ends=len(raw))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.head.id, self.file, self.line, self.digest))

    def _content(self) -> tuple[object, ...]:
        """Return all content of the entry, independent of the bytes that it was read from."""
        own = (self.head, self.raw, self.header, self.file, self.line, self.digest)
        return (*own, self.trusted, self.label, self.problems)

    @property
    def id(self) -> str:
        return self.head.id

    @property
    def body(self) -> str:
        return self.raw.decode()

    @property
    def statement(self) -> str:
        """The first line of the body that isn't empty, without its label."""
        return statement_of(self.body, self.label)


def entry_at(head: Header, text: bytes, block: "Block", file: str, label: str, *, trusted: bool) -> Entry:
    """Return the entry of a block of a text."""
    return Entry(
        head, text, block.head, block.body, block.end, file, block.line, block.digest, trusted, label
    )


def searchable_text(entry: Entry) -> str:
    """Return all the words that a search finds an entry by."""
    return f"{entry.body}\n{' '.join(entry.head.tags)}"


def without_label(text: str, label: str) -> str:
    """Return a text without its label. The text stays the same if it begins with another word, or if nothing
    follows.
    """
    head, colon, rest = text.lstrip().partition(":")
    return rest.lstrip() if colon and rest.strip() and head.casefold() == label.casefold() else text


_strict = decode.Pack(Header)
_strict_list = decode.Pack(list[Header])
_loose = decode.Pack()
_LISTS = ("tags", "evidence", "scope", "supersedes", "superseded_by", "refines", "unrelated")
_NUMBERS = ("confidence", "systemic_scale")
_FLAGS = ("pinned",)


def read_header(packed: bytes) -> tuple[Header, tuple[str, ...]]:
    """Return the header and its problems."""
    try:
        head = _strict.decode(packed)
    except msgspec.ValidationError:
        head, problems = _coerced(_loose.decode(packed))
        return head, (*problems, *_unreadable(head))
    return head, _unreadable(head)


def read_headers(packed: Sequence[bytes]) -> tuple[list[Header], dict[int, tuple[str, ...]]]:
    """Return many headers, and their problems by place."""
    array = b"\xdd" + len(packed).to_bytes(4, "big") + b"".join(packed)
    try:
        heads = _strict_list.decode(array)
    except msgspec.ValidationError:
        read = [read_header(one) for one in packed]
        return [head for head, _ in read], {
            place: problems for place, (_, problems) in enumerate(read) if problems
        }
    dated = ((place, _unreadable(head)) for place, head in enumerate(heads) if head.expires_at)
    return heads, {place: problems for place, problems in dated if problems}


def _unreadable(head: Header) -> tuple[str, ...]:
    """Return the problem of an expiry date that can't be read. Such an entry would never expire."""
    if not head.expires_at or days.day_of(head.expires_at) is not None:
        return ()
    from agentplane.text.visible import one_line  # few entries need it

    shown = one_line(head.expires_at, 30)
    return (f"`expires_at: {shown}` isn't a date, so the entry never expires. Use a date such as 2026-12-31",)


def share(heads: Iterable[Header]) -> None:
    """Make equal values of headers share one object, to save memory in processes that keep many headers."""
    known: dict[object, object] = {}
    for head in heads:
        for name in _SHARED_FIELDS:
            value = getattr(head, name)
            if isinstance(value, tuple):
                value = tuple(known.setdefault(part, part) for part in value)
            # The two objects are equal, so no reader can see a difference.
            msgspec.structs.force_setattr(head, name, known.setdefault(value, value))


_SHARED_FIELDS = (
    "confidence",
    "type",
    "status",
    "tags",
    "source",
    "updated",
    "evidence",
    "proposed_by",
    "approved_by",
    "anchor",
)


def _coerced(fields: dict[str, Any]) -> tuple[Header, tuple[str, ...]]:
    """Return a header whose values have unexpected types, such as one word for a list or a number
    for a text.
    """
    problems = [f"`{key}` is missing" for key in ("type", "status") if fields.get(key) is None]
    values: dict[str, Any] = {"id": str(fields["id"]), "type": "", "status": ""}
    for name in Header.__struct_fields__:
        value = fields.get(name)
        if value is None or name == "id":
            continue
        coerced: Any
        if name in _FLAGS:
            # Not converted, because a wrong guess would change what every tool gets.
            coerced, wanted = (value if isinstance(value, bool) else None), "true or false"
        elif name in _LISTS:
            coerced, wanted = as_list(value), "a valid list"
        else:
            coerced = as_number(value) if name in _NUMBERS else as_text(value)
            wanted = "a valid value"
        if coerced is None:
            problems.append(f"`{name}` must be {wanted}")
        else:
            values[name] = coerced
    return Header(**values), tuple(problems)
