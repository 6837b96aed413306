"""The settings that decide which texts are trusted, and the record of each change to them.

Setting `hand_edits = "accept"`, delivering, and setting it back would leave no trace in the files. For this
reason every write and every delivery compares these settings with the last ones in the log. A difference is
recorded as an operation with the verb `settings`, which changes no entry.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from agentplane.plane.settings import DEFAULTS, Settings
from agentplane.text.json import canonical


VERB = "settings"
TABLES = ("trust", "policy", "gate")
"""Every key of these tables is watched."""

Keys = tuple[str, str]

_STRICTNESS = {"off": 0, "flag": 1, "refuse": 2}
RECEIPTS = {False: 0, True: 1, "appended": 2}
"""The values of `require_receipts`, ranked by strictness."""
_LONGEST = 200


def weaker(before: Settings, after: Settings) -> Iterator[tuple[Keys, Any, Any]]:
    """Yield the keys that are more permissive than before, each with the old and the new value."""
    old, new = before.trust, after.trust
    if (old.hand_edits, new.hand_edits) == ("review", "accept"):
        yield ("trust", "hand_edits"), old.hand_edits, new.hand_edits
    if new.tools_may_approve and not old.tools_may_approve:
        yield ("trust", "tools_may_approve"), False, True
    limits = before.policy.auto_approve_confidence, after.policy.auto_approve_confidence
    if limits[1] is not None and (limits[0] is None or limits[1] < limits[0]):
        yield ("policy", "auto_approve_confidence"), *limits
    receipts = before.policy.require_receipts, after.policy.require_receipts
    if RECEIPTS[receipts[1]] < RECEIPTS[receipts[0]]:
        yield ("policy", "require_receipts"), *receipts
    for field in msgspec.structs.fields(before.gate):
        was, is_ = getattr(before.gate, field.name), getattr(after.gate, field.name)
        if _STRICTNESS[is_] < _STRICTNESS[was]:
            yield ("gate", field.name), was, is_


def weakened(settings: Settings) -> list[str]:
    """Return the settings that are weaker than their defaults, each as a short text."""
    return [
        f"{'.'.join(keys)} = {shown(now)} (default {shown(default)})"
        for keys, default, now in weaker(DEFAULTS, settings)
    ]


def differing(settings: Settings) -> dict[str, str]:
    """Return the watched settings that differ from their defaults, by key, with each value as JSON.

    This is the form in which the log has them.
    """
    found = {}
    for table in TABLES:
        now, default = getattr(settings, table), getattr(DEFAULTS, table)
        for name in now.__struct_fields__:
            if getattr(now, name) != getattr(default, name):
                found[f"{table}.{name}"] = _as_json(getattr(now, name))
    return found


def is_noted(noted: Mapping[str, str]) -> bool:
    """True if an operation could have recorded these settings."""
    names = {f"{table}.{name}" for table in TABLES for name in getattr(DEFAULTS, table).__struct_fields__}
    return noted.keys() <= names


def restored(noted: Mapping[str, str]) -> Settings:
    """Return the recorded settings, with the defaults for all others and for invalid values."""
    tables: dict[str, dict[str, Any]] = {}
    for key, value in noted.items():
        table, _, name = key.partition(".")
        try:
            one = {table: {name: msgspec.json.decode(value)}}
            msgspec.convert(one, Settings)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
        tables.setdefault(table, {}).update(one[table])
    try:
        return msgspec.convert(tables, Settings)
    except msgspec.ValidationError:
        return DEFAULTS


def changes_text(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the changes from one record to the next, for a person."""
    rows = [
        f"{key} from {before.get(key) or _default(key)} to {after.get(key) or _default(key)}"
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]
    return f"found changed in config.toml: {', '.join(rows)}"


def shown(value: object) -> str:
    """Return a value as config.toml has it."""
    return "not set" if value is None else _as_json(value)


def _default(key: str) -> str:
    table, _, name = key.partition(".")
    return f"{shown(getattr(getattr(DEFAULTS, table, None), name, None))} (default)"


def _as_json(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… (sha256 {canonical.sha256(text.encode())[:12]})"
