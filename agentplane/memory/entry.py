"""One piece of memory as it was read: typed header, body, place."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from agentplane.text import decoding


INBOX_STATUS = "proposed"
SHELF_STATUSES = ("accepted", "deprecated", "superseded")


# Tuples, because ten thousand empty lists are ten thousand objects for the garbage collector.
class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The keys that are known. Unknown ones stay in the file and are never touched."""

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
    """A command that an assumption must keep passing."""
    scope: tuple[str, ...] = ()
    """Path globs that it is about; none: the whole project."""
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    refines: tuple[str, ...] = ()
    """Entries that it says more about, as its proposer says."""
    unrelated: tuple[str, ...] = ()
    """Entries that it has nothing to do with, as its proposer says, though their words are near."""
    anchor: str | None = None
    """The commit at which it was approved."""
    harvested: str | None = None
    """A mark of the words that it was taken from, where it was kept elsewhere before."""
    layer: str | None = None
    systemic_scale: float | None = None
    proposed_by: str | None = None
    approved_by: str | None = None
    pinned: bool = False
    """A person wants it in every pack that it is about, whatever else there is room for."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    head: Header
    raw: bytes
    """The body as it stands in the file."""
    file: str
    """The path inside the plane."""
    line: int
    digest: str
    trusted: bool
    """Whether its bytes are those that its last op wrote."""
    label: str
    """What its kind puts before a statement."""
    problems: tuple[str, ...] = ()
    """What in its header is not as it should be, though it can be read."""
    header: bytes = b""
    """The header as it is in the file, up to the body."""

    @property
    def id(self) -> str:
        return self.head.id

    @property
    def body(self) -> str:
        return self.raw.decode()

    @property
    def statement(self) -> str:
        """The first line of the body that says anything, without its label."""
        return statement_of(self.body, self.label)


def said(entry: Entry) -> str:
    """All the words that an entry is found by."""
    return f"{entry.body}\n{' '.join(entry.head.tags)}"


def without_label(text: str, label: str) -> str:
    """A text without the label that stands before it; as it is where another word does, or nothing follows."""
    head, colon, rest = text.lstrip().partition(":")
    return rest.lstrip() if colon and rest.strip() and head.casefold() == label.casefold() else text


def statement_of(body: str, label: str) -> str:
    """The first line of a body that says anything, without its label."""
    first = body.strip("\n").partition("\n\n")[0]
    for line in first.splitlines():
        if line.strip():
            first = line.strip()
            break
    prefix = f"{label}:"
    return first[len(prefix) :].strip() if first.lower().startswith(prefix.lower()) else first


_strict = decoding.Pack(Header)
_strict_list = decoding.Pack(list[Header])
_loose = decoding.Pack()
_LISTS = ("tags", "evidence", "scope", "supersedes", "superseded_by", "refines", "unrelated")
_NUMBERS = ("confidence", "systemic_scale")
_FLAGS = ("pinned",)


def read_header(packed: bytes) -> tuple[Header, tuple[str, ...]]:
    """The header, and what had to be bent to read it."""
    try:
        return _strict.decode(packed), ()
    except msgspec.ValidationError:
        return _bend(_loose.decode(packed))


def read_headers(packed: Sequence[bytes]) -> tuple[list[Header], dict[int, tuple[str, ...]]]:
    """Many headers, and the places of those that had to be bent with what was bent."""
    array = b"\xdd" + len(packed).to_bytes(4, "big") + b"".join(packed)
    try:
        return _strict_list.decode(array), {}
    except msgspec.ValidationError:
        read = [read_header(one) for one in packed]
        return [head for head, _ in read], {
            place: problems for place, (_, problems) in enumerate(read) if problems
        }


def share(heads: Iterable[Header]) -> None:
    """Lets headers that say the same have one object for it. For who keeps many of them."""
    known: dict[object, object] = {}
    for head in heads:
        for name in _ALIKE:
            value = getattr(head, name)
            # Nothing that anybody can see changes: the two are equal.
            msgspec.structs.force_setattr(head, name, known.setdefault(value, value))


_ALIKE = ("type", "status", "tags", "source", "updated", "evidence", "proposed_by", "approved_by", "anchor")


def _bend(fields: dict[str, Any]) -> tuple[Header, tuple[str, ...]]:
    """A header whose values have unexpected types: one word for a list, a number for a text."""
    problems = [f"no `{key}`" for key in ("type", "status") if fields.get(key) is None]
    values: dict[str, Any] = {"id": str(fields["id"]), "type": "", "status": ""}
    for name in Header.__struct_fields__:
        value = fields.get(name)
        if value is None or name == "id":
            continue
        bent: Any
        if name in _FLAGS:
            # Not bent: a word that was meant otherwise would change what every tool is given.
            bent, wanted = (value if isinstance(value, bool) else None), "true or false"
        elif name in _LISTS:
            bent, wanted = _as_list(value), "a list that can be used"
        else:
            bent = _as_number(value) if name in _NUMBERS else _as_text(value)
            wanted = "a value that can be used"
        if bent is None:
            problems.append(f"`{name}` is not {wanted}")
        else:
            values[name] = bent
    return Header(**values), tuple(problems)


def _as_text(value: Any) -> str | None:
    return None if isinstance(value, list | dict) else str(value)


def _as_list(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, dict):
        return None
    items = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in items if not isinstance(item, list | dict))


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
