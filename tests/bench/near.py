"""Signals and scores of every text of a corpus, which agentplane computes only for the nearest ones."""

from collections.abc import Sequence

from agentplane.match import fusion, fuzzy
from agentplane.match.bm25 import Floats
from agentplane.match.corpus import Corpus, Text


def signals(corpus: Corpus, queries: Sequence[Text]) -> dict[str, Floats]:
    """Each signal as a matrix with a row for each query."""
    near = corpus._near(queries)
    spelled = fuzzy.prepared([query.title for query in queries])
    return corpus._quick(near, corpus._own(near)) | {
        fusion.SLOW: fuzzy.alike(spelled, corpus._spelled_at(range(len(corpus))))
    }


def scores(corpus: Corpus, queries: Sequence[Text]) -> Floats:
    """The nearness of each text to each query, from 0 to 1."""
    return fusion.fused(signals(corpus, queries))
