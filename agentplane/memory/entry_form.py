"""The text of an entry as the fields of a form, and back.

Writing a form changes only the places of changed fields. All other bytes of the text stay the same.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from agentplane.memory.entry import LINKS, STATED, Header, read_header
from agentplane.memory.kinds import Kind
from agentplane.memory.proposing import Proposal
from agentplane.text import days
from agentplane.text.markdown import document, header
from agentplane.text.markdown.statement import statement_of
from agentplane.text.visible import one_line


_RATIONALE = re.compile(r"\s*(?:Rationale:\s*)?", re.IGNORECASE)
_ITEM = re.compile(
    r'\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"\s*(?=,|\Z)|(?P<bare>(?:\{[^{}]*\}|[^,])*))', re.DOTALL
)
_CHANGE = re.compile(rf"\s*(?P<minus>-?){_ITEM.pattern}", re.DOTALL)
_BARE = re.compile(r'(?:\{[^{}"\n\r]*\}|[^,{}"\n\r])+')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_HEADER_LISTS = ("tags", "scope", "evidence")


class Form(msgspec.Struct, frozen=True):
    """The fields of an entry as a person types them. Lists are items with commas between them."""

    kind: str = ""
    statement: str = ""
    rationale: str = ""
    """Everything after the statement, without the label."""
    tags: str = ""
    scope: str = ""
    expires: str = ""
    evidence: str = ""


class _Item(msgspec.Struct, frozen=True):
    """One typed item of a list."""

    start: int
    value: str
    closed: bool = True
    """False if its closing quote is missing."""
    removed: bool = False
    """True if it is an item of a list of changes and has a minus sign."""


class _Places(msgspec.Struct, frozen=True):
    """Offsets in a body."""

    label: tuple[int, int]
    """The label of the kind without its colon. Empty if the body has no label."""
    statement: tuple[int, int]
    rationale: tuple[int, int]
    """The text after the statement, without its label."""


class _Read(msgspec.Struct, frozen=True):
    """A text that can be shown as a form."""

    text: bytes
    block: document.Block
    head: Header
    body: str
    places: _Places

    @property
    def form(self) -> Form:
        places = self.places
        return Form(
            kind=self.head.type.lower(),
            statement=self.body[slice(*places.statement)],
            rationale=self.body[slice(*places.rationale)].replace("\r\n", "\n"),
            tags=join(self.head.tags),
            scope=join(self.head.scope),
            expires=self.head.expires_at or "",
            evidence=join(self.head.evidence),
        )


def read(text: bytes, kinds: Mapping[str, Kind]) -> Form | None:
    """Return the form of a text, or None if its fields can't be read without a doubt."""
    found = _read(text, kinds)
    return found.form if found else None


def write(text: bytes, form: Form, kinds: Mapping[str, Kind], today: date) -> bytes:
    """Return the text with the changed fields of a form. A text that has no form stays the same."""
    found = _read(text, kinds)
    if found is None or form == found.form:
        return text
    block, form = found.block, _encodable(form)
    body = _body(found, form, kinds).encode()
    core = header.set_fields(text[block.start : block.body] + body, _changes(found.form, form, today))
    return text[: block.start] + core + text[block.end :]


def new(form: Form, kinds: Mapping[str, Kind], today: date, *, id_: str, **more: Any) -> bytes:
    """Return a text with the fields of a form. `more` are other fields of its header."""
    kind = kinds[form.kind]
    core = header.new_core({"id": id_, "type": kind.name, "status": "proposed", **more}, f"{kind.label}:")
    return write(core, form, kinds, today)


def proposal(text: bytes, kinds: Mapping[str, Kind]) -> Proposal | None:
    """Return the proposal of a text, or None if its fields can't be read."""
    found = _read(text, kinds)
    if found is None:
        return None
    head = found.head
    stated: dict[str, Any] = {name: getattr(head, name) for name in (*STATED, *LINKS)}
    lists = {name: list(value) for name, value in stated.items() if isinstance(value, tuple)}
    return Proposal(
        type=head.type,
        statement=found.form.statement,
        rationale=found.form.rationale or None,
        **(stated | lists),
    )


def problems(form: Form, before: Form, kinds: Mapping[str, Kind], today: date) -> dict[str, str]:
    """Return the problems of the fields by name. Only the statement is checked if it wasn't changed."""
    found = {
        "kind": "" if form.kind in kinds else f"Use one of these kinds: {', '.join(kinds)}.",
        "expires": _expiry_problem(form.expires, today),
        "tags": _list_problem(form.tags),
        "scope": _scope_problem(form.scope),
        "evidence": _list_problem(form.evidence),
    }
    changed = {
        name: problem for name, problem in found.items() if getattr(form, name) != getattr(before, name)
    }
    return {name: what for name, what in {"statement": _statement_problem(form), **changed}.items() if what}


def _statement_problem(form: Form) -> str:
    statement = form.statement.strip()
    if not statement:
        return "Statement is required."
    return "The statement must be one line." if len(statement.splitlines()) > 1 else ""


def _expiry_problem(text: str, today: date) -> str:
    if not text.strip():
        return ""
    day = days.ahead(text, today)
    if day is None:
        return f'Invalid date "{one_line(text.strip(), 20)}". Use a date such as 2026-12-31 or a number of days such as 30d.'
    return f"The expiry date {day} is in the past." if day < today else ""


def _list_problem(text: str, pattern: re.Pattern[str] = _ITEM) -> str:
    closed = all(item.closed for item in _items(text, pattern))
    return "" if closed else "The quote isn't closed. Add \" at the end."


def _scope_problem(text: str) -> str:
    outside = next((glob for glob in split(text) if glob.startswith(("/", "~", "../"))), None)
    if outside is not None:
        return f"Use a path within the project instead of {one_line(outside, 30)}."
    return _list_problem(text)


# Lists


def join(items: Iterable[str]) -> str:
    """Return items with commas between them. An item is quoted if it would be read as something else."""
    return ", ".join(item if _is_bare(item) else _quoted(item) for item in items)


def split(text: str) -> list[str]:
    """Return the items of a list. Commas in braces and in quotes don't separate items."""
    return [item.value for item in _items(text) if item.value]


def changes(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the items to add, and the items to remove, which have a minus sign before them."""
    items = [item for item in _items(text, _CHANGE) if item.value]
    added = tuple(item.value for item in items if not item.removed)
    return added, tuple(item.value for item in items if item.removed)


def changes_problem(text: str) -> str:
    """Return the problem with a list of changes, or an empty text."""
    return _list_problem(text, _CHANGE)


def last_start(text: str) -> int:
    """Return the offset of the last item of a list, which is still being typed."""
    return max((item.start for item in _items(text)), default=0)


def _items(text: str, pattern: re.Pattern[str] = _ITEM) -> Iterator[_Item]:
    at = 0
    while at <= len(text) and (found := pattern.match(text, at)) is not None:
        groups = found.groupdict()
        quoted, bare, removed = groups["quoted"], (groups["bare"] or "").strip(), bool(groups.get("minus"))
        if quoted is None:
            yield _Item(found.start("bare"), bare, closed=not bare.startswith('"'), removed=removed)
        else:
            yield _Item(found.start("quoted") - 1, _ESCAPED.sub(_unescaped, quoted), removed=removed)
        at = found.end() + 1


def _is_bare(item: str) -> bool:
    return _BARE.fullmatch(item) is not None and item == item.strip()


def _quoted(item: str) -> str:
    escaped = item.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _unescaped(found: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r"}.get(found[1], found[1])


# Reading and writing


def _read(text: bytes, kinds: Mapping[str, Kind]) -> _Read | None:
    page = document.parse(text)
    if page.troubles or len(page.blocks) != 1 or text[: page.blocks[0].start].strip(b"\xef\xbb\xbf \t\r\n"):
        return None
    block = page.blocks[0]
    head, found = read_header(block.packed)
    dateless = head.expires_at is not None and days.day_of(head.expires_at) is None
    if len(found) > dateless:
        return None
    body = text[block.body : block.end].decode()
    kind = kinds.get(head.type.lower())
    places = _places(body, kind.label if kind else "")
    if body[slice(*places.statement)] != statement_of(body, kind.label if kind else ""):
        return None
    return _Read(text, block, head, body, places)


def _places(body: str, label: str) -> _Places:
    start, end = _first_line(body)
    first, colon = start, f"{label}:"
    if body[start:end].lower().startswith(colon.lower()):
        start += len(colon)
        start += len(body[start:end]) - len(body[start:end].lstrip())
    lead = _RATIONALE.match(body, end)
    after = lead.end() if lead else end
    rest = max(len(body.rstrip()), after)
    return _Places((first, first + len(label) if start > first else first), (start, end), (after, rest))


def _first_line(body: str) -> tuple[int, int]:
    """Return the place of the first line that isn't empty."""
    at = 0
    for line in body.splitlines(keepends=True):
        if line.strip():
            start = at + len(line) - len(line.lstrip())
            return start, at + len(line.rstrip())
        at += len(line)
    return at, at


def _body(found: _Read, form: Form, kinds: Mapping[str, Kind]) -> str:
    """Return the body with the changed fields."""
    body, places, before = found.body, found.places, found.form
    line_break = "\r\n" if 2 * body.count("\r\n") > body.count("\n") else "\n"
    if form.rationale != before.rationale:
        body = _with_rationale(body, places, form.rationale.strip().replace("\n", line_break), line_break)
    if form.statement != before.statement:
        start, end = places.statement
        gap = " " if body[:start].endswith(":") else ""
        body = f"{body[:start]}{gap}{form.statement.strip()}{body[end:]}"
    old, kind = kinds.get(before.kind), kinds.get(form.kind)
    start, end = places.label
    if kind is not None and old is not None and kind is not old and end > start:
        body = f"{body[:start]}{kind.label}{body[end:]}"
    return body


def _with_rationale(body: str, places: _Places, rationale: str, line_break: str) -> str:
    (_, stated), (start, end) = places.statement, places.rationale
    if not rationale:
        return body[:stated] + body[end:]
    if start == end and not body[stated:start].strip():
        return f"{body[:stated]}{line_break}Rationale: {rationale}{body[end:]}"
    gap = " " if body[:start].endswith(":") else ""
    return f"{body[:start]}{gap}{rationale}{body[end:]}"


def _changes(before: Form, form: Form, today: date) -> dict[str, Any]:
    """Return the changed fields of the header. The draft of a text keeps a date that isn't valid."""
    day = days.ahead(form.expires, today)
    values: dict[str, Any] = {name: split(getattr(form, name)) or header.DROP for name in _HEADER_LISTS}
    values |= {"expires_at": (str(day) if day else form.expires.strip()) or header.DROP, "type": form.kind}
    fields = {"expires_at": "expires", "type": "kind"}
    return {
        name: value
        for name, value in values.items()
        if getattr(form, fields.get(name, name)) != getattr(before, fields.get(name, name))
    }


def _encodable(form: Form) -> Form:
    """Return the form without halves of characters, which no file can hold."""
    texts: Sequence[str] = msgspec.structs.astuple(form)
    return Form(*(text.encode(errors="replace").decode() for text in texts))
