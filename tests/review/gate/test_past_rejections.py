"""What was rejected is known again in other words, and only that."""

import hashlib
import random
import time
from pathlib import Path

import pytest
from rapidfuzz import fuzz, process

from agentplane.api import Plane
from agentplane.claims.compare import wording
from agentplane.claims.compare.wording import words_of
from agentplane.plane.derived import cache
from agentplane.plane.store.snapshot import Snapshot
from agentplane.review.gate import past_rejections
from agentplane.review.gate.past_rejections import Rejection, Tombstones, tombstones
from tests import cached
from tests.conftest import decision, plane_in
from tests.review.gate.test_gate import NORMAL


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


@pytest.mark.parametrize(
    ("old", "new", "sure"),
    [
        ("Migrate first, then roll out the pods", "Roll out the pods first, then migrate", False),
        ("Run the linter before a commit", "Always run the linter before each commit", True),
    ],
)
def test_the_same_steps_in_another_order_are_only_asked_about(old: str, new: str, sure: bool) -> None:
    repeat = Tombstones([rejected(old)]).find(new)
    assert repeat is not None
    assert repeat.sure is sure


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


@pytest.mark.timing
def test_ten_thousand_rejections_cost_little() -> None:
    """Less than a bare scan over their letters would take."""
    chosen = random.Random(1)
    letters = "abcdefghij"
    words = ["".join(chosen.choices(letters, k=7)) for _ in range(3000)]
    stones = Tombstones(rejected(" ".join(chosen.choices(words, k=12)), place) for place in range(10_000))
    question = "The public API should use GraphQL because clients want it"
    texts = [one.text for one in stones.rejections]
    stones.find(question)
    ours, bare = [], []
    for _ in range(5):
        begin = time.perf_counter()
        stones.find(question)
        between = time.perf_counter()
        process.extract(question, texts, scorer=fuzz.token_set_ratio, score_cutoff=55, limit=48)
        ours.append(between - begin)
        bare.append(time.perf_counter() - between)
    assert min(ours) < min(bare)


def test_read_from_a_plane(plane: Plane, project: Path) -> None:
    ids = [
        plane.propose(decision(f"Use {name} for sessions", rationale="It is fast."))
        for name in ("Redis", "Memcached")
    ]
    plane.inbox.reject([ids[0]], why="we stay with Postgres")
    found = in_force(plane.store.snapshot())
    assert [(one.id, one.text, one.reason, one.type) for one in found] == [
        (ids[0], "Use Redis for sessions", "we stay with Postgres", "decision")
    ]
    assert found[0].when.startswith("20")


def test_several_in_one_op_share_its_reason(plane: Plane) -> None:
    ids = [plane.propose(decision(f"Statement {word}")) for word in ("one", "two")]
    plane.inbox.reject(ids, why="noise")
    assert sorted((one.id, one.reason) for one in in_force(plane.store.snapshot())) == sorted(
        (id_, "noise") for id_ in ids
    )


def test_what_was_taken_back_no_longer_counts_until_it_is_redone(plane: Plane) -> None:
    plane.inbox.reject([plane.propose(decision("Use Redis"))])
    plane.history.undo()
    assert in_force(plane.store.snapshot()) == []
    plane.history.redo()
    assert texts(plane) == ["Use Redis"]


def test_a_pruned_text_is_gone(plane: Plane) -> None:
    plane.inbox.reject([plane.propose(decision("Use the word xyzzyplugh"))])
    plane.history.prune("xyzzyplugh")
    assert in_force(plane.store.snapshot()) == []


def test_a_fresh_plane_has_none(tmp_path: Path) -> None:
    assert in_force(plane_in(tmp_path).store.snapshot()) == []


# What is kept in the cache


KEPT = "rejections.mp"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[frozenset[str]]:
    """The ops whose records were read."""
    found: list[frozenset[str]] = []
    real = past_rejections._lines
    monkeypatch.setattr(past_rejections, "_lines", lambda layout, ops: found.append(ops) or real(layout, ops))
    return found


def reject(plane: Plane, statement: str, why: str | None = None) -> str:
    return plane.inbox.reject([plane.propose(decision(statement))], why=why).op


def texts(plane: Plane) -> list[str]:
    return [one.text for one in in_force(plane.store.snapshot())]


def in_force(snapshot: Snapshot) -> list[Rejection]:
    return list(tombstones(snapshot).rejections)


def test_only_new_rejections_are_read_again(plane: Plane, reads: list[frozenset[str]]) -> None:
    first = reject(plane, "Use Redis")
    assert texts(plane) == ["Use Redis"]
    plane.propose(decision("Keep migrations as SQL"))
    second = reject(plane, "Use Varnish")
    reads.clear()
    assert texts(plane) == ["Use Redis", "Use Varnish"]
    assert texts(plane) == ["Use Redis", "Use Varnish"]
    assert first not in frozenset().union(*reads)
    assert reads in ([], [frozenset({second})])


def test_the_cache_says_what_the_records_say(plane: Plane) -> None:
    for number in range(12):
        reject(plane, f"Statement {number} of {'abcdefghijkl'[number] * 9}", why=f"because of {number}")
    plane.history.undo()
    snapshot = plane.store.snapshot()
    from_cache = in_force(snapshot)
    cache.clear(plane.layout)
    assert in_force(snapshot) == from_cache
    assert len(from_cache) == 11
    plane.history.redo()
    assert len(texts(plane)) == 12


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x80", b"\x82\xa7version\x01\xa3ops\x80"])
def test_a_cache_that_cannot_be_used_is_made_anew(plane: Plane, data: bytes) -> None:
    reject(plane, "Use Redis")
    cached.save(plane.layout, KEPT, data)
    assert texts(plane) == ["Use Redis"]
    assert cached.load(plane.layout, KEPT) != data


def test_a_cache_of_another_machine_is_not_believed(plane: Plane) -> None:
    reject(plane, "Use Redis")
    texts(plane)
    path = plane.layout.cache / KEPT
    path.write_bytes(path.read_bytes().replace(b"Use Redis", b"Use Rodos"))
    (plane.layout.cache / "owner").write_text("somebody else")
    assert texts(plane) == ["Use Redis"]


def in_the_cache(plane: Plane, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in plane.layout.cache.rglob("*") if path.is_file())


@pytest.mark.parametrize("where", ["statement", "reason"])
def test_a_pruned_text_is_gone_from_the_cache_too(plane: Plane, where: str) -> None:
    words = ("Use the word xyzzyplugh", "noise") if where == "statement" else ("Use words", "xyzzyplugh!")
    reject(plane, *words)
    texts(plane)
    assert in_the_cache(plane, b"xyzzyplugh")
    plane.history.prune("xyzzyplugh")
    assert texts(plane) == ([] if where == "statement" else ["Use words"])
    assert [one.reason for one in in_force(plane.store.snapshot())] == (
        [] if where == "statement" else [None]
    )
    assert not in_the_cache(plane, b"xyzzyplugh")


def test_a_reader_from_before_the_prune_does_not_put_the_text_back(plane: Plane) -> None:
    reject(plane, "Use the word xyzzyplugh")
    before = plane.store.snapshot()
    stored = past_rejections._read(
        plane.layout, frozenset(note.op for note in before.ledger.ops), frozenset()
    )
    plane.history.prune("xyzzyplugh")
    past_rejections._save(before, stored)
    assert not in_the_cache(plane, b"xyzzyplugh")


@pytest.mark.parametrize("where", ["statement", "reason"])
def test_a_text_that_was_left_in_the_cache_is_dropped_by_the_next_reader(plane: Plane, where: str) -> None:
    words = ("Use the word xyzzyplugh", "noise") if where == "statement" else ("Use words", "xyzzyplugh!")
    reject(plane, *words)
    texts(plane)
    data = cached.load(plane.layout, KEPT)
    plane.history.prune("xyzzyplugh")
    cached.save(plane.layout, KEPT, data or b"")
    assert in_the_cache(plane, b"xyzzyplugh")
    texts(plane)
    assert not in_the_cache(plane, b"xyzzyplugh")


def test_a_change_of_what_words_are_read_makes_the_kept_ones_anew() -> None:
    """If this fails, raise `wording.VERSION` and take over the new hash: words are kept on disk."""
    said = [words_of(text) for text in (*NORMAL, "Don't use 3 DBs instead of one; caching isn't needed.")]
    told = repr([(sorted(words.yes), sorted(words.no), words.numbers, words.order) for words in said])
    assert (wording.VERSION, hashlib.sha256(told.encode()).hexdigest()[:16]) == (2, "b2892892edc8f315")
