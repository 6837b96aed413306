"""The protocol of embedders, which turn texts into vectors, and the embedder in use.

The embedder decides which texts are near. The comparison of two statements in `claims/` always uses agentplane's
own vectors, because its weights are fitted to them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agentplane import extensions
from agentplane.extensions import EMBEDDERS, Extension, ExtensionError


if TYPE_CHECKING:
    import numpy.typing as npt

_LARGEST = 1 << 14
_PROBE = ("a text", "")


class Model(msgspec.Struct, frozen=True):
    """The identity of an embedder. Vectors are only compared with vectors of an equal model."""

    name: str
    version: str
    """Changes whenever the vector of any text changes."""
    width: int
    """Number of values of a vector."""
    is_quick: bool = False
    """True if computing a few vectors takes less time than reading a file of many."""

    @property
    def id(self) -> str:
        return f"{self.name} {self.version} {self.width}"


class Embedder(Protocol):
    """Turns texts into vectors. Texts with near meanings have vectors with near directions.

    The vector of a text is always the same, whatever other texts are in the call. It has only finite values, and
    is zero for a text without meaning. Its length can be anything.
    """

    @property
    def model(self) -> Model: ...

    def embed(self, texts: Sequence[str], /) -> "npt.ArrayLike":
        """Return one row for each text."""


def in_use() -> Embedder:
    """Return the chosen embedder, or agentplane's own one if it fails."""
    name = extensions.chosen(EMBEDDERS)
    if name is not None:
        try:
            return _FromExtension(extensions.get(EMBEDDERS, name))
        except ExtensionError as error:
            extensions.report(error)
    from agentplane.match import vectors

    return vectors.own()


def try_out(extension: Extension) -> None:
    """Embed two short texts. Raises ExtensionError if the embedder can't be used."""
    _FromExtension(extension)


class _FromExtension:
    """The embedder of another package. After its first failure, this process doesn't use it any more.

    Otherwise, an index could mix its vectors with those of agentplane's own embedder.
    """

    def __init__(self, extension: Extension) -> None:
        self._extension = extension
        self._embedder: Embedder = extension.made()
        own: Any = extension.call(lambda: self._embedder.model)
        if not _is_sound(own):
            raise extension.give_up(extension.error("has no usable model"))
        self.model = Model(
            f"{extension.name}: {own.name}", f"{own.version} of {extension.release}", own.width
        )
        self.embed(_PROBE)

    def embed(self, texts: Sequence[str], /) -> "npt.NDArray[Any]":
        try:
            return self._rows(self._extension.call(lambda: self._embedder.embed(texts)), len(texts))
        except ExtensionError as error:
            raise self._extension.give_up(error) from error

    def _rows(self, found: "npt.ArrayLike", count: int) -> "npt.NDArray[Any]":
        import numpy as np

        try:
            rows = np.asarray(found, dtype=np.float32)
        except (TypeError, ValueError):
            rows = np.empty(0, dtype=np.float32)
        most = float(np.finfo(np.float16).max)
        if rows.shape != (count, self.model.width) or not (np.abs(rows) <= most).all():
            what = f"returned something other than {count} rows of {self.model.width} finite numbers"
            raise self._extension.error(what)
        return rows


def _is_sound(model: object) -> bool:
    if not isinstance(model, Model):
        return False
    name, version, width, _ = msgspec.structs.astuple(model)
    return (
        isinstance(name, str)
        and isinstance(version, str)
        and isinstance(width, int)
        and 0 < width <= _LARGEST
    )
