"""An opposite is never called a repeat, and what agrees never blocks."""

from collections.abc import Iterator
from itertools import product

import pytest

from agentplane.claims.parse.statement import parse
from agentplane.claims.relation import Relation
from agentplane.claims.verdict import judge_each
from agentplane.review.conflicts.conflicts import Text, compare
from tests.claims.opposites import opposites


OPPOSITES = [
    ("Call the rates service in the request.", "A request is answered without the rates service."),
    ("Integration tests need a running Docker daemon.", "The integration tests run without Docker."),
    ("Card numbers may be logged in debug builds.", "Never log card numbers."),
]
SMALL_WORDS = [
    ("All users are in the European Union.", "Users may be outside of the European Union."),
    ("All users live within Germany.", "Users live beyond Germany."),
    ("At most 3 retries.", "At least 3 retries."),
    ("Traffic stays below 100 requests a second.", "Traffic goes above 100 requests a second."),
    ("Most traffic is mobile.", "Little traffic is mobile."),
    ("The database is on the same host.", "The database is on another host."),
    ("One deployment per tenant.", "All tenants share one deployment."),
    ("We have access to the payment logs.", "We lack access to the payment logs."),
    ("The API is internal.", "The API is external."),
    ("Users must log in.", "Users may stay logged out."),
    ("Disk space is cheap.", "Disk space is expensive."),
    ("Data fits into memory.", "Data may exceed memory."),
    ("Reads are more frequent than writes.", "Writes are more frequent than reads."),
    ("Alle Nutzer sind in der EU.", "Nutzer können außerhalb der EU sein."),
    ("Alle Beträge sind in Cent.", "Beträge sind nicht in Cent."),
]
"""One small word turns each around; all other words are the same."""
TURNED_TWICE = [
    ("Never retry more than 3 times.", "Retry at most 3 times."),
    ("Keep at least 3 replicas.", "Never run fewer than 3 replicas."),
    ("Reads are more frequent than writes.", "Writes are less frequent than reads."),
    ("The payload must not exceed 10 MB.", "The payload has at most 10 MB."),
    ("Services share one database.", "One shared database for all services."),
    ("External services are mocked in tests.", "In tests, external services are mocked."),
    ("Delete logs after 30 days.", "Keep logs for at most 30 days."),
]
"""The small words of the two cancel each other, or say the same."""
ALIKE = [
    ("`make test` works without Docker.", "Docker is not required for `make test`."),
    ("Traces are kept for 14 days.", "We delete traces after 14 days."),
    ("Deleting a project asks first unless `--force` is given.", "Without `--force`, deleting a project must ask first."),
    ("A container must not run as root.", "Every container runs under a non-root user."),
    ("Install packages with pnpm; npm is forbidden.", "Use pnpm rather than npm to install packages."),
    ("Never merge a pull request without a review.", "Every pull request needs a review before it is merged."),
]  # fmt: skip
AGREEING = [
    ("composition", "inheritance"),
    ("PostgreSQL", "MySQL"),
    ("pnpm", "npm"),
    ("pytest", "unittest"),
    ("tabs", "spaces"),
    ("functions", "classes"),
    ("squash commits", "merge commits"),
]
PREFERS = (
    "Prefer {a} over {b}.",
    "Prefer {a} to {b}.",
    "Use {a} rather than {b}.",
    "Use {a} instead of {b}.",
    "Use {a}.",
)
AVOIDS = (
    "Avoid {b} where {a} will do.",
    "Do not use {b} when {a} is enough.",
    "Never use {b} if {a} works.",
    "{b} must not be used where {a} will do.",
    "Avoid {b}; use {a}.",
)


def _both_ways(one: str, other: str) -> Iterator[Relation | None]:
    yield from judge_each(parse(one), [parse(other)])
    yield from judge_each(parse(other), [parse(one)])


@pytest.mark.parametrize(("one", "other"), OPPOSITES)
def test_an_opposite_is_a_contradiction_from_both_sides(one: str, other: str) -> None:
    for found in _both_ways(one, other):
        assert found is not None
        assert found.kind == "contradiction"


def test_an_opposite_is_never_a_duplicate_however_the_two_are_phrased() -> None:
    pairs = list(opposites())
    assert len(pairs) > 2000
    repeats = [
        f"{name}: {one} | {other}"
        for name, one, other in pairs
        if any(found is not None and found.kind == "duplicate" for found in _both_ways(one, other))
    ]
    assert repeats == []


@pytest.mark.parametrize(("one", "other"), SMALL_WORDS)
def test_a_small_word_that_turns_a_statement_around_makes_no_repeat(one: str, other: str) -> None:
    for found in _both_ways(one, other):
        assert found is not None
        assert found.kind == "contradiction"


@pytest.mark.parametrize(("one", "other"), TURNED_TWICE)
def test_small_words_that_cancel_each_other_leave_a_repeat(one: str, other: str) -> None:
    for found in _both_ways(one, other):
        assert found is not None
        assert found.kind == "duplicate"


def test_most_opposites_are_named_as_contradictions() -> None:
    found = [found for _, one, other in opposites() for found in _both_ways(one, other)]
    named = [one for one in found if one is not None and one.kind == "contradiction"]
    assert len(named) > 0.85 * len(found)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_says_the_same_in_the_negative_is_no_contradiction(one: str, other: str) -> None:
    for found in _both_ways(one, other):
        assert found is None or found.kind != "contradiction"


def test_two_that_both_do_without_say_the_same() -> None:
    for found in _both_ways(*ALIKE[0]):
        assert found is not None
        assert found.kind == "duplicate"


@pytest.mark.parametrize(("a", "b"), AGREEING)
def test_a_preference_and_an_avoidance_that_agree_never_block(a: str, b: str) -> None:
    for prefers, avoids in product(PREFERS, AVOIDS):
        one, other = (_sentence(said.format(a=a, b=b)) for said in (prefers, avoids))
        for new, old in ((one, other), (other, one)):
            shelf = Text(id="DEC-001", type="decision", statement=old)
            candidate = Text(id="CAND-1", type="decision", statement=new, status="proposed")
            found = compare(candidate, shelf)
            assert found is None or not found.blocks, (new, old, found)


def test_a_preference_that_is_turned_around_is_a_contradiction() -> None:
    for found in _both_ways("Prefer PostgreSQL to MySQL.", "Prefer MySQL to PostgreSQL."):
        assert found is not None
        assert found.kind in ("contradiction", "supersession")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
