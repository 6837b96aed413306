"""Findings of the gate in a candidate's raw header, where an approval could keep text that no
reviewer sees.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Any

import yaml
from yaml._yaml import CParser

from agentplane.memory.entry import Header
from agentplane.plane.views import external_ids
from agentplane.scan.secrets.find import is_short_word
from agentplane.text.visible import one_line
from agentplane.text.yaml.yaml12 import YamlError, load


_KNOWN = frozenset(Header.__struct_fields__)
_DECIDED = ("pinned", "approved_by", "superseded_by", "anchor")
"""Keys that are written only when a person decides."""
_DATES = ("updated", "expires_at", "snoozed_until")
_MARK = re.compile(r"[0-9a-f]{16}")
_LISTS = ("tags", "evidence", "scope", "supersedes", "superseded_by", "refines", "unrelated")
_TEXTS = ("check", "external_id", "layer", "arrives")
"""Keys whose words the gate reads separately, as it does in a proposal."""
_RUN = re.compile(r"\d{8}T\d{6}Z-[\w-]{1,20}")
"""The name of a run. The gate looks for secrets in it anyway."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#")
_LINE_ENDS = re.compile("\r\n?|\n")


def text_of(header: bytes) -> str:
    """Return the header as text, without the line that closes it."""
    lines = _LINE_ENDS.split(header.decode(errors="replace"))
    while lines and lines[-1].rstrip() in ("", "---"):
        del lines[-1]
    return "\n".join(lines)


def read(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a header that the gate still has to check, with their place.

    These are values that the gate reads in no other place, and the whole text of an odd header.
    """
    for key, value in _fields(text).items():
        if isinstance(key, str) and key in _KNOWN and not _is_read(key, value):
            text_of_value = _value_text(value)
            if not (_RUN.fullmatch(text_of_value) if key == "source" else is_short_word(text_of_value)):
                yield key, text_of_value
    if next(unshown(text), None) is not None:
        yield "header", text


def odd(text: str) -> Iterator[str]:
    """Yield messages about anything in a candidate's header that no program writes."""
    yield from unshown(text)
    fields = _fields(text)
    for key in _DECIDED:
        if key in fields and not (key == "superseded_by" and "arrives" in fields):
            yield f"sets `{key}`, which only a person's decision may set"
    for key in _DATES:
        if key in fields and not _is_date(fields[key]):
            yield f"`{key}` isn't a date"
    if "harvested" in fields and not _MARK.fullmatch(str(fields["harvested"])):
        yield "`harvested` doesn't have 16 hexadecimal digits"
    if "external_id" in fields and not external_ids.is_one(str(fields["external_id"])):
        yield "`external_id` isn't a valid ID"


def unshown(text: str) -> Iterator[str]:
    """Yield messages about anything in a header except known keys with plain values."""
    fields = _fields(text)
    if not fields:
        yield "can't be read"
    yield from _comments(text)
    for key in fields:
        if not isinstance(key, str) or key not in _KNOWN:
            # The key is an attacker's text, so a long key isn't repeated.
            name = f" `{key}`" if isinstance(key, str) and re.fullmatch(r"[a-z_]{1,20}", key) else ""
            yield f"has an unknown key{name}"
    nested = (name for name, value in fields.items() if name in _KNOWN and not _is_plain(value))
    for name in nested:
        yield f"`{one_line(name, 20)}` has nested values"


def _comments(text: str) -> Iterator[str]:
    """Yield a message about the first comment. Comments aren't part of any value."""
    if "#" not in text:
        return
    rest = list(text)
    try:
        parser = CParser(text)
        while token := parser.get_token():
            start, end = token.start_mark.index, token.end_mark.index
            if isinstance(token, yaml.ScalarToken):
                if token.style in ("|", ">"):
                    # A comment can follow the indicator.
                    start = text.find("\n", start, end) if "\n" in text[start:end] else end
                rest[start:end] = ["x" if char not in "\r\n" else char for char in rest[start:end]]
    except (yaml.YAMLError, ValueError):
        rest = list(text)
    if comment := _COMMENT.search("".join(rest)):
        yield f"has a comment (line {text.count(chr(10), 0, comment.start()) + 1})"


@lru_cache(maxsize=4)
def _fields(text: str) -> dict[Any, Any]:
    try:
        found = load(text)
    except YamlError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_read(key: str, value: Any) -> bool:
    return key in _LISTS or (key in _TEXTS and not isinstance(value, list | dict))


def _value_text(value: Any) -> str:
    items = value if isinstance(value, list) else [value]
    return "\n".join(str(item) for item in items)


def _is_plain(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return not any(isinstance(item, list | dict) for item in items)


def _is_date(value: Any) -> bool:
    if value is None or isinstance(value, date):
        return True
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value))
    except ValueError:
        return False
