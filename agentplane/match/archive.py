"""Serialization of arrays and word lists, for results that take long to compute.

It doesn't use pickle, so reading a file never runs code.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from agentplane.text.json import decode


# Increase the number when the results computed from a text change.
_MAGIC = b"agentplane corpus 1\n"
_SUM = 32


class _Array(msgspec.Struct, array_like=True):
    kind: str
    shape: tuple[int, ...]
    data: memoryview
    """A view into the bytes that were read, not a copy."""


class _Archive(msgspec.Struct, array_like=True):
    mark: bytes
    arrays: dict[str, _Array]
    lists: dict[str, list[str]]


def packed(mark: bytes, arrays: Mapping[str, Any], lists: Mapping[str, list[str]]) -> bytes:
    """Return the arrays and lists as bytes. `mark` identifies their source, and reading requires the same
    mark.
    """
    packed_arrays = {
        name: _Array(array.dtype.str, array.shape, memoryview(array.tobytes()))
        for name, array in arrays.items()
    }
    body = msgspec.msgpack.encode(_Archive(mark, packed_arrays, dict(lists)))
    return _MAGIC + hashlib.sha256(body).digest() + body


def unpacked(data: bytes | memoryview, mark: bytes) -> tuple[dict[str, Any], dict[str, list[str]]] | None:
    """Return the arrays and lists, or None if the data is damaged or has another mark."""
    start = len(_MAGIC) + _SUM
    body = memoryview(data)[start:]
    if data[:start] != _MAGIC + hashlib.sha256(body).digest():
        return None
    try:
        found = decode.Pack(_Archive).decode(body)
        arrays = {n: np.frombuffer(a.data, dtype=a.kind).reshape(a.shape) for n, a in found.arrays.items()}
    except (msgspec.MsgspecError, ValueError, TypeError):
        return None
    return (arrays, found.lists) if found.mark == mark else None
