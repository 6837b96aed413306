"""The embeddings of a project's texts, kept in the cache of the plane."""

import hashlib
from typing import TYPE_CHECKING

from agentplane import extensions
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout


if TYPE_CHECKING:
    from agentplane.match.embedder import Model
    from agentplane.match.vector_cache import Vectors
    from agentplane.match.vector_store import VectorStore


_PACKAGE = "wordllama"
_VECTORS = "vectors"
KEY_BYTES = 16


def embeds() -> bool:
    """True if the package for embeddings is installed. Nothing is loaded."""
    return extensions.folder_of(_PACKAGE) is not None


def release_of_embeddings() -> str:
    """Return a text that identifies the releases of the embeddings that results depend on, without loading them."""
    own = extensions.release_of(_PACKAGE) or "without embeddings"
    return f"{own} {extensions.release(extensions.EMBEDDERS)}".strip()


def cache_file(name: str) -> cache.CacheFile:
    """Return a cache file that depends on the embeddings."""
    return cache.CacheFile(name, f"1 {release_of_embeddings()}")


class VectorCache:
    """The vectors of a project, read at the first use."""

    def __init__(self, layout: Layout, head: str | None) -> None:
        """`head` is the head of the log when the texts were read."""
        self.layout = layout
        self.head = head
        self._vectors: Vectors | None = None
        """The vectors, after the first use."""

    @property
    def vectors(self) -> "Vectors":
        if self._vectors is None:
            from agentplane.match.vector_cache import Vectors

            self._vectors = Vectors(open_store=self._open)
        return self._vectors

    def save(self) -> None:
        """Save the vectors if there are new ones. Computing the vectors of a few texts is faster than writing
        all of them.
        """
        if self._vectors is not None:
            self._vectors.save()

    def forget(self) -> None:
        """Forget the vectors after their embedder failed. Then another embedder is in use."""
        self._vectors = None

    def _open(self, model: "Model") -> "VectorStore":
        from agentplane.match import vector_store

        file = _file_of(model)
        return vector_store.opened(
            vector_store.Place(
                model,
                lambda: cache.load(self.layout, file),
                lambda data: cache.save_as_of(self.layout, self.head, file, data),
            )
        )


def _file_of(model: "Model") -> cache.CacheFile:
    """Return the cache file of a model's vectors. Each extension has its own, so that a change loses nothing."""
    store = extensions.release(extensions.VECTOR_STORES)
    if not store and not extensions.chosen(extensions.EMBEDDERS):
        return cache_file(_VECTORS)
    name = f"{store}\n{model.id}".encode("utf-8", "surrogatepass")
    return cache.CacheFile(f"{_VECTORS}-{hashlib.blake2b(name, digest_size=KEY_BYTES).hexdigest()}")
