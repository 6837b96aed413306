"""Arrays and words as bytes and back, so that what took long to build can be kept. No pickle: bytes run nothing."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from agentplane.text import decoding


# Counts up when what is built of a text changes.
_MAGIC = b"agentplane corpus 1\n"
_SUM = 32


class _Array(msgspec.Struct, array_like=True):
    kind: str
    shape: tuple[int, ...]
    data: memoryview
    """A part of what was read, and no copy of it."""


class _Archive(msgspec.Struct, array_like=True):
    mark: bytes
    arrays: dict[str, _Array]
    lists: dict[str, list[str]]


def packed(mark: bytes, arrays: Mapping[str, Any], lists: Mapping[str, list[str]]) -> bytes:
    """`mark` says what it was made of: only who names the same gets it back."""
    held = {
        name: _Array(array.dtype.str, array.shape, memoryview(array.tobytes()))
        for name, array in arrays.items()
    }
    body = msgspec.msgpack.encode(_Archive(mark, held, dict(lists)))
    return _MAGIC + hashlib.sha256(body).digest() + body


def unpacked(data: bytes | memoryview, mark: bytes) -> tuple[dict[str, Any], dict[str, list[str]]] | None:
    """None where it is not whole, or made of something else."""
    start = len(_MAGIC) + _SUM
    body = memoryview(data)[start:]
    if data[:start] != _MAGIC + hashlib.sha256(body).digest():
        return None
    try:
        found = decoding.Pack(_Archive).decode(body)
        arrays = {n: np.frombuffer(a.data, dtype=a.kind).reshape(a.shape) for n, a in found.arrays.items()}
    except (msgspec.MsgspecError, ValueError, TypeError):
        return None
    return (arrays, found.lists) if found.mark == mark else None
