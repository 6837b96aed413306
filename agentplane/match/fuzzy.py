"""Similarity of texts in spelling, for the same words in any order and words with typos."""

from collections.abc import Sequence

import numpy as np
from rapidfuzz import fuzz, process, utils

from agentplane.match.bm25 import Floats


def prepared(texts: Sequence[str]) -> list[str]:
    """Return texts in the form that `alike` needs: lower case, letters and digits only."""
    return [utils.default_process(text) for text in texts]


def alike(queries: Sequence[str], texts: Sequence[str]) -> Floats:
    """Return the token_set_ratio of prepared texts, 0 to 1, with one row for each query."""
    if not queries or not texts:
        return np.zeros((len(queries), len(texts)), dtype=np.float32)
    workers = 1 if len(queries) * len(texts) < 1 << 16 else -1
    found = process.cdist(queries, texts, scorer=fuzz.token_set_ratio, dtype=np.float32, workers=workers)
    return (found / 100).astype(np.float32)
