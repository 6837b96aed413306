"""Similarity of words in meaning, from the static embeddings of `match/`. Without embeddings, it is always 0."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt


_ROUNDING = 0.001
"""More than rounding to three places can add."""


@lru_cache(maxsize=1)
def _vectors() -> Any | None:
    from agentplane.match import vectors

    return vectors if vectors.available() is None else None


def embeds() -> bool:
    return _vectors() is not None


def embeddings(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the embeddings of the texts, not normalized, so that a rarer word has a longer vector. They are zero
    without embeddings.
    """
    vectors = _vectors()
    rows: npt.NDArray[np.float64] = (
        np.zeros((len(texts), 1)) if vectors is None else vectors.embed_each(texts)
    )
    return rows


def learn(words: Iterable[str]) -> None:
    """Embed these words at once, which takes less time than one after another."""
    vectors = _vectors()
    if vectors is not None:
        vectors.learn(words)


@lru_cache(maxsize=20_000)
def _direction(word: str) -> npt.NDArray[np.float64]:
    """Return the embedding with length 1, or zeros if the word has none."""
    row: npt.NDArray[np.float64] = embeddings([word[:80]])[0]
    length = float((row * row).sum()) ** 0.5
    return row / length if length else row


def nearness(ones: Sequence[str], others: Sequence[str], least: float) -> list[list[float]]:
    """Return the similarity of each word to each of the others, 0 to 1, rounded so that it is the same on every machine.

    A similarity below `least` counts as 0.
    """
    if not embeds():
        return [[0.0] * len(others) for _ in ones]
    table = _directions(ones) @ _directions(others).T
    found = [[0.0] * len(others) for _ in ones]
    for here, there in np.argwhere(table >= least - _ROUNDING).tolist():
        near = round(float(table[here, there]), 3)
        if near >= least:
            found[here][there] = near
    return found


def _directions(words: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.array([_direction(word) for word in words])
