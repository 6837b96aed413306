import numpy as np
import pytest

from agentplane.match.bm25 import Index


BAGS = [{"redis": 1, "cache": 1}, {"varnish": 1, "cache": 1}, {"font": 2}, {}]


def test_bm25_is_what_the_formula_says() -> None:
    [row] = Index(BAGS).bm25([{"redis": 1}])
    idf = np.log1p((4 - 1 + 0.5) / (1 + 0.5))
    length = 2 / 1.5
    assert row[0] == pytest.approx(idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length)), rel=1e-5)
    assert list(row[1:]) == [0, 0, 0]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    index = Index(BAGS)
    for found in (index.bm25, index.alike, index.cosine):
        assert found([{"redis": 1}])[0, 0] > found([{"cache": 1}])[0, 0] > 0


def test_the_same_words_are_wholly_alike() -> None:
    index = Index(BAGS)
    for found in (index.alike, index.cosine):
        assert found([BAGS[0]])[0, 0] == pytest.approx(1, abs=1e-5)
        assert found([BAGS[0]]).max() <= 1 + 1e-6


def test_words_the_texts_do_not_have_lower_the_share() -> None:
    index = Index(BAGS)
    for found in (index.alike, index.cosine):
        assert found([{"redis": 1, "elsewhere": 1}])[0, 0] < found([{"redis": 1}])[0, 0]


def test_many_queries_give_what_each_gives_alone() -> None:
    index = Index(BAGS)
    queries = [{"redis": 2, "font": 1}, {}, {"nothing": 1}, {"cache": 3}]
    for found in (index.bm25, index.alike, index.cosine):
        assert np.array_equal(found(queries), np.concatenate([found([query]) for query in queries]))


def test_nothing_to_compare_with() -> None:
    assert Index([]).alike([{"a": 1}]).shape == (1, 0)
    assert Index([]).cosine([{"a": 1}]).shape == (1, 0)
    assert Index([{}, {}]).alike([{"a": 1}, {}]).tolist() == [[0, 0], [0, 0]]
    assert Index(BAGS).bm25([]).shape == (0, 4)
