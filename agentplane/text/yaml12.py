"""YAML 1.2 as ruamel.yaml reads it, parsed by libyaml, within fixed limits.

libyaml makes the events; values are built here, straight from them, with the scalar rules of
ruamel.yaml. Walking events instead of composing nodes keeps C recursion out of it: a text that is
nested too deeply is refused when the walk gets there. A text that libyaml refuses, or whose line
breaks it understands differently, is parsed by ruamel.yaml itself, through the same walk.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
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

from agentplane.text.plain import MAKERS, Equals, Merge, plain


MAX_CHARS: Final = 64 * 1024
MAX_NODES: Final = 10_000
MAX_DEPTH: Final = 20
MAX_BRACKETS: Final = 250

_CORE: Final = "tag:yaml.org,2002:"

# Line breaks of YAML 1.1, ordinary characters in 1.2, at which libyaml still breaks lines; and the
# byte order mark, which it passes over in more places than one.
_READ_DIFFERENTLY: Final = re.compile("[\x85\u2028\u2029\ufeff]")
_ODD_KEY: Final = re.compile(r"[\[{,]\s*\?:")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

LOOKS_LIKE_ENTRY: Final = re.compile(r"""^["']?id["']?[ \t]*:""", re.MULTILINE)

NextEvent = Callable[[], Any]

_SOLID: Final = frozenset({ScalarEvent, AliasEvent})
_EVENT_FIELDS: Final = (
    "anchor", "tag", "implicit", "value", "style", "flow_style", "version", "start_mark", "end_mark",
)  # fmt: skip


class YamlError(ValueError):
    """Text that is not the YAML we read: what is wrong, and in which line (from 0)."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"{problem} (line {line + 1})")
        self.problem = problem
        self.line = line


class Field(NamedTuple):
    """Where one key of the top mapping and its value stand, in characters of the text."""

    key: Any
    key_start: int
    key_end: int
    start: int
    end: int
    """Behind the value's last character that is not white; an empty value ends where it starts."""
    style: str
    """A scalar's: ' " | > or nothing when plain; a collection's: { [ in flow, : - in a block; * an alias."""
    bare: bool
    """No tag, no anchor: all there is of the value stands between start and end."""


class Layout(NamedTuple):
    """Where the top mapping of a text stands."""

    flow: bool
    start: int
    column: int
    fields: list[Field]


def load(text: str, *, patient: bool = True) -> Any:
    """What ruamel.yaml's safe loader makes of the text. Not `patient`: libyaml's refusal is final."""
    try:
        return _Builder(_fast(text)).document()
    except yaml.YAMLError as error:
        refusal = _refusal(error)
    except _Differs:
        return _Builder(_slow(text)).document()
    if patient:
        with suppress(YamlError):
            return _Builder(_slow(text)).document()
    raise refusal


def layout(text: str) -> Layout | None:
    """Where the fields of the text's mapping stand; None when it is no mapping. For text that `load` accepts."""
    try:
        return _lay_out(_fast(text))
    except (yaml.YAMLError, _Differs):
        return _lay_out(_slow(text))


class _Differs(Exception):
    """libyaml would read this text differently."""


def _fast(text: str) -> NextEvent:
    if len(text) > MAX_CHARS:
        raise YamlError(f"longer than {MAX_CHARS // 1024} KiB", 0)
    if not text.isascii() and _READ_DIFFERENTLY.search(text):
        raise _Differs
    # Inside [ ] and { }, what starts with ?: is one more thing the two disagree about.
    if "?:" in text and _ODD_KEY.search(text):
        raise _Differs
    try:
        next_event: NextEvent = CParser(text).get_event
    except UnicodeEncodeError:
        raise YamlError("a surrogate is no character", 0) from None
    return next_event


def _slow(text: str) -> NextEvent:
    # Looking ahead, ruamel.yaml takes time that grows with the square of open brackets.
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        raise YamlError(f"more than {MAX_BRACKETS} brackets beside characters that need the slow reader", 0)
    # Like libyaml's parser, it gives None behind the end.
    return partial(next, _ruamel_events(text), None)


def _refusal(error: Any) -> YamlError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    return YamlError(str(problem), mark.line if mark else 0)


def _ruamel_events(text: str) -> Iterator[Any]:
    """ruamel.yaml's events as PyYAML's; their fields have the same names."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            yield _as_pyyaml(event)
    except YAMLError as error:
        raise _refusal(error) from None
    except (ValueError, LookupError, AssertionError, TypeError, AttributeError) as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError(f"not YAML: {error}", 0) from None


def _as_pyyaml(event: Any) -> Any:
    new: Any = object.__new__(getattr(yaml.events, type(event).__name__))
    for name in _EVENT_FIELDS:
        setattr(new, name, getattr(event, name, None))
    if isinstance(new.value, str) and _SURROGATE.search(new.value):
        _refuse(event, "a surrogate is no character")
    return new


def _refuse(event: Any, problem: str) -> NoReturn:
    raise YamlError(problem, event.start_mark.line)


def shown(value: object) -> str:
    """A value in an error's text."""
    try:
        text = ascii(value)
    except ValueError:
        # Python refuses to write very long integers in decimal.
        text = "a very long number"
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Anchored(NamedTuple):
    value: Any
    weight: int
    height: int


class _Builder:
    """Turns a stream of events into a value, and counts what the value would cost written out."""

    __slots__ = ("anchors", "deepest", "next", "weight")

    def __init__(self, next_event: NextEvent) -> None:
        self.next = next_event
        self.anchors: dict[str, _Anchored | None] = {}
        """None while the anchor's own node is still open."""
        self.weight = 0
        self.deepest = 0

    def document(self) -> Any:
        self.next()
        event = self.next()
        if type(event) is StreamEndEvent:
            return None
        if event.version not in {None, (1, 2)}:
            _refuse(event, "only YAML 1.2 is read here")
        value = self.node(self.next(), 0)
        self.next()
        event = self.next()
        if type(event) is not StreamEndEvent:
            _refuse(event, "a second document starts here")
        return value

    def node(self, event: Any, depth: int) -> Any:
        value = self.raw(event, depth)
        if value is Merge or value is Equals:
            _refuse(event, "a plain << or = is no value; quote it")
        return value

    def raw(self, event: Any, depth: int) -> Any:
        kind = type(event)
        if kind is ScalarEvent:
            return self.scalar(event)
        if kind is AliasEvent:
            return self.alias(event, depth)
        return self.collection(event, depth + 1)

    def scalar(self, event: Any) -> Any:
        text: str = event.value
        # Text weighs too: an alias repeats all of it.
        weight = 1 + len(text) // 256
        self.weigh(event, weight)
        try:
            if event.tag is None:
                value = plain(text) if event.implicit[0] else text
            elif event.tag == "!":
                value = plain(text)
            else:
                value = _tagged(event, text)
        except (ValueError, LookupError, OverflowError) as error:
            if isinstance(error, YamlError):
                raise
            _refuse(event, f"{shown(text)} is no date or number; quote it if it is meant as text")
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(value, weight, 0)
        return value

    def alias(self, event: Any, depth: int) -> Any:
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            what = "stands inside itself" if event.anchor in self.anchors else "is not defined before it"
            _refuse(event, f"the alias {shown(event.anchor)} {what}")
        self.weigh(event, anchored.weight)
        self.descend(event, depth + anchored.height)
        return anchored.value

    def collection(self, event: Any, depth: int) -> Any:
        outer, self.deepest = self.deepest, 0
        self.descend(event, depth)
        before = self.weight
        self.weigh(event, 1)
        name = event.anchor
        if name is not None:
            self.anchors[name] = None
        value = self.mapping(event, depth) if type(event) is MappingStartEvent else self.items(event, depth)
        # An anchor may have been given away again inside its own node: then that later one holds.
        if name is not None and self.anchors[name] is None:
            self.anchors[name] = _Anchored(value, self.weight - before, self.deepest - depth + 1)
        self.deepest = max(outer, self.deepest)
        return value

    def weigh(self, event: Any, weight: int) -> None:
        self.weight += weight
        if self.weight > MAX_NODES:
            _refuse(event, f"more than {MAX_NODES} values, counting what aliases stand for")

    def descend(self, event: Any, depth: int) -> None:
        self.deepest = max(self.deepest, depth)
        if depth > MAX_DEPTH:
            _refuse(event, f"nested deeper than {MAX_DEPTH}")

    def items(self, event: Any, depth: int) -> list[Any]:
        _own_tag(event, "seq")
        values = []
        while type(item := self.next()) is not SequenceEndEvent:
            values.append(self.node(item, depth))
        return values

    def mapping(self, event: Any, depth: int) -> dict[Any, Any]:
        _own_tag(event, "map")
        values: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        twice: tuple[Any, Any] | None = None
        while type(key_event := self.next()) is not MappingEndEvent:
            key = self.key(key_event, depth)
            value_event = self.next()
            value = self.node(value_event, depth)
            if key is Merge:
                if merged:
                    _refuse(key_event, "a second << in one mapping")
                merged = _merged(value, value_event)
                continue
            if key in values:
                twice = twice or (key_event, key)
            values[key] = value
        if merged:
            # ruamel.yaml lets a mapping with a merge repeat its keys; the last one counts.
            return merged | values
        if twice:
            _refuse(twice[0], f"the key {shown(twice[1])} stands here twice")
        return values

    def key(self, event: Any, depth: int) -> Any:
        key = self.raw(event, depth)
        if key is Equals:
            return "="
        if isinstance(key, (dict, list)):
            _refuse(event, "a list or a mapping cannot be a key")
        return key


def _own_tag(event: Any, name: str) -> None:
    if event.tag not in {None, "!", _CORE + name}:
        _refuse(event, f"the tag {shown(event.tag)} is not allowed here")


def _merged(value: Any, event: Any) -> dict[Any, Any]:
    """What a << brings in; of a list, the earlier mappings win."""
    sources = value if isinstance(value, list) else [value]
    merged: dict[Any, Any] = {}
    for source in reversed(sources):
        if not isinstance(source, dict):
            _refuse(event, "<< takes a mapping, or a list of mappings")
        merged.update(source)
    return merged


def _lay_out(next_event: NextEvent) -> Layout | None:
    """For text that `load` accepts."""
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
    return Layout(bool(top.flow_style), mark.index, mark.column, fields)


def _last_solid(event: Any, next_event: NextEvent) -> int:
    """Reads the node that the event opens, and says where its last character is.

    For libyaml a block ends where the next thing starts, so comments behind it would belong to it.
    """
    last, depth = event.end_mark.index, 0
    while True:
        kind = type(event)
        if kind is MappingStartEvent or kind is SequenceStartEvent:
            depth += 1
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            depth -= 1
        if kind in _SOLID or event.end_mark.index > event.start_mark.index:
            last = max(last, event.end_mark.index)
        if not depth:
            return int(last)
        event = next_event()


def _field(key: Any, key_end: int, value: Any, end: int) -> Field:
    kind = type(value)
    if kind is AliasEvent:
        style = "*"
    elif kind is ScalarEvent:
        style = value.style or ""
    elif kind is MappingStartEvent:
        style = "{" if value.flow_style else ":"
    else:
        style = "[" if value.flow_style else "-"
    bare = kind is not AliasEvent and value.tag is None and value.anchor is None
    name = key.value if type(key) is ScalarEvent else None
    return Field(name, key.start_mark.index, key_end, value.start_mark.index, end, style, bare)


def _tagged(event: Any, text: str) -> Any:
    tag = str(event.tag)
    make = MAKERS.get(tag.removeprefix(_CORE)) if tag.startswith(_CORE) else None
    if make is None:
        _refuse(event, f"the tag {shown(tag)} is not allowed here")
    return make(text)


class Handler(YAMLHandler):
    """python-frontmatter's YAML handler, with our delimiter and our YAML."""

    FM_BOUNDARY = re.compile(r"^---[ \t]*$", re.MULTILINE)

    def __init__(self, *, patient: bool) -> None:
        super().__init__()
        self.patient = patient

    def split(self, text: str) -> tuple[str, str]:
        header, content = super().split(text)
        return header.removeprefix("\n"), content

    def load(self, fm: str, **_: object) -> Any:
        """Only what looks like an entry is worth ruamel.yaml's slower second opinion."""
        return load(fm, patient=self.patient and LOOKS_LIKE_ENTRY.search(fm) is not None)


PATIENT: Final = Handler(patient=True)
HASTY: Final = Handler(patient=False)
