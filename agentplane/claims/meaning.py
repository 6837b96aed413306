"""How near words are in meaning, by the static embeddings of `match/`. Without them, no words are near."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt


@lru_cache(maxsize=1)
def _vectors() -> Any | None:
    from agentplane.match import vectors

    return vectors.Vectors(limit=0) if vectors.available() is None else None


def embeds() -> bool:
    return _vectors() is not None


def rough(text: str) -> npt.NDArray[np.float64]:
    """As the weights give it: a rarer word has a longer vector. Zero where there is none."""
    return _narrow(text).astype("float64")


@lru_cache(maxsize=20_000)
def _narrow(text: str) -> npt.NDArray[np.float16]:
    """A quarter as large, with nothing lost: the weights are no finer."""
    vectors = _vectors()
    row: npt.NDArray[np.float16] = np.zeros(1, np.float16) if vectors is None else vectors.made(text)
    return row


@lru_cache(maxsize=20_000)
def _vector(text: str) -> Any | None:
    """Of length 1; None: there is none."""
    row = rough(text[:80])
    length = float((row * row).sum()) ** 0.5
    return row / length if length else None


def nearness(one: str, other: str) -> float:
    """-1 to 1, rounded so that the last bits of a machine do not count."""
    left, right = _vector(one), _vector(other)
    if left is None or right is None:
        return 0.0
    return round(float(left.dot(right)), 3)
