"""How certain the relations are, on the labelled pairs of `tests.review.pairs`."""

import hashlib
from collections import Counter

import msgspec
import numpy as np
import pytest

from agentplane.claims.parse.statement import parse
from agentplane.curate.pairs import candidates, directions
from agentplane.curate.pairs.strict import judged_each
from agentplane.review import result_versions
from tests.review.pairs import SETS, Pair


KINDS = {"contradiction": "contradiction", "supersession": "replacement", "duplicate": "duplicate"}
LABELLED = [
    pair for pairs in SETS.values() for pair in pairs if not pair.first_scope and not pair.second_scope
]
PINNED = {1: "8652be29c4772b2a"}
"""A digest of the results by `CURATOR_PAIRS`. Add a row for a new version, and change none."""


def judged(pair: Pair) -> str | None:
    (found,) = judged_each(parse(pair.second), [parse(pair.first)])
    return found.kind if found else None


@pytest.fixture(scope="module")
def results() -> dict[Pair, str | None]:
    pytest.importorskip("wordllama")
    return {pair: judged(pair) for pair in LABELLED}


def test_nothing_is_said_of_pairs_that_go_together(results: dict[Pair, str | None]) -> None:
    wrong = [pair for pair, found in results.items() if found and pair.expected not in KINDS]
    assert wrong == []


def test_what_is_said_is_right(results: dict[Pair, str | None]) -> None:
    said = Counter((pair.expected, found) for pair, found in results.items() if found)
    assert {key for key in said if KINDS[key[0]] != key[1]} <= {("contradiction", "replacement")}
    assert said["contradiction", "replacement"] <= 1
    assert said["contradiction", "contradiction"] >= 170
    assert said["duplicate", "duplicate"] >= 95


def test_every_such_pair_is_chosen_for_comparison(results: dict[Pair, str | None]) -> None:
    for pair in (pair for pair, found in results.items() if found):
        texts = pair.first, pair.second
        words = [directions.words_of(text) for text in texts]
        (_, near) = candidates.earlier_neighbours(
            directions.directions_of(texts), range(2), words.__getitem__
        )
        assert list(near) == [0], pair


def test_the_results_change_only_with_their_version(results: dict[Pair, str | None]) -> None:
    version = result_versions.CURATOR_PAIRS
    digest = hashlib.sha256(msgspec.json.encode(list(results.values()))).hexdigest()[:16]
    assert PINNED[version] == digest, (
        f"The results changed, and caches still have the earlier ones: raise CURATOR_PAIRS to {version + 1}, "
        f"and pin {digest!r} for it."
    )


def test_without_embeddings_equal_words_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directions, "embeds", lambda: False)
    texts = (
        "Sessions are stored in Redis.",
        "Sessions are stored in Memcached.",
        "Buttons have round corners.",
    )
    near = directions.nearness(*[directions.directions_of(texts)] * 2)
    assert np.allclose(near.diagonal(), 2, atol=0.1)
    assert near[0, 1] >= candidates.LEAST_NEAR
    assert near[0, 2] < candidates.LEAST_NEAR


def test_a_direction_depends_on_its_statement_alone() -> None:
    texts = [pair.first for pair in LABELLED[:40]]
    together = directions.directions_of(texts)
    assert all(
        (directions.directions_of([text])[0] == row).all() for text, row in zip(texts, together, strict=True)
    )


def test_a_statement_has_a_limited_number_of_partners() -> None:
    texts = [f"The timeout of the search service is {number} seconds." for number in range(1, 60)]
    words = [directions.words_of(text) for text in texts]
    near = candidates.earlier_neighbours(
        directions.directions_of(texts), range(len(texts)), words.__getitem__
    )
    assert [len(places) for places in near] == [min(row, candidates.MOST) for row in range(len(texts))]
