"""The protocol of vector stores, and the store in use.

A store has the vectors of one model. The key of a vector is a hash of its text. agentplane's own store holds all
vectors in memory and saves them as one file.
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Protocol, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from agentplane import extensions
from agentplane.extensions import VECTOR_STORES, Extension, ExtensionError
from agentplane.match.embedder import Model


LIMIT = 200_000
"""Maximum number of stored vectors: 100 MB at 256 values each."""
KEY_BYTES = 16

_MAGIC = b"agentplane vectors 2\n"
_SUM = 32

Vector: TypeAlias = npt.NDArray[np.float16]


def _nothing() -> bytes | None:
    return None


def _forget(_: bytes) -> None:
    """Save nothing."""


class Place(msgspec.Struct, frozen=True):
    """The place of the saved form of a store. Its bytes are in the cache of a project, so they can disappear.

    A removed text must disappear from the project, so a store keeps nothing in any other place.
    """

    model: Model
    load: Callable[[], bytes | None] = _nothing
    save: Callable[[bytes], None] = _forget


class Hit(msgspec.Struct, frozen=True):
    """A vector near another one."""

    key: bytes
    nearness: float
    """The cosine of the angle between both, -1 to 1."""


class VectorStore(Protocol):
    """Vectors by key. A store can forget vectors, but it never changes them."""

    def get(self, keys: Sequence[bytes], /) -> Mapping[bytes, Vector]:
        """Return the vectors that it has of these."""

    def put(self, vectors: Mapping[bytes, Vector], /) -> None:
        """Add or replace vectors."""

    def remove(self, keys: Iterable[bytes], /) -> None:
        """Remove vectors. Unknown keys are ignored."""

    def nearest(self, vector: Vector, limit: int, /) -> Sequence[Hit]:
        """Return the nearest vectors, the nearest first, and equally near ones in the order of their keys."""

    def save(self) -> None:
        """Save the vectors at the place of the store."""

    def __len__(self) -> int: ...


def opened(place: Place) -> VectorStore:
    """Return the chosen store, or agentplane's own one if it fails."""
    name = extensions.chosen(VECTOR_STORES)
    if name is not None:
        try:
            return _FromExtension(extensions.get(VECTOR_STORES, name), place)
        except ExtensionError as error:
            extensions.report(error)
    return ArrayStore(place)


def try_out(extension: Extension) -> None:
    """Put a vector into an empty store and get it. Raises ExtensionError if the store can't be used."""
    key, vector = bytes(KEY_BYTES), np.ones(1, dtype=np.float16)
    store = _FromExtension(extension, Place(Model("trial", "1", 1)))
    store.put({key: vector})
    store.get([key])


class ArrayStore:
    """agentplane's own store. Invalid bytes, and bytes of another model, count as none."""

    def __init__(self, place: Place, limit: int = LIMIT) -> None:
        self._place = place
        self._limit = limit
        self._vectors = _read(place.load() or b"", place.model)

    def get(self, keys: Sequence[bytes], /) -> Mapping[bytes, Vector]:
        return {key: self._vectors[key] for key in keys if key in self._vectors}

    def put(self, vectors: Mapping[bytes, Vector], /) -> None:
        self._vectors.update(vectors)
        keep_latest(self._vectors, self._limit)

    def remove(self, keys: Iterable[bytes], /) -> None:
        for key in keys:
            self._vectors.pop(key, None)

    def nearest(self, vector: Vector, limit: int, /) -> list[Hit]:
        keys = sorted(self._vectors)
        if not keys:
            return []
        rows = _units(np.array([self._vectors[key] for key in keys], dtype=np.float64))
        near = rows @ _units(vector.astype(np.float64)[None])[0]
        best = np.argsort(-near, kind="stable")[: max(limit, 0)]
        return [Hit(keys[at], float(near[at])) for at in best.tolist()]

    def save(self) -> None:
        latest = list(self._vectors)[-self._limit :] if self._limit else []
        model = self._place.model.id.encode("utf-8", "surrogatepass")
        rows = b"".join(self._vectors[key].tobytes() for key in latest)
        body = struct.pack("<II", len(model), len(latest)) + model + b"".join(latest) + rows
        self._place.save(_MAGIC + hashlib.sha256(body).digest() + body)

    def __len__(self) -> int:
        return len(self._vectors)


def keep_latest(vectors: dict[bytes, Vector], limit: int) -> None:
    """Remove the oldest vectors beyond a limit."""
    for key in list(islice(vectors, max(len(vectors) - limit, 0))):
        del vectors[key]


def _read(saved: bytes, model: Model) -> dict[bytes, Vector]:
    start = len(_MAGIC) + _SUM
    body = saved[start:]
    if len(body) < 8 or saved[:start] != _MAGIC + hashlib.sha256(body).digest():
        return {}
    size, count = struct.unpack_from("<II", body)
    first = 8 + size
    if body[8:first] != model.id.encode("utf-8", "surrogatepass"):
        return {}
    if len(body) != first + count * (KEY_BYTES + 2 * model.width):
        return {}
    keys = (body[first + i * KEY_BYTES : first + (i + 1) * KEY_BYTES] for i in range(count))
    rows = np.frombuffer(body, dtype="<f2", offset=first + count * KEY_BYTES).reshape(count, model.width)
    return dict(zip(keys, rows, strict=True))


def _units(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = rows / np.maximum(
        np.sqrt((rows * rows).sum(axis=1, keepdims=True)), 1e-9
    )
    return found


class _FromExtension:
    """The store of another package. Each method raises ExtensionError if the store fails."""

    def __init__(self, extension: Extension, place: Place) -> None:
        self._extension = extension
        self._width = place.model.width
        self._store: VectorStore = extension.call(lambda: extension.target(place))

    def get(self, keys: Sequence[bytes], /) -> Mapping[bytes, Vector]:
        found = self._extension.call(lambda: dict(self._store.get(keys)))
        wanted = set(keys)
        if not all(key in wanted and self._is_sound(vector) for key, vector in found.items()):
            raise self._extension.error("returned something other than its vectors")
        return found

    def put(self, vectors: Mapping[bytes, Vector], /) -> None:
        self._extension.call(lambda: self._store.put(vectors))

    def remove(self, keys: Iterable[bytes], /) -> None:
        self._extension.call(lambda: self._store.remove(keys))

    def nearest(self, vector: Vector, limit: int, /) -> Sequence[Hit]:
        found = self._extension.call(lambda: list(islice(self._store.nearest(vector, limit), limit)))
        if not all(isinstance(hit, Hit) for hit in found):
            raise self._extension.error("returned something other than hits")
        return found

    def save(self) -> None:
        self._extension.call(self._store.save)

    def __len__(self) -> int:
        return self._extension.call(lambda: len(self._store))

    def _is_sound(self, vector: object) -> bool:
        return (
            isinstance(vector, np.ndarray)
            and vector.dtype == np.float16
            and vector.shape == (self._width,)
            and bool(np.isfinite(vector).all())
        )
