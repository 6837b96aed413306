"""Changes to single fields of an entry's header that keep every other byte.

libyaml finds the place of a field, the new value is put there, and the result is read back. The result may be
wrong for a header in braces or with keys after a question mark. Then this one header is written anew, one field
per line and without its comments. If that fails too, nothing is changed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agentplane.errors import BadInput
from agentplane.text.markdown.document import WHITE, parse, split
from agentplane.text.markdown.fences import Fences
from agentplane.text.yaml.write_scalar import block, half_a_character, inline, is_word, key, scalar
from agentplane.text.yaml.yaml12 import Field, Layout, YamlError, layout, load


class _Drop:
    """The value of a field to remove."""

    def __repr__(self) -> str:
        return "DROP"


DROP: Final = _Drop()

_COLON: Final = re.compile(r"[ \t]*:")
_LINE_END: Final = re.compile(r"[^\n]*(?:\n|\Z)")
_INDICATOR: Final = re.compile(r"[|>][-+0-9]*")
_LINE: Final = 80


def set_fields(core: bytes, changes: Mapping[str, Any]) -> bytes:
    """Return the entry with these fields set. A field with the value DROP is removed."""
    changes = {name: list(value) if isinstance(value, tuple) else value for name, value in changes.items()}
    parts = split(core)
    if parts is None:
        raise BadInput(
            "the entry has no frontmatter", todo="Put the fields of the entry between two --- lines."
        )
    opening, header, rest = parts
    text = _decoded(header)
    before = _load(text)
    wanted = {**before, **changes}
    wanted = {name: value for name, value in wanted.items() if value is not DROP}
    changed = {name: value for name, value in changes.items() if not _stays(before, name, value)}
    if not changed:
        return core
    for candidate in _candidates(text, changed, before, wanted):
        edited = opening + candidate.encode() + rest
        if split(edited) == (opening, candidate.encode(), rest) and _says(candidate, wanted):
            return edited
    raise BadInput(
        f"can't change {', '.join(map(str, changed))} without changing other fields, because of the layout of the frontmatter",
        todo="Write one field per line, then try again.",
    )


def new_core(fields: Mapping[str, Any], body: str) -> bytes:
    """Return the core of a new entry."""
    body = body.replace("\r\n", "\n").rstrip(WHITE.decode())
    for quote in ("", '"'):
        header = "".join(_line(name, value, "\n", quote) for name, value in fields.items())
        core = _encoded(f"---\n{header}---\n{body}").rstrip(WHITE)
        if _says(header, dict(fields)):
            _stands_alone(core)
            return core
    raise BadInput(
        "these fields can't be written as YAML", todo="Use only text, numbers, dates, lists and mappings."
    )


def same(one: Any, other: Any) -> bool:
    """True if two values are equal in value and type. A nan is equal to itself."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return len(one) == len(other) and all(
            same(name, twin) and same(one[name], other[twin])
            for name, twin in zip(sorted(one, key=_order), sorted(other, key=_order), strict=True)
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or (one != one and other != other))  # noqa: PLR0124


def _order(name: Any) -> tuple[str, str]:
    # Python refuses to write very long integers in decimal.
    return type(name).__name__, hex(name) if isinstance(name, int) else str(name)


def _decoded(header: bytes) -> str:
    try:
        return header.decode()
    except UnicodeDecodeError:
        raise BadInput("the frontmatter isn't UTF-8", todo="Save the file as UTF-8.") from None


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise half_a_character() from None


def _load(text: str) -> dict[Any, Any]:
    try:
        fields = load(text)
    except YamlError as error:
        raise BadInput(
            f"invalid frontmatter: {error}", todo="Fix the YAML in the frontmatter first."
        ) from None
    if not isinstance(fields, dict):
        raise BadInput("the frontmatter isn't a list of fields", todo="Write each field as `name: value`.")
    return fields


def _stays(before: Mapping[Any, Any], name: str, value: Any) -> bool:
    if value is DROP:
        return name not in before
    return name in before and same(before[name], value)


def _says(text: str, wanted: Mapping[Any, Any]) -> bool:
    try:
        return same(load(text) or {}, wanted)
    except YamlError:
        return False


def _stands_alone(core: bytes) -> None:
    """Raise BadInput if the body has text that would not read as part of this one entry."""
    document = parse(core)
    blocks = document.blocks
    if len(blocks) != 1 or document.troubles or (blocks[0].start, blocks[0].end) != (0, len(core)):
        where = (
            f"{document.troubles[0].what}"
            if document.troubles
            else "the text would not be read as a single entry"
        )
        raise BadInput(
            f"this text can't be an entry: {where}",
            todo="If the text contains frontmatter, put it in a code fence.",
        )
    if Fences(core).left_open(blocks[0].body):
        raise BadInput("the text opens a code fence and never closes it", todo="Close the code fence.")


def _candidates(
    text: str, changed: Mapping[str, Any], before: Mapping[Any, Any], wanted: Mapping[Any, Any]
) -> Iterator[str]:
    """Yield headers that may have the wanted fields, the smallest change first."""
    places = layout(text)
    if places is not None and not places.flow:
        for gentle, quote in ((True, ""), (False, ""), (False, '"')):
            edited = _Splice(text, places, before, gentle=gentle, quote=quote).edit(changed)
            if edited is not None:
                yield edited
    line_break = "\r\n" if "\r\n" in text else "\n"
    for quote in ("", '"'):
        yield "".join(_line(name, value, line_break, quote) for name, value in wanted.items())


class _Splice:
    """Puts new values in place of the old ones."""

    def __init__(
        self, text: str, places: Layout, before: Mapping[Any, Any], *, gentle: bool, quote: str
    ) -> None:
        self.text = text
        self.places = places
        self.before = before
        self.gentle = gentle
        self.quote = quote
        self.line_break = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"

    def edit(self, changed: Mapping[str, Any]) -> str | None:
        """Return the edited header, or None if a field has no separate place."""
        edits: list[tuple[int, int, str]] = []
        new = ""
        for name, value in changed.items():
            fields = [field for field in self.places.fields if field.key == name]
            if not fields and value is not DROP:
                new += " " * self.places.column + _line(name, value, self.line_break, self.quote)
            elif fields:
                edit = self.drop(fields[0]) if value is DROP else self.put(fields[0], value)
                if edit is None or len(fields) > 1:
                    return None
                edits.append(edit)
        text = self.text
        for start, end, replacement in sorted(edits, reverse=True):
            text = text[:start] + replacement + text[end:]
        return text + new

    def drop(self, field: Field) -> tuple[int, int, str] | None:
        """Return the range of all lines of a field, including the comment at their end."""
        start = self.text.rfind("\n", 0, field.key_start) + 1
        if self.text[start : field.key_start].strip():
            return None
        last = max(field.key_end, self.solid_end(field) - 1)
        match = _LINE_END.match(self.text, last)
        return start, match.end() if match else len(self.text), ""

    def put(self, field: Field, value: Any) -> tuple[int, int, str] | None:
        colon = _COLON.match(self.text, field.key_end)
        if colon is None:
            return None
        end = self.solid_end(field)
        old = self.before.get(field.key)
        if self.gentle and isinstance(value, list) and isinstance(old, list) and old:
            added = value[len(old) :]
            if added and same(value[: len(old)], old):
                return self.append(field, end, added)
        if field.style == "-" and isinstance(value, list) and value:
            return field.start, end, self.items(value, self.indent(field.start))
        new = self.inline(field, value)
        start = field.start
        if field.style in {"-", ":"}:
            # Values on separate lines move up to the key. A comment next to the key stays.
            beside, newline, _ = self.text[colon.end() : field.start].partition("\n")
            return colon.end(), end, f" {new}{beside.rstrip()}" if newline else f" {new}"
        if field.style in {"|", ">"}:
            return start, end, self.block(field, start, value) or new + self.beside(start)
        return start, end, f" {new}" if start == colon.end() else new

    def block(self, field: Field, start: int, value: Any) -> str | None:
        """Return text as a block scalar with the indentation of the existing one, or None."""
        if not isinstance(value, str) or not value.strip() or self.quote:
            return None
        lines = self.text[start : field.end].split("\n")[1:]
        indent = next((line[: len(line) - len(line.lstrip(" "))] for line in lines if line.strip()), "  ")
        folded = field.style == ">" and "\n" not in value.rstrip("\n")
        written = block(value, ">" if folded else "|", indent, self.beside(start))
        return None if written is None else written.replace("\n", self.line_break)

    def beside(self, start: int) -> str:
        """Return the comment on the line of a block scalar's indicator."""
        first = self.text[start:].split("\n", 1)[0].rstrip()
        return _INDICATOR.sub("", first)

    def append(self, field: Field, end: int, added: list[Any]) -> tuple[int, int, str] | None:
        if field.style == "-":
            indent = self.indent(field.start)
            line_end = _LINE_END.match(self.text, end)
            at = line_end.end() if line_end else end
            if self.text[at - 1 : at] != "\n":
                return at, at, self.line_break + indent + self.items(added, indent)
            return at, at, indent + self.items(added, indent) + self.line_break
        at = end - 1
        while self.text[at - 1] in " \t":
            at -= 1
        return at, at, "".join(f", {inline(item, quote=self.quote)}" for item in added)

    def inline(self, field: Field, value: Any) -> str:
        quote = self.quote or (field.style if field.style in {"'", '"'} else "")
        if isinstance(value, list | tuple | Mapping):
            return inline(value, quote=self.quote)
        return scalar(value, quote=quote)

    def items(self, values: list[Any], indent: str) -> str:
        return (self.line_break + indent).join(f"- {inline(item, quote=self.quote)}" for item in values)

    def indent(self, at: int) -> str:
        return self.text[self.text.rfind("\n", 0, at) + 1 : at]

    def solid_end(self, field: Field) -> int:
        """Return the end of a field without trailing white space.

        A block scalar ends after its last line break.
        """
        return field.start + len(self.text[field.start : field.end].rstrip(" \t\r\n"))


def _line(name: str, value: Any, line_break: str, quote: str) -> str:
    """Return a field on one or several lines."""
    start = f"{key(name)}:".replace("\n", line_break)
    if isinstance(value, list | tuple) and value:
        flow = inline(value, quote=quote)
        if len(start) + len(flow) > _LINE or not all(map(is_word, value)):
            items = (f"{line_break}  - {inline(item, quote=quote)}" for item in value)
            return start + "".join(items) + line_break
        return f"{start} {flow}{line_break}"
    if isinstance(value, list | tuple | Mapping):
        return f"{start} {inline(value, quote=quote)}{line_break}"
    return f"{start} {scalar(value, quote=quote)}{line_break}"
