"""The vectors of texts. Each text is embedded once, and a store keeps its vector under the hash of the text."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from agentplane import extensions
from agentplane.match import embedder as embedders
from agentplane.match import vectors
from agentplane.match.bm25 import Floats
from agentplane.match.embedder import Embedder, Model
from agentplane.match.vector_store import LIMIT, ArrayStore, Place, Vector, VectorStore, keep_latest


_FEW = 64
"""A quick embedder computes this many vectors in less time than reading the stored ones takes."""
_AT_ONCE = 64
"""Number of texts in one call of an embedder, because the time of a call is limited."""

T = TypeVar("T")


class Vectors:
    """The vectors of one embedder. The store is opened when it is needed."""

    def __init__(
        self, embedder: Embedder | None = None, open_store: Callable[[Model], VectorStore] | None = None
    ) -> None:
        """Without an embedder, use the chosen one. Without a store, keep the vectors in memory."""
        self._embedder = embedder or embedders.in_use()
        self._open = open_store
        self._store: VectorStore | None = None
        self._new: dict[bytes, Vector] = {}
        """Vectors that aren't in the store yet."""
        self._is_unsaved = False
        self.model = self._embedder.model

    @property
    def missing(self) -> str | None:
        """One line about missing packages for embeddings, or None."""
        return vectors.available() if isinstance(self._embedder, vectors.Static) else None

    @property
    def changed(self) -> bool:
        """True if there are vectors to save."""
        return self._is_unsaved or bool(self._new)

    def of(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text. Call it only if `missing` is None."""
        keys = [key_of(text) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        found = {key: self._new[key] for key in wanted if key in self._new}
        if len(found) < len(wanted) and self._reads(len(wanted) - len(found)):
            unknown = [key for key in wanted if key not in found]
            found |= self._in_store(lambda store: store.get(unknown))
        unknown = [key for key in wanted if key not in found]
        for begin in range(0, len(unknown), _AT_ONCE):
            part = unknown[begin : begin + _AT_ONCE]
            rows = np.asarray(self._embedder.embed([wanted[key] for key in part]), dtype=np.float16)
            found |= self._added(dict(zip(part, rows, strict=True)))
        return np.array([found[key] for key in keys], dtype=np.float32).reshape(len(texts), self.model.width)

    def save(self) -> None:
        """Save the vectors if there are new ones."""
        if self.changed:
            new, self._new = self._new, {}
            if new:
                self._in_store(lambda store: store.put(new))
            self._in_store(lambda store: store.save())
            self._is_unsaved = False

    def release(self) -> None:
        """Free the vectors that can be read again. New ones of a quick embedder are computed again if needed."""
        if self._open is not None:
            if not self.model.is_quick:
                self.save()
            self._store, self._new, self._is_unsaved = None, {}, False

    def __len__(self) -> int:
        return self._in_store(len) + len(self._new)

    def _reads(self, count: int) -> bool:
        """True if reading the store takes less time than embedding this many texts."""
        return self._store is not None or not self.model.is_quick or count > _FEW

    def _added(self, new: Mapping[bytes, Vector]) -> Mapping[bytes, Vector]:
        if self._store is None:
            self._new.update(new)
            keep_latest(self._new, LIMIT)
        else:
            self._in_store(lambda store: store.put(new))
            self._is_unsaved = True
        return new

    def _in_store(self, work: Callable[[VectorStore], T]) -> T:
        """Return the result of work in the store. A store that fails is replaced by an empty one in memory."""
        if self._store is None:
            self._store = self._open(self.model) if self._open else ArrayStore(Place(self.model))
        try:
            return work(self._store)
        except extensions.ExtensionError as error:
            extensions.report(error)
            self._store = ArrayStore(Place(self.model))
            return work(self._store)


def key_of(text: str) -> bytes:
    """Return the key of the vector of a text."""
    beginning = text[: vectors.LONGEST]
    return hashlib.sha256(beginning.encode("utf-8", "surrogatepass")).digest()[:16]
