"""Static embeddings from the weights in the wheel of wordllama. Everything works without them.

The sums below are exact (the weights are float16, the sum is float64), so every machine computes the same vectors.
"""

import importlib
import os
import struct
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from agentplane import extensions
from agentplane.match.embedder import Model
from agentplane.match.subwords import Pieces
from agentplane.text.json import decode


WIDTH = 256

_PACKAGE = "wordllama"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TENSOR = "embedding.weight"
_MOST_ROWS = 2048  # tokens, of 32,000; 1 MB
_WORD = 24  # characters
LONGEST = 20_000  # characters; enough to show the subject of a text


def available() -> str | None:
    """Return None, or one line that says why embeddings are missing."""
    try:
        _model()
    except ImportError:
        return "embeddings are off: the package wordllama is not installed; words and spelling still count"
    except Exception as error:  # noqa: BLE001 - a broken wheel may fail in any way, and matching must go on
        return f"embeddings are off: wordllama cannot be loaded ({type(error).__name__})"
    return None


class Static:
    """agentplane's own embedder. The vector of a text is the mean of the vectors of its tokens."""

    def __init__(self) -> None:
        self.model = Model("wordllama l2_supercat", extensions.release_of(_PACKAGE), WIDTH, is_quick=True)

    def embed(self, texts: Sequence[str], /) -> npt.NDArray[np.float16]:
        return np.array([embed(text) for text in texts], dtype=np.float16).reshape(len(texts), WIDTH)


def embed(text: str) -> npt.NDArray[np.float16]:
    """Return the vector of a text. Call it only if `available()` is None."""
    return _mean_of_word(text) if len(text) <= _WORD else _mean(text)


@lru_cache(maxsize=1)
def own() -> Static:
    """Return agentplane's own embedder."""
    return Static()


@lru_cache(maxsize=4096)
def _mean_of_word(text: str) -> npt.NDArray[np.float16]:
    """Cached, because single words are embedded many times."""
    return _mean(text)


def _mean(text: str) -> npt.NDArray[np.float16]:
    tokenizer, weights = _model()
    clean = text[:LONGEST].encode("utf-8", "replace").decode()
    ids = [i for i in tokenizer.ids(clean) if i < len(weights)]
    if not ids:
        return np.zeros(WIDTH, dtype=np.float16)
    mean: npt.NDArray[np.float64] = _wide()[weights.of(ids).view(np.uint16)].sum(axis=0) / len(ids)
    return mean.astype(np.float16)


@lru_cache(maxsize=1)
def _wide() -> npt.NDArray[np.float64]:
    """Return every float16 as a float64, by its bits. A lookup takes a tenth of the time of a conversion."""
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)


@lru_cache(maxsize=1)
def _model() -> tuple["Pieces | _Library", "_Rows | _Loaded"]:
    """Return the tokenizer and the vectors of its tokens.

    They are read from the wheel without importing the package. The import takes several times as long as
    everything else, loads a download client, and configures logging for the whole process.
    """
    folder = extensions.folder_of(_PACKAGE)
    if folder is None:
        raise ImportError(_PACKAGE)
    tokenizer, weights = folder / _TOKENIZER, folder / _WEIGHTS
    if not (tokenizer.is_file() and weights.is_file()):
        return _loaded_by_package(folder)
    try:
        known: Pieces | _Library = Pieces(tokenizer)
    except (ValueError, msgspec.MsgspecError):
        known = _Library(importlib.import_module("tokenizers").Tokenizer.from_file(str(tokenizer)))
    return known, _Rows(weights)


class _Rows:
    """The vectors of tokens, read on demand from a safetensors file, because few are ever needed.

    The file begins with the length of its header, then comes the header as JSON, then the numbers.
    """

    def __init__(self, weights: Path) -> None:
        self._fd = os.open(weights, os.O_RDONLY | os.O_CLOEXEC)
        (length,) = struct.unpack("<Q", os.pread(self._fd, 8, 0))
        about = decode.Json(dict[str, _Tensor]).decode(os.pread(self._fd, length, 8))[_TENSOR]
        count, width = about.shape
        if about.dtype != "F16" or width != WIDTH:
            raise ValueError(f"rows of {width} numbers of the type {about.dtype}")
        self._first = 8 + length + about.data_offsets[0]
        self._count = count
        self._read: dict[int, bytes] = {}

    def __len__(self) -> int:
        return self._count

    def of(self, ids: Sequence[int]) -> npt.NDArray[np.float16]:
        return np.frombuffer(b"".join(map(self._row, ids)), dtype="<f2").reshape(len(ids), WIDTH)

    def _row(self, id_: int) -> bytes:
        found = self._read.get(id_)
        if found is None:
            if len(self._read) >= _MOST_ROWS:
                self._read.clear()
            size = 2 * WIDTH
            found = self._read[id_] = os.pread(self._fd, size, self._first + id_ * size)
        return found


class _Tensor(msgspec.Struct, frozen=True):
    dtype: str = ""
    shape: tuple[int, ...] = (0, 0)
    data_offsets: tuple[int, int] = (0, 0)


class _Loaded:
    """The vectors of tokens, loaded completely by another release of wordllama."""

    def __init__(self, rows: npt.NDArray[np.float16]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, ids: Sequence[int]) -> npt.NDArray[np.float16]:
        return self._rows[ids]


def _loaded_by_package(folder: Path) -> tuple["_Library", "_Loaded"]:
    """Return the tokenizer and vectors through the package, for a release with other file locations."""
    # With a cache folder, its loader looks for the tokenizer in the folder of the weights.
    load = importlib.import_module(_PACKAGE).WordLlama.load
    loaded = load(cache_dir=folder, disable_download=True)
    return _Library(loaded.tokenizer), _Loaded(loaded.embedding)


class _Library:
    """The tokenizer of another release, read by the tokenizers library."""

    def __init__(self, tokenizer: Any) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer

    def ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found
