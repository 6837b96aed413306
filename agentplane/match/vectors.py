"""Static embeddings from the weights in the wheel of wordllama. Everything works without them.

The sums below are exact (the weights are float16, the sum is float64), so every machine computes the same vectors.
"""

import importlib
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from agentplane import extensions
from agentplane.match.embedder import Model
from agentplane.match.recent import Recent
from agentplane.match.subwords import Pieces
from agentplane.text.json import decode


WIDTH = 256

_PACKAGE = "wordllama"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TENSOR = "embedding.weight"
_MOST_ROWS = 2048  # tokens, of 32,000; 1 MB
_WORD = 24  # characters
_MOST_WORDS = 2_000  # 1.3 MB
_AT_ONCE = 4_000  # characters of several texts; each token takes 2 kB
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
        return _rows_of(texts)


def embed_each(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return one row for each text. Call it only if `available()` is None."""
    return _rows_of(texts).astype(np.float64)


@lru_cache(maxsize=1)
def own() -> Static:
    """Return agentplane's own embedder."""
    return Static()


_words: Recent[str, bytes] = Recent(_MOST_WORDS)
"""The vectors of single words, which are needed many times."""


def learn(words: Iterable[str]) -> None:
    """Embed the words that aren't kept yet. Embedding many at once takes half the time."""
    new = [word for word in dict.fromkeys(words) if len(word) <= _WORD and _words.get(word) is None]
    for word, mean in zip(new, _means(new), strict=True):
        _words.put(word, mean.tobytes())


def _rows_of(texts: Sequence[str]) -> npt.NDArray[np.float16]:
    """Return one row for each text."""
    found = {text: row for text in texts if (row := _words.get(text)) is not None}
    missing = [text for text in dict.fromkeys(texts) if text not in found]
    for text, mean in zip(missing, _means(missing), strict=True):
        found[text] = row = mean.tobytes()
        if len(text) <= _WORD:
            _words.put(text, row)
    joined = b"".join([found[text] for text in texts])
    return np.frombuffer(joined, dtype=np.float16).reshape(len(texts), WIDTH)


def _means(texts: Sequence[str]) -> Iterator[npt.NDArray[np.float16]]:
    """Yield the mean of the vectors of the tokens of each text, or zeros for a text without tokens."""
    part: list[str] = []
    length = 0
    for text in texts:
        if part and length + len(text) > _AT_ONCE:
            yield from _means_of_part(part)
            part, length = [], 0
        part.append(text)
        length += len(text)
    if part:
        yield from _means_of_part(part)


def _means_of_part(texts: Sequence[str]) -> npt.NDArray[np.float16]:
    tokenizer, weights = _model()
    last = len(weights)
    found = np.zeros((len(texts), WIDTH), dtype=np.float16)
    tokens = [[id_ for id_ in tokenizer.ids(_clean(text)) if id_ < last] for text in texts]
    rows = weights.of([id_ for ids in tokens for id_ in ids]).astype(np.float64)
    end = 0
    for mean, ids in zip(found, tokens, strict=True):
        begin, end = end, end + len(ids)
        if len(ids) == 1:
            mean[:] = rows[begin]
        elif ids:
            mean[:] = np.add.reduce(rows[begin:end], axis=0) / len(ids)
    return found


def _clean(text: str) -> str:
    """Return the beginning of a text without half surrogate pairs."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


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
        self._read: Recent[int, bytes] = Recent(_MOST_ROWS)

    def __len__(self) -> int:
        return self._count

    def of(self, ids: Sequence[int]) -> npt.NDArray[np.float16]:
        return np.frombuffer(b"".join(map(self._row, ids)), dtype="<f2").reshape(len(ids), WIDTH)

    def _row(self, id_: int) -> bytes:
        found = self._read.get(id_)
        if found is None:
            size = 2 * WIDTH
            found = os.pread(self._fd, size, self._first + id_ * size)
            self._read.put(id_, found)
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
