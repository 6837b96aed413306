"""What was rejected is known again in other words, and only that."""

import random
import time
from pathlib import Path

import pytest
from rapidfuzz import fuzz, process

from agentplane.api import Plane
from agentplane.review.tombstones import Rejection, Tombstones, rejections
from tests.conftest import decision, plane_in


def rejected(text: str, place: int = 0) -> Rejection:
    return Rejection(f"CAND-{place}", text, "too early", "2026-01-01T00:00:00Z", f"op-{place}")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Cache sessions in Redis", "Redis is used for caching the sessions"),
        ("Adopt GraphQL for the public API", "The public API should use GraphQL"),
        ("Never use Redis for sessions", "Do not use Redis for sessions"),
        ("Never use Redis for sessions", "Redis must not be used for sessions"),
        ("Never use Redis for sessions", "Avoid Redis for sessions"),
        ("Use tabs for indentation", "Indent with tabs"),
        ("Use Postgres instead of MySQL", "Prefer Postgres over MySQL"),
        ("Time out after 30 seconds", "Time out after 30s"),
        ("Store dates as ISO 8601 strings in UTC", "Dates are stored in UTC as ISO 8601 strings"),
        ("Retry webhooks three times", "Webhooks are retried 3 times"),
        ("Log in JSON.", "logs are JSON"),
    ],
)
def test_the_same_in_other_words(old: str, new: str) -> None:
    for one, other in ((old, new), (new, old)):
        repeat = Tombstones([rejected(one)]).find(other)
        assert repeat is not None
        assert repeat.sure
        assert repeat.rejection.reason == "too early"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Use Redis for sessions", "Do not use Redis for sessions"),
        ("Use Redis for sessions", "Use Redis for queues"),
        ("Cache sessions in Redis", "Cache pages in Varnish"),
        ("Time out after 30 seconds", "Time out after 60 seconds"),
        ("Use Postgres instead of MySQL", "Use MySQL instead of Postgres"),
        ("Prefer tabs over spaces", "Prefer spaces over tabs"),
        ("Use Poetry, not pip", "Use pip, not Poetry"),
        ("Use Redis", "Use Redis for messages between workers in staging"),
        ("Always run the linter before a commit", "Never run the linter before a commit"),
        ("Retry webhooks three times", "Retry webhooks 5 times"),
        ("Require review for migrations", "Do not require review for migrations"),
        ("Enable strict mode", "Disable strict mode"),
        ("Allow force pushes to main", "Forbid force pushes to main"),
        ("Log to stdout", "Log to a file"),
    ],
)
def test_something_else(old: str, new: str) -> None:
    for one, other in ((old, new), (new, old)):
        assert Tombstones([rejected(one)]).find(other) is None


def test_one_word_in_place_of_another_is_only_asked_about() -> None:
    old = rejected("Use Redis for session storage in the API")
    repeat = Tombstones([old]).find("Use Redis for session storage in the worker")
    assert repeat is not None
    assert not repeat.sure


def test_of_several_the_most_alike_then_the_latest() -> None:
    stones = Tombstones(
        [
            rejected("Cache sessions in Redis", 1),
            rejected("Sessions are cached in Redis", 2),
            rejected("Cache the admin sessions in a Redis", 3),
        ]
    )
    repeat = stones.find("Redis caches sessions")
    assert repeat is not None
    assert repeat.rejection.id == "CAND-2"


@pytest.mark.parametrize(
    "text", ["", "   ", "the and of", "\0\0", "\ud800", "not " * 5000, "1 " * 5000, "." * 5000]
)
def test_odd_texts(text: str) -> None:
    assert Tombstones([rejected("Cache sessions in Redis"), rejected(text)]).find(text) in (
        None,
        Tombstones([rejected(text)]).find(text),
    )


def test_ten_thousand_rejections_cost_little() -> None:
    chosen = random.Random(1)
    letters = "abcdefghij"
    words = ["".join(chosen.choices(letters, k=7)) for _ in range(3000)]
    stones = Tombstones(rejected(" ".join(chosen.choices(words, k=12)), place) for place in range(10_000))
    question = "The public API should use GraphQL because clients want it"
    texts = [one.text for one in stones.rejections]
    ours, bare = [], []
    for _ in range(5):
        begin = time.perf_counter()
        stones.find(question)
        between = time.perf_counter()
        process.extract(question, texts, scorer=fuzz.token_set_ratio, score_cutoff=55, limit=48)
        ours.append(between - begin)
        bare.append(time.perf_counter() - between)
    assert min(ours) < 3 * min(bare) + 0.005


def test_read_from_a_plane(plane: Plane, project: Path) -> None:
    ids = [
        plane.propose(decision(f"Use {name} for sessions", rationale="It is fast."))
        for name in ("Redis", "Memcached")
    ]
    plane.reject([ids[0]], why="we stay with Postgres")
    found = rejections(plane.store.snapshot())
    assert [(one.id, one.text, one.reason, one.type) for one in found] == [
        (ids[0], "Use Redis for sessions", "we stay with Postgres", "decision")
    ]
    assert found[0].when.startswith("20")


def test_several_in_one_op_share_its_reason(plane: Plane) -> None:
    ids = [plane.propose(decision(f"Statement {word}")) for word in ("one", "two")]
    plane.reject(ids, why="noise")
    assert sorted((one.id, one.reason) for one in rejections(plane.store.snapshot())) == sorted(
        (id_, "noise") for id_ in ids
    )


def test_what_was_taken_back_no_longer_counts_until_it_is_redone(plane: Plane) -> None:
    plane.reject([plane.propose(decision("Use Redis"))])
    plane.undo()
    assert rejections(plane.store.snapshot()) == []
    plane.redo()
    assert [one.text for one in rejections(plane.store.snapshot())] == ["Use Redis"]


def test_a_pruned_text_is_gone(plane: Plane) -> None:
    plane.reject([plane.propose(decision("Use the word xyzzyplugh"))])
    plane.prune("xyzzyplugh")
    assert rejections(plane.store.snapshot()) == []


def test_a_fresh_plane_has_none(tmp_path: Path) -> None:
    assert rejections(plane_in(tmp_path).store.snapshot()) == []
