"""Reading a settings file, with errors that name the line and what to write instead."""

import difflib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from agentplane.errors import BadInput
from agentplane.plane.settings import DEFAULTS, Personal, Settings
from agentplane.text import files
from agentplane.text.toml import limited
from agentplane.text.visible import one_line


LARGEST = 64 << 10
"""Bytes of a config.toml. Every shell prompt may have to read it."""
_LONGEST_SIGNER = 16384
# Principals, options, key type, key and comment. ssh-keygen parses the line itself. This pattern only checks
# the form, so that one line can't become two.
_SIGNER = re.compile(
    r'(?:"[^"\x00-\x1f\x7f]+"|[^\s"#-][^\s"]*) (?:[^\x00-\x1f\x7f]+ )?(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]+'
    r" [A-Za-z0-9+/]{16,}={0,2}(?: [^\x00-\x1f\x7f]*)?"
)


def load(path: Path, shown: str) -> Settings:
    """Return the settings of a plane. `shown` is the file's name in errors."""
    data = files.read_if(path, most=LARGEST + 1)
    return DEFAULTS if data is None else parse(data, shown)


def parse(data: bytes, shown: str) -> Settings:
    text, table = read(data, shown)
    found = _converted(Settings, table, text, shown)
    _check_signatures(found, text, shown)
    _check_receipts(found, text, shown)
    return found


def parse_personal(data: bytes, shown: str) -> Personal:
    """Return the settings in a person's own file."""
    text, table = read(data, shown)
    return _converted(Personal, table, text, shown)


def read(data: bytes, shown: str) -> tuple[str, dict[str, Any]]:
    """Return the text of a settings file and its tables, which may still have invalid keys and values."""
    if len(data) > LARGEST:
        what = f"the file is larger than {LARGEST >> 10} KiB"
        raise BadInput(what, where=shown, todo="Shorten the file. `agentplane settings` lists every setting.")
    try:
        text = data.decode()
        return text, limited.read(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            "The file isn't valid UTF-8.", where=f"{shown}:{line}", todo="Save it as UTF-8."
        ) from None
    except limited.TomlError as error:
        where = shown if error.line is None else f"{shown}:{error.line}"
        todo = "Fix this line. `agentplane settings` lists every setting."
        raise BadInput(error.what, where=where, todo=todo) from None


_Root = TypeVar("_Root", Settings, Personal)


def _converted(root: type[_Root], table: dict[str, Any], text: str, shown: str) -> _Root:
    try:
        return msgspec.convert(table, root)
    except msgspec.ValidationError as error:
        raise _value_error(str(error), root, table, text, shown) from None


def _check_signatures(found: Settings, text: str, shown: str) -> None:
    """Refuse invalid signers, and settings that contradict `require_signatures`.

    For example, approvals by a policy are never signed.
    """
    trust, keys, what, todo = found.trust, ("trust", "require_signatures"), "", ""
    for number, line in enumerate(trust.allowed_signers, 1):
        if len(line) > _LONGEST_SIGNER or not _SIGNER.fullmatch(line):
            where = f"{shown}:{line_of(('trust', 'allowed_signers'), text)}"
            what = f"item {number} of `trust.allowed_signers` isn't a valid signer"
            raise BadInput(what, where=where, todo='Use the form "ada@example.org ssh-ed25519 AAAA…".')
    if not trust.require_signatures:
        return
    if not trust.allowed_signers:
        what, todo = "`trust.allowed_signers` is empty", "Add signers to `trust.allowed_signers`."
    elif trust.hand_edits == "accept":
        keys = ("trust", "hand_edits")
        what, todo = (
            "automatically accepted manual edits are never signed",
            'Set `trust.hand_edits = "review"`.',
        )
    elif found.policy.auto_approve_confidence is not None:
        keys = ("policy", "auto_approve_confidence")
        what, todo = "automatic approvals are never signed", "Remove `policy.auto_approve_confidence`."
    if what:
        where = f"{shown}:{line_of(keys, text)}"
        raise BadInput(f"`trust.require_signatures` is on, but {what}", where=where, todo=todo)


def _check_receipts(found: Settings, text: str, shown: str) -> None:
    """Refuse settings that contradict `require_receipts`. Accepted manual edits are never asked for receipts."""
    if found.policy.require_receipts is not False and found.trust.hand_edits == "accept":
        where = f"{shown}:{line_of(('trust', 'hand_edits'), text)}"
        what = "`policy.require_receipts` is on, but automatically accepted manual edits aren't checked for receipts"
        raise BadInput(what, where=where, todo='Set `trust.hand_edits = "review"`.')


def _value_error(
    message: str, root: type[msgspec.Struct], table: dict[str, Any], text: str, shown: str
) -> BadInput:
    """Return an error with a line number. The library only names the place, such as `$.trust.hand_edits`."""
    what, _, place = message.partition(" - at `")
    place = place.rstrip("`")
    if place.startswith("key`"):
        what, place = f"Invalid kind name: {what[:1].lower()}{what[1:]}", f"$.kinds.{_bad_kind(table)}"
    elif place.startswith("$.tui.keys["):
        place = f"$.tui.keys.{_bad_key(table)}"
    elif "[...]" in place:
        place = place.replace("[...]", f".{_bad_kind(table)}")
    keys = [key for key in place.removeprefix("$").split(".") if key]
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    known = names(root)
    todo = f"The settings are {', '.join(known)}."
    if unknown:
        what = f"Unknown setting: `{one_line('.'.join([*keys, unknown[1]]), 80)}`"
        keys.append(unknown[1])
        near = difflib.get_close_matches(".".join(keys), known, 1)
        todo = f"Did you mean `{near[0]}`?" if near else todo
    elif keys:
        allowed = _allowed(keys)
        reason = f"invalid value {_written(table, keys)}" if allowed else f"{what[:1].lower()}{what[1:]}"
        what = f"`{'.'.join(keys)}`: {reason}"
        todo = f"Use {allowed}." if allowed else "Use a value of the expected type, or remove the setting."
    return BadInput(what, where=f"{shown}:{line_of(keys, text)}", todo=todo)


def _written(table: Any, keys: list[str]) -> str:
    """Return the value at a key, as a short text."""
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return one_line(json.dumps(table, default=str, ensure_ascii=False), 60)


def _bad_kind(table: dict[str, Any]) -> str:
    """Return the name of the first invalid kind, because the library doesn't name it."""
    for name, row in table["kinds"].items():
        try:
            msgspec.convert({"kinds": {name: row}}, Settings)
        except msgspec.ValidationError:
            return str(name)
    return ""


def _bad_key(table: dict[str, Any]) -> str:
    """Return the first action whose key is not a text."""
    return next(str(name) for name, key in table["tui"]["keys"].items() if not isinstance(key, str))


def names(struct: type[msgspec.Struct], prefix: str = "") -> list[str]:
    """Return every key with its table, such as `trust.hand_edits`."""
    found: list[str] = []
    for field in msgspec.structs.fields(struct):
        inner = _table(field.type)
        found += names(inner, f"{prefix}{field.name}.") if inner else [prefix + field.name]
    return found


def _table(kind: Any) -> type[msgspec.Struct] | None:
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def choices(kind: Any) -> tuple[bool | str, ...]:
    """Return the allowed values of a type, or nothing if it isn't limited to a few."""
    bare, _ = _bare(kind)
    parts = [_bare(part)[0] for part in get_args(bare)] if get_origin(bare) in (Union, UnionType) else [bare]
    words = [value for part in parts if get_origin(part) is Literal for value in get_args(part)]
    return (*((True, False) if bool in parts else ()), *words)


def _bare(kind: Any) -> tuple[Any, list[msgspec.Meta]]:
    """Return a type without its metadata, and the metadata."""
    if get_origin(kind) is not Annotated:
        return kind, []
    bare, *notes = get_args(kind)
    return bare, notes


def _allowed(keys: list[str]) -> str:
    """Return the allowed values of a key in words, or an empty text if it has no known limits."""
    kind: Any = Settings
    for key in keys:
        fields = {field.name: field.type for field in msgspec.structs.fields(kind)} if _table(kind) else {}
        kind = fields.get(key)
    if values := choices(kind):
        *others, last = map(json.dumps, values)
        return f"{', '.join(others)} or {last}" if others else last
    bare, notes = _bare(kind)
    for part in get_args(bare) if get_origin(bare) in (Union, UnionType) else ():
        if part is not type(None):
            bare, notes = _bare(part)
    if bare not in (int, float):
        return 'a list of strings, such as ["a", "b"]' if get_origin(bare) is tuple else ""
    limits = {name: value for one in notes for name in _LIMITS if (value := getattr(one, name)) is not None}
    words = " and ".join(f"{_LIMITS[name]} {value:,}" for name, value in limits.items())
    return f"a {'whole ' if bare is int else ''}number {words}"


_LIMITS = {"ge": "of at least", "gt": "above", "le": "at most"}


def _parts(key: str) -> list[str]:
    return [part.strip().strip("\"'") for part in key.split(".")]


def line_of(keys: Sequence[str], text: str) -> int:
    """Return the line of the deepest of `keys` that is found.

    For dotted and inline tables, that is the outer key.
    """
    table: list[str] = []
    best, depth = 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        name, is_pair, _ = stripped.partition("=")
        if stripped.startswith("[") and "]" in stripped:
            path = table = _parts(stripped.lstrip("[").partition("]")[0])
        elif is_pair and not stripped.startswith(("#", "=")):
            path = table + _parts(name)
        else:
            continue
        if len(path) > depth and path == list(keys[: len(path)]):
            best, depth = number, len(path)
    return best
