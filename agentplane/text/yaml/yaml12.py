"""The YAML of entries, which is plain data of YAML 1.2, parsed by libyaml within fixed limits.

libyaml creates the events. This module builds values directly from them, with the scalar rules of YAML 1.2.
It walks the events and doesn't compose nodes, which avoids C recursion. So a text that is nested too deeply
is refused when the walk gets there. Anchors, aliases, tags, merge keys and directives are refused, so that
each field has its value where it is written.
"""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn

import yaml
from frontmatter.default_handlers import YAMLHandler
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from agentplane.text.yaml.plain_scalars import plain


MAX_CHARS: Final = 64 * 1024
MAX_NODES: Final = 10_000
MAX_DEPTH: Final = 20

# These are line breaks of YAML 1.1 but ordinary characters in 1.2, and libyaml still breaks lines at them.
# The byte order mark is skipped by libyaml in several places. libyaml gets private characters in place of all
# four.
_ODD: Final = "\x85\u2028\u2029\ufeff"
_STAND_INS: Final = "\uf8f0\uf8f1\uf8f2\uf8f3"
_TO_STAND_INS: Final = str.maketrans(_ODD, _STAND_INS)
_FROM_STAND_INS: Final = str.maketrans(_STAND_INS, _ODD)
_HAS_ODD: Final = re.compile(f"[{_ODD}]")
_HAS_STAND_IN: Final = re.compile(rf"[{_STAND_INS}]|\\u0*f8f", re.IGNORECASE)
_ODD_KEY: Final = re.compile(r"[\[{,]\s*\?:")

NextEvent = Callable[[], Any]


class YamlError(ValueError):
    """The error for text that is not YAML that agentplane reads, with the reason and the line (from 0)."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"{problem} (line {line + 1})")
        self.problem = problem
        self.line = line


class RareYaml(YamlError):
    """The error for an anchor, an alias, a tag, a merge key or a directive, which are not plain data."""


class Field(NamedTuple):
    """The place of one key of the top mapping and of its value, in characters of the text."""

    key: Any
    key_start: int
    key_end: int
    start: int
    end: int
    """Offset after the value's last character that is not white space. An empty value ends at its start."""
    style: str
    """The style of a scalar is ' " | > or empty if plain. The style of a collection is { or [ in flow, and :
    or - in a block.
    """


class Layout(NamedTuple):
    """The place of the top mapping of a text."""

    flow: bool
    column: int
    fields: list[Field]


def load(text: str) -> Any:
    """Return the value that the text describes."""
    try:
        return _Builder(_events(text)).document()
    except yaml.YAMLError as error:
        raise _refusal(error) from None


def layout(text: str) -> Layout | None:
    """Return the places of the fields of the text's mapping. Return None if it is not a mapping.

    The text must be one that `load` accepts.
    """
    next_event = _events(text)
    next_event()
    next_event()
    top = next_event()
    if not isinstance(top, MappingStartEvent):
        return None
    fields = []
    while type(key := next_event()) is not MappingEndEvent:
        key_end = _last_solid(key, next_event)
        value = next_event()
        fields.append(_field(key, key_end, value, _last_solid(value, next_event)))
    mark: Any = top.start_mark
    return Layout(bool(top.flow_style), mark.column, fields)


def shown(value: object) -> str:
    """Return a value in the form for an error message."""
    try:
        text = ascii(value)
    except ValueError:
        # Python refuses to write very long integers in decimal.
        text = "a very long number"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _events(text: str) -> NextEvent:
    if len(text) > MAX_CHARS:
        raise YamlError(f"the YAML is longer than {MAX_CHARS // 1024} KiB", 0)
    # YAML 1.2 reads the question mark as part of the key or value, but libyaml reads it as the mark of a key.
    if "?:" in text and (found := _ODD_KEY.search(text)):
        raise YamlError("the ?: inside brackets must be in quotes", text.count("\n", 0, found.end()))
    odd = None if text.isascii() else _HAS_ODD.search(text)
    if odd and _HAS_STAND_IN.search(text):
        raise YamlError(
            f"the character {shown(odd[0])} must be an escape sequence in double quotes",
            text.count("\n", 0, odd.start()),
        )
    try:
        next_event: NextEvent = CParser(text.translate(_TO_STAND_INS) if odd else text).get_event
    except UnicodeEncodeError:
        raise YamlError("the text contains an unpaired surrogate", 0) from None
    return _restoring(next_event) if odd else next_event


def _restoring(next_event: NextEvent) -> NextEvent:
    """Return events with the original odd characters."""

    def restored() -> Any:
        event = next_event()
        if type(event) is ScalarEvent:
            event.value = event.value.translate(_FROM_STAND_INS)
        return event

    return restored


def _refusal(error: Any) -> YamlError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "this isn't YAML"
    return YamlError(str(problem), mark.line if mark else 0)


def _refuse(event: Any, problem: str) -> NoReturn:
    raise YamlError(problem, event.start_mark.line)


class _Builder:
    """Turns a stream of events into a value, and counts the values in it."""

    __slots__ = ("count", "next")

    def __init__(self, next_event: NextEvent) -> None:
        self.next = next_event
        self.count = 0

    def document(self) -> Any:
        self.next()
        event = self.next()
        if type(event) is StreamEndEvent:
            return None
        if event.version or event.tags:
            raise RareYaml("a line that starts with % is not allowed", 0)
        value = self.node(self.next(), 0)
        self.next()
        event = self.next()
        if type(event) is not StreamEndEvent:
            _refuse(event, "a second document starts here")
        return value

    def node(self, event: Any, depth: int) -> Any:
        kind = type(event)
        if event.anchor is not None or event.tag is not None:
            raise _rare(event)
        self.count += 1
        if self.count > MAX_NODES:
            _refuse(event, f"the YAML has more than {MAX_NODES} values")
        if kind is ScalarEvent:
            return _scalar(event)
        if depth == MAX_DEPTH:
            _refuse(event, f"the YAML has more than {MAX_DEPTH} levels of nesting")
        return self.mapping(depth + 1) if kind is MappingStartEvent else self.items(depth + 1)

    def items(self, depth: int) -> list[Any]:
        values = []
        while type(item := self.next()) is not SequenceEndEvent:
            values.append(self.node(item, depth))
        return values

    def mapping(self, depth: int) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        while type(event := self.next()) is not MappingEndEvent:
            key = self.node(event, depth)
            if isinstance(key, dict | list):
                _refuse(event, "a list or a mapping can't be a key")
            if key in values:
                _refuse(event, f"the key {shown(key)} is repeated here")
            values[key] = self.node(self.next(), depth)
        return values


def _scalar(event: Any) -> Any:
    text: str = event.value
    if not event.implicit[0]:
        return text
    try:
        return plain(text)
    except (ValueError, LookupError, OverflowError):
        if text == "<<":
            raise RareYaml("the merge key << is not allowed", event.start_mark.line) from None
        _refuse(event, f"{shown(text)} isn't a valid date or number (if this is text, put it in quotes)")


def _rare(event: Any) -> RareYaml:
    if type(event) is AliasEvent:
        what = f"alias {shown(event.anchor)}"
    elif event.anchor is not None:
        what = f"anchor {shown(event.anchor)}"
    else:
        what = f"tag {shown(event.tag)}"
    return RareYaml(f"the {what} is not allowed", event.start_mark.line)


def _last_solid(event: Any, next_event: NextEvent) -> int:
    """Read the node that the event opens, and return the position after its last character.

    In libyaml, a block ends where the next node starts, so it would include the comments after it.
    """
    last, depth = event.end_mark.index, 0
    while True:
        kind = type(event)
        if kind is MappingStartEvent or kind is SequenceStartEvent:
            depth += 1
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            depth -= 1
        if kind is ScalarEvent or event.end_mark.index > event.start_mark.index:
            last = max(last, event.end_mark.index)
        if not depth:
            return int(last)
        event = next_event()


def _field(key: Any, key_end: int, value: Any, end: int) -> Field:
    kind = type(value)
    if kind is ScalarEvent:
        style = value.style or ""
    elif kind is MappingStartEvent:
        style = "{" if value.flow_style else ":"
    else:
        style = "[" if value.flow_style else "-"
    name = key.value if type(key) is ScalarEvent else None
    return Field(name, key.start_mark.index, key_end, value.start_mark.index, end, style)


class _Handler(YAMLHandler):
    """python-frontmatter's YAML handler, with agentplane's delimiter and YAML."""

    FM_BOUNDARY = re.compile(r"^---[ \t]*$", re.MULTILINE)

    def split(self, text: str) -> tuple[str, str]:
        header, content = super().split(text)
        return header.removeprefix("\n"), content

    def load(self, fm: str, **_: object) -> Any:
        return load(fm)


HANDLER: Final = _Handler()
