"""Similarity of words in meaning, from the static embeddings of `match/`. Without embeddings, it is always 0."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt


@lru_cache(maxsize=1)
def _vectors() -> Any | None:
    from agentplane.match import vectors

    return vectors if vectors.available() is None else None


def embeds() -> bool:
    return _vectors() is not None


def embedding(text: str) -> npt.NDArray[np.float64]:
    """Return the embedding of the text, not normalized, so that a rarer word has a longer vector. It is zero
    without embeddings.
    """
    return _narrow(text).astype("float64")


@lru_cache(maxsize=20_000)
def _narrow(text: str) -> npt.NDArray[np.float16]:
    """Return the embedding as float16. It is a quarter as large and loses nothing, because the weights are
    float16.
    """
    vectors = _vectors()
    row: npt.NDArray[np.float16] = np.zeros(1, np.float16) if vectors is None else vectors.embed(text)
    return row


@lru_cache(maxsize=20_000)
def _vector(text: str) -> Any | None:
    """Return the embedding with length 1, or None if the text has none."""
    row = embedding(text[:80])
    length = float((row * row).sum()) ** 0.5
    return row / length if length else None


def nearness(one: str, other: str) -> float:
    """Return the similarity, -1 to 1, rounded so that it is the same on every machine."""
    left, right = _vector(one), _vector(other)
    if left is None or right is None:
        return 0.0
    return round(float(left.dot(right)), 3)
