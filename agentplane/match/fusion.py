"""Fusion of several signals into one score.

The weights are a logistic regression from `python -m tests.bench.conflicts --fit` on the pairs of
../shared/data/adr. They rank a superseded record before all other earlier records of its repository, and such
pairs above pairs that only look alike. On repositories that the weights were not fitted to, recall is 0.67 at
rank 1 and 1.00 in the first five, and average precision is 0.59. More signals (embeddings of sections, shared
identifiers, recency) did not help there.
"""

from collections.abc import Mapping

import msgspec
import numpy as np

from agentplane.match.bm25 import Floats, Wide


class Usual(msgspec.Struct, frozen=True):
    mean: float
    deviation: float


class Weights(msgspec.Struct, frozen=True):
    of: Mapping[str, float]
    bias: float


USUAL = {"words": Usual(0.09, 0.05), "meaning": Usual(0.015, 0.16)}
"""The usual similarity of a text to the others of its corpus. These are medians over the repositories of the
dev data.
"""
PRIOR = 10
"""Number of texts from which the corpus's own statistics outweigh the usual ones. Chosen, not fitted."""

FULL = Weights({"title": 1.4, "spelling": 0.9, "bm25": 1.9, "words_apart": 3.2, "meaning_apart": 2.1}, -3.9)
PLAIN = Weights({"title": 1.6, "spelling": 1.0, "bm25": 2.3, "words_apart": 4.1}, -3.8)
"""Weights for use without embeddings."""


SLOW = "spelling"
"""The signal that takes longest by far. Neither the signal nor its weight is ever negative."""


def fused(signals: Mapping[str, Floats]) -> Floats:
    """Return the score of each pair, 0 to 1, rounded so that it is the same on every machine."""
    score: Floats = np.round(1 / (1 + np.exp(-(total(signals) + _weights(signals).bias))), 6).astype(
        np.float32
    )
    return score


def total(signals: Mapping[str, Floats]) -> Wide:
    """Return the weighted sum of the signals. The score increases with it."""
    weighed = [signals[name].astype(np.float64) * weight for name, weight in _weights(signals).of.items()]
    found: Wide = np.sum(weighed, axis=0)
    return found


def without_slow(signals: Mapping[str, Floats]) -> tuple[Wide, float]:
    """Return the weighted sum without the slow signal, and the maximum that the slow signal can add."""
    weights = _weights(signals).of
    quick = [signals[name].astype(np.float64) * weight for name, weight in weights.items() if name != SLOW]
    return np.sum(quick, axis=0), weights[SLOW]


def _weights(signals: Mapping[str, Floats]) -> Weights:
    return FULL if "meaning" in signals else PLAIN
