"""Canonical JSON (RFC 8785), which has exactly one sequence of bytes for a value."""

import hashlib
import json
import math
import re
from typing import Any

import rfc8785

from agentplane.errors import BadInput


_SAFE = 2**53 - 1
"""The largest integer that every JSON reader reads as the same number."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def dumps(value: Any) -> bytes:
    """Return the canonical bytes. Raise BadInput with the name of a field that JSON can't represent."""
    try:
        return _dumps(value)
    except RecursionError as error:
        raise BadInput("the value is nested too deeply for JSON, or contains itself") from error


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def is_sha256(text: str) -> bool:
    return _SHA256.fullmatch(text) is not None


def _dumps(value: Any) -> bytes:
    try:
        return rfc8785.dumps(value)
    except ValueError as error:
        where, what = _culprit(value, "") or (None, str(error))
        raise BadInput(what, where=where or None) from error


def _culprit(value: Any, path: str) -> tuple[str, str] | None:
    """Return the path of the first field that can't be written, and the reason."""
    if isinstance(value, dict):
        for key, item in value.items():
            found = _key_complaint(key, path) or _culprit(item, _below(path, key))
            if found:
                return found
        return None
    if isinstance(value, list | tuple):
        found_items = (_culprit(item, f"{path}[{n}]") for n, item in enumerate(value))
        return next((found for found in found_items if found), None)
    what = _complaint(value)
    return (path, what) if what else None


def _complaint(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return (
            None
            if -_SAFE <= value <= _SAFE
            else "the number is an integer beyond 2^53, which JSON readers round"
        )
    if isinstance(value, float):
        return None if math.isfinite(value) else f"the value is {value}, which isn't a number in JSON"
    if isinstance(value, str):
        return "the text contains an unpaired surrogate" if _has_surrogate(value) else None
    return f"the value is a {type(value).__name__}, which JSON can't represent"


def _key_complaint(key: Any, path: str) -> tuple[str, str] | None:
    if not isinstance(key, str):
        return path, f"the object has the key {key!r}, which isn't a string"
    if _has_surrogate(key):
        return path, f"the object has the key {json.dumps(key)}, which contains an unpaired surrogate"
    return None


def _below(path: str, key: str) -> str:
    if not key.isidentifier():
        return f"{path}[{json.dumps(key)}]"
    return f"{path}.{key}" if path else key


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)
