"""Static embeddings by wordllama, whose weights are inside its wheel. Everything works without them.

What a text embeds to is kept by the hash of the text, as bytes that the caller puts where it likes. The sums
below are exact (the weights are float16, the sum is float64), so every machine gets the same vectors.
"""

import hashlib
import importlib
import importlib.util
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agentplane.match.bm25 import Floats
from agentplane.text import files


WIDTH = 256
LIMIT = 200_000
"""So many vectors are kept at most: 100 MB."""

_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_MAGIC = b"agentplane vectors 1\n"
_KEY = 16
_SUM = 32
_FEW = 64
"""So many are embedded in less time than is taken to read what was kept."""
_LONGEST = 20_000  # characters; what a text is about is said by then


def available() -> str | None:
    """None, or in one line what is missing."""
    try:
        _model()
    except ImportError:
        return "embeddings are off: the package wordllama is not installed; words and spelling still count"
    except Exception as error:  # noqa: BLE001 - a broken wheel may fail in any way, and matching must go on
        return f"embeddings are off: wordllama cannot be loaded ({type(error).__name__})"
    return None


class Vectors:
    """Embeds texts, each one once."""

    def __init__(self, kept: bytes | Callable[[], bytes | None] | None = None, limit: int = LIMIT) -> None:
        """`kept`: what `to_bytes` gave earlier, or what reads that; anything else counts as nothing kept."""
        self._limit = limit
        self._unread = kept if callable(kept) else None
        self._kept: dict[bytes, npt.NDArray[np.float16]] = (
            {} if kept is None or callable(kept) else _read(kept)
        )
        self.changed = False

    @classmethod
    def load(cls, path: Path, limit: int = LIMIT) -> "Vectors":
        """From a file of the caller's; none is as good as an empty one."""
        return cls(files.read_if(path), limit)

    def save(self, path: Path) -> None:
        """Into a file of the caller's, if anything came to it."""
        if self.changed:
            files.write_atomic(path, self.to_bytes(), durable=False)
            self.changed = False

    def to_bytes(self) -> bytes:
        """Everything kept, the latest of it where it is too much."""
        self._load()
        latest = list(self._kept)[-self._limit :] if self._limit else []
        rows = b"".join(self._kept[key].tobytes() for key in latest)
        body = struct.pack("<I", len(latest)) + b"".join(latest) + rows
        return _MAGIC + hashlib.sha256(body).digest() + body

    def of(self, texts: Sequence[str]) -> Floats:
        """A row for each text: the mean of the vectors of its tokens. Call only where `available()` is None."""
        keys = [_key(text) for text in texts]
        if self._unread is not None and sum(key not in self._kept for key in keys) > _FEW:
            self._load()
        made: dict[bytes, npt.NDArray[np.float16]] = {}
        for key, text in zip(keys, texts, strict=True):
            if key not in self._kept and key not in made:
                made[key] = _mean(text)
        found = [made[key] if key in made else self._kept[key] for key in keys]
        self._keep(made)
        return np.array(found, dtype=np.float32).reshape(len(texts), WIDTH)

    def __len__(self) -> int:
        self._load()
        return len(self._kept)

    def _load(self) -> None:
        if self._unread is not None:
            found, self._unread = self._unread() or b"", None
            self._kept = _read(found) | self._kept

    def _keep(self, made: dict[bytes, npt.NDArray[np.float16]]) -> None:
        if not made:
            return
        self._kept.update(made)
        self.changed = True
        for key in list(islice(self._kept, max(len(self._kept) - self._limit, 0))):
            del self._kept[key]


def _key(text: str) -> bytes:
    return hashlib.sha256(text[:_LONGEST].encode("utf-8", "surrogatepass")).digest()[:_KEY]


def _read(kept: bytes) -> dict[bytes, npt.NDArray[np.float16]]:
    start = len(_MAGIC) + _SUM
    body = kept[start:]
    if len(body) < 4 or kept[:start] != _MAGIC + hashlib.sha256(body).digest():
        return {}
    (count,) = struct.unpack_from("<I", body)
    if len(body) != 4 + count * (_KEY + 2 * WIDTH):
        return {}
    keys = (body[4 + i * _KEY : 4 + (i + 1) * _KEY] for i in range(count))
    rows = np.frombuffer(body, dtype="<f2", offset=4 + count * _KEY).reshape(count, WIDTH)
    return dict(zip(keys, rows, strict=True))


def _mean(text: str) -> npt.NDArray[np.float16]:
    tokenizer, weights = _model()
    clean = text[:_LONGEST].encode("utf-8", "replace").decode()
    ids = [i for i in tokenizer.encode(clean, add_special_tokens=False).ids if i < len(weights)]
    if not ids:
        return np.zeros(WIDTH, dtype=np.float16)
    mean: npt.NDArray[np.float64] = weights[ids].sum(axis=0, dtype=np.float64) / len(ids)
    return mean.astype(np.float16)


@lru_cache(maxsize=1)
def _model() -> tuple[Any, npt.NDArray[np.float16]]:
    """The tokenizer and the vector of each token.

    Read out of the wheel, without the package: importing it takes several times as long as all else, loads a
    client for downloads, and sets up logging for the whole process.
    """
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ImportError("wordllama")
    folder = Path(spec.origin).parent
    tokenizer, weights = folder / _TOKENIZER, folder / _WEIGHTS
    if not (tokenizer.is_file() and weights.is_file()):
        return _loaded_by_package(folder)
    encode = importlib.import_module("tokenizers").Tokenizer.from_file(str(tokenizer))
    rows = importlib.import_module("safetensors.numpy").load_file(str(weights))["embedding.weight"]
    return _whole_texts(encode), rows


def _loaded_by_package(folder: Path) -> tuple[Any, npt.NDArray[np.float16]]:
    """Where another release keeps its files elsewhere."""
    # Its loader looks for the tokenizer beside the weights only where a cache folder is named.
    load = importlib.import_module("wordllama").WordLlama.load
    loaded = load(cache_dir=folder, disable_download=True)
    return _whole_texts(loaded.tokenizer), loaded.embedding


def _whole_texts(tokenizer: Any) -> Any:
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
