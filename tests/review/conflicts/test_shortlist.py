"""Which entries a candidate is compared with, and what is kept of a look at the inbox."""

import random

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.errors import Refused
from agentplane.memory.proposing import Proposal
from agentplane.plane.derived import badge_counts, cache
from agentplane.review.conflicts.conflicts import Text, find
from agentplane.review.conflicts.embeddings import VectorCache
from agentplane.review.conflicts.resolve import EXCLUDING, Choice
from agentplane.review.conflicts.shortlist import FEW, NEAREST, Neighbours
from agentplane.review.inbox_conflicts import Conflicts, alike
from tests import cached
from tests.bench.planes import statement
from tests.conftest import UNLIKE, decision, plane_in


BOTH = Choice(keep_both=True, why="one in each region")
INVARIANTS = ("Webhook bodies must never be logged.", "Card numbers must never be stored.")
OPPOSED = ("Webhook bodies must be logged.", "Card numbers must be stored.")


def texts(count: int) -> list[Text]:
    dice = random.Random(3)
    return [Text(id=f"DEC-{n:03}", type="decision", statement=statement(dice)) for n in range(count)]


def asked(words: str, **more: object) -> Text:
    return Text(id="CAND-1", type="decision", statement=words, status="proposed", **more)  # type: ignore[arg-type]


def kept(plane: Plane) -> VectorCache:
    return VectorCache(plane.layout, plane.store.snapshot().ledger.head)


def near(plane: Plane, shelf: list[Text], wanted: Text) -> list[str]:
    return [text.id for text in Neighbours(shelf, kept(plane), "shelf").of_each([wanted])[0]]


def test_a_few_are_all_compared(plane: Plane) -> None:
    shelf = texts(FEW)
    assert near(plane, shelf, asked("Nothing that they say.")) == [text.id for text in shelf]
    assert not (plane.layout.cache / "index-shelf").exists()


def test_of_many_the_nearest_are(plane: Plane) -> None:
    shelf = [*texts(200), Text(id="DEC-999", type="decision", statement="Sign in with a passkey.")]
    found = near(plane, shelf, asked("Log in by means of passkeys."))
    assert len(found) == NEAREST
    assert found[0] == "DEC-999"


def test_those_that_it_names_are_among_them(plane: Plane) -> None:
    shelf = [*texts(200), Text(id="DEC-777", type="decision", statement="Zebras graze.")]
    shelf.append(Text(id="DEC-778", type="decision", statement="Owls hoot.", superseded_by=("CAND-1",)))
    shelf.append(Text(id="DEC-779", type="decision", statement="Cats sleep."))
    said = "Queue the export. It replaces DEC-779."
    found = near(plane, shelf, asked(said, supersedes=("DEC-777",)))
    assert set(found[NEAREST:]) == {"DEC-777", "DEC-778", "DEC-779"}


def test_kept_or_built_anew_it_is_the_same(plane: Plane) -> None:
    shelf, wanted = texts(300), asked("Refunds go to the ledger before the payout.")
    first = near(plane, shelf, wanted)
    assert (plane.layout.cache / "index-shelf").exists()
    assert near(plane, shelf, wanted) == first
    cache.clear(plane.layout)
    assert near(plane, shelf, wanted) == first
    cached.save(plane.layout, "index-shelf", b"nonsense")
    cached.save(plane.layout, "vectors", b"nonsense")
    assert near(plane, shelf, wanted) == first
    near(plane, shelf[1:], wanted)
    assert near(plane, shelf, wanted) == first


def test_without_embeddings_it_works_and_says_so(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentplane.match.vectors.available", lambda: "embeddings are off")
    shelf = [*texts(200), Text(id="DEC-999", type="decision", statement="Sign in with a passkey.")]
    neighbours = Neighbours(shelf, kept(plane), "shelf")
    assert neighbours.of_each([asked("Always sign in with passkeys.")])[0][0].id == "DEC-999"
    assert neighbours.missing == "embeddings are off"
    assert Neighbours(shelf[:5], kept(plane), "shelf").missing is None


@pytest.fixture
def contested(plane: Plane) -> tuple[Plane, list[str]]:
    """Three candidates, of which one contradicts what was approved."""
    plane.inbox.approve([plane.propose(decision("Cache sessions in Redis."))])
    said = ("Cache sessions in Memcached.", *UNLIKE[:2])
    return plane, [plane.propose(decision(text)) for text in said]


def test_what_was_found_is_kept_until_a_file_changes(
    contested: tuple[Plane, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plane, ids = contested
    first = [reviewed.conflicts for reviewed in plane.inbox.review()]
    assert [[conflict.id for conflict in found] for found in first] == [["DEC-001"], [], []]
    monkeypatch.setattr("agentplane.review.inbox_conflicts.find", lambda *_: pytest.fail("compared again"))
    assert [reviewed.conflicts for reviewed in plane.inbox.review()] == first
    assert plane.status().conflicts == 1
    monkeypatch.undo()
    plane.memory.deprecate(["DEC-001"])
    assert [reviewed.conflicts for reviewed in plane.inbox.review()] == [(), (), ()]
    assert plane.status().conflicts == 0
    assert ids == plane.memory.read().inbox_ids


def test_the_badge_counts_conflicts_as_they_were_last_looked_at(contested: tuple[Plane, list[str]]) -> None:
    plane, ids = contested
    assert plane.inbox.badge().conflicts == 0
    plane.inbox.review(ids[:1])
    assert plane.inbox.badge().conflicts == 1
    plane.propose(decision(UNLIKE[3]))
    assert plane.inbox.badge().conflicts == 1
    plane.inbox.reject(ids[:1])
    assert plane.inbox.badge().conflicts == 0
    assert badge_counts.contested(plane.layout, ids, lambda id_: id_ == "DEC-001") == {ids[0]}


def test_many_are_checked_as_one(contested: tuple[Plane, list[str]]) -> None:
    """One by one or all at once, the same is found."""
    plane, _ = contested
    for text in texts(FEW + 12):
        plane.propose(decision(text.statement))
    memory = plane.memory.read()
    at_once = Conflicts(memory).of_each(memory.inbox)
    cache.clear(plane.layout)
    one_by_one = []
    for entry in memory.inbox:
        cached.save(plane.layout, "looked", b"")
        one_by_one.append(Conflicts(memory).of(entry))
    assert at_once == one_by_one


@pytest.mark.parametrize("more", [0, FEW])
def test_of_some_kinds_the_same_is_found(plane: Plane, more: int) -> None:
    """A few entries of these kinds are all compared, of many the nearest."""
    dice = random.Random(5)
    names = ["".join(dice.choices("bdfgklmnprst", k=7)).title() for _ in range(more)]
    rules = [*INVARIANTS, *(f"{name} {name[::-1].lower()}." for name in names)]
    shelf = [Proposal(type="invariant", statement=rule) for rule in rules]
    shelf += [decision(text.statement) for text in texts(FEW)]
    plane.inbox.approve([plane.propose(one) for one in shelf], BOTH)
    ids = [plane.propose(decision(text)) for text in (*OPPOSED, *UNLIKE[:3])]
    memory = plane.memory.read()
    entries = [memory.get(id_) for id_ in ids]
    found = Conflicts(memory, entries).of_each(entries, EXCLUDING)
    assert [[one.id for one in each if one.weight == "blocks"] for each in found] == [
        ["INV-001"],
        ["INV-002"],
        [],
        [],
        [],
    ]
    every = Conflicts(memory, entries).of_each(entries)
    assert [
        {one for one in each if one.id.startswith("INV-")} <= set(some)
        for each, some in zip(every, found, strict=True)
    ] == [True] * 5


def test_nothing_is_ranked_where_few_entries_matter(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    plane.inbox.approve([plane.propose(Proposal(type="invariant", statement=rule)) for rule in INVARIANTS])
    plane.inbox.approve([plane.propose(decision(text.statement)) for text in texts(FEW + 1)], BOTH)
    monkeypatch.setattr(Neighbours, "reached_each", lambda *_: pytest.fail("ranked"))
    ids = [plane.propose(decision(text)) for text in UNLIKE[:3]]
    assert plane.inbox.approve(ids, BOTH).ids[::2] == ids


def test_candidates_that_conflict_are_not_approved_together(plane: Plane) -> None:
    ids = [
        plane.propose(decision(text)) for text in ("Cache sessions in Redis.", "Cache sessions in Memcached.")
    ]
    with pytest.raises(
        Refused, match=f"contradicts {ids[1]}.*\n.*agentplane approve {ids[1]} --reject {ids[0]}"
    ):
        plane.inbox.approve(ids)
    done = plane.inbox.approve(ids, Choice(keep_both=True, why="one in each region"))
    assert done.ids[1::2] == ["DEC-001", "DEC-002"]


SAME = ("Cache sessions in Redis.", "Sessions are cached in Redis.", "Redis caches the sessions.")


def test_those_that_say_the_same_are_decided_with_one(plane: Plane) -> None:
    ids = [plane.propose(decision(text)) for text in SAME]
    other = plane.propose(decision(UNLIKE[0]))
    assert set(alike(plane.memory.read(), ids[1:2])) == {ids[0], ids[2]}
    assert alike(plane.memory.read(), [other]) == ()
    before = (plane.layout.memory / "candidates.md").read_bytes()
    done = plane.inbox.approve([ids[0], ids[0].lower()], Choice(alike=True))
    assert done.renamed == {ids[0]: "DEC-001"}
    assert plane.memory.read().inbox_ids == [other]
    assert [entry.statement for entry in plane.memory.read().shelf] == [SAME[0]]
    plane.history.undo()
    assert (plane.layout.memory / "candidates.md").read_bytes() == before
    plane.inbox.reject(ids[:1], alike=True)
    assert plane.memory.read().inbox_ids == [other]


def test_however_many_say_the_same(plane: Plane) -> None:
    ids = [plane.propose(decision(SAME[0])) for _ in range(FEW + 12)]
    assert set(alike(plane.memory.read(), ids[:1])) == set(ids[1:])


@pytest.mark.parametrize(
    "fields",
    [{"scope": ["web/**"]}, {"scope": ["api/**"]}, {"type": "invariant"}, {"supersedes": ["DEC-009"]}],
)
def test_one_decision_does_not_do_for_what_says_more(plane: Plane, fields: dict[str, object]) -> None:
    id_ = plane.propose(decision(SAME[0]))
    more = plane.propose(msgspec.structs.replace(decision(SAME[0]), **fields))
    assert alike(plane.memory.read(), [id_]) == ()
    plane.inbox.reject([id_], alike=True)
    assert plane.memory.read().inbox_ids == [more]


def test_what_is_approved_is_compared_with_what_goes_with_it(plane: Plane) -> None:
    """Also where a look at the inbox had found nearer ones than that."""
    ids = [
        plane.propose(decision(text)) for text in ("Store sessions in Redis.", "Store sessions in Postgres.")
    ]
    for text in ("Store sessions in Redis.", "Store sessions in Postgres."):
        for _ in range(30):
            plane.propose(decision(text))
    plane.inbox.review()
    with pytest.raises(Refused, match="contradicts"):
        plane.inbox.approve(ids)


def test_two_planes_find_the_same(plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = plane_in(tmp_path_factory.mktemp("other"))
    shelf = texts(FEW * 2)
    wanted = asked("Refunds go to the ledger before the payout.")
    assert near(plane, shelf, wanted) == near(other, shelf, wanted)


def test_a_contradiction_is_found_among_many(plane: Plane) -> None:
    shelf = [*texts(400), Text(id="INV-1", type="invariant", statement="The TUI is written with urwid.")]
    candidate = asked("The TUI is written with textual.")
    near_by = Neighbours(shelf, kept(plane), "shelf").of_each([candidate])[0]
    assert [(found.id, found.weight) for found in find(candidate, near_by)] == [("INV-1", "blocks")]
