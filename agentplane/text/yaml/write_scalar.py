"""Values as YAML 1.2 on one line, with quotes only if they are needed."""

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from agentplane.errors import BadInput
from agentplane.text.yaml.plain_scalars import plain


# Text that is plain everywhere, also inside [ ] and { }.
_WORD: Final = re.compile(r"[\w./](?:[\w./@+=;()'-]| (?=[^\s#])|:(?=[^\s:]))*")
# Text that is plain only after a key.
_PHRASE: Final = re.compile(r"[\w./](?:[\w./@+=;()'\",?!&*|<>%$`\[\]{}-]| (?=[^\s#])|:(?=[^\s:]))*")
_ESCAPED: Final = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_SHORT_ESCAPES: Final = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r"}

# YAML finds a key's colon only within this distance, unless ? announces the key.
_LONGEST_KEY: Final = 900


def scalar(value: Any, *, quote: str = "", flow: bool = False) -> str:
    """Return one value as YAML.

    It must not be a list or mapping. Text gets the given quotes if they can represent it.
    """
    match value:
        case str():
            return _text(value, quote, flow=flow)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if value.bit_length() < 10_000 else hex(value)
        case float():
            return _float(value)
        case datetime() | date():
            return value.isoformat()
    raise TypeError(f"YAML can't represent {type(value).__name__}")


def inline(value: Any, *, quote: str = "") -> str:
    """Return any value on one line."""
    match value:
        case list() | tuple():
            return f"[{', '.join(inline(item, quote=quote) for item in value)}]"
        case Mapping():
            pairs = (f"{key(name, flow=True)}: {inline(item, quote=quote)}" for name, item in value.items())
            return f"{{{', '.join(pairs)}}}"
    return scalar(value, quote=quote, flow=True)


def block(text: str, style: str, indent: str, comment: str = "") -> str | None:
    """Return text as a block scalar without its last line break.

    Return None if its lines don't fit this form.
    """
    lines = text.removesuffix("\n").split("\n")
    if any(line != line.rstrip() or _ESCAPED.search(line) for line in lines):
        return None
    if text.endswith("\n\n") or not lines[0] or lines[0][0].isspace():
        return None
    chomp = "" if text.endswith("\n") else "-"
    return "\n".join([f"{style}{chomp}{comment}", *(line and indent + line for line in lines)])


def key(name: Any, *, flow: bool = False) -> str:
    text = scalar(name, flow=flow)
    if len(text) <= _LONGEST_KEY:
        return text
    return f"? {text} " if flow else f"? {text}\n"


def is_word(value: Any) -> bool:
    return not isinstance(value, str) or (len(value) <= 24 and _text(value, "", flow=True) == value)


def half_a_character() -> BadInput:
    return BadInput("the text contains an unpaired surrogate", todo="Remove the surrogate.")


def single_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def double_quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _text(text: str, quote: str, *, flow: bool) -> str:
    if quote == '"' or _ESCAPED.search(text):
        return double_quoted(text)
    pattern = _WORD if flow else _PHRASE
    if quote == "'" or not pattern.fullmatch(text) or not _means_itself(text):
        return single_quoted(text)
    return text


def _means_itself(text: str) -> bool:
    try:
        return isinstance(plain(text), str)
    except (ValueError, LookupError, OverflowError):
        return False


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:
        raise half_a_character()
    short = _SHORT_ESCAPES.get(match[0])
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _float(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    return repr(value) if math.isfinite(value) else ("-.inf" if value < 0 else ".inf")
