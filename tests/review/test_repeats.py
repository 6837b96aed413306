"""What was rejected and comes back: shown, suppressed, counted, and let in by a person."""

import multiprocessing
from datetime import date
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput, Refused
from agentplane.plane.derived import cache
from agentplane.review import inbox, inbox_flags
from agentplane.review.gate import repeat_counts, verdicts
from agentplane.review.gate.verdicts import Repeated
from tests.bench.planes import WORDS
from tests.conftest import decision, plane_in


TODAY = date(2026, 11, 18)
AGAIN = "Redis is used for caching the sessions"


@pytest.fixture
def rejected(plane: Plane) -> str:
    """The id of a rejected candidate: Cache sessions in Redis."""
    id_ = plane.propose(decision("Cache sessions in Redis"))
    plane.inbox.reject([id_], why="we stay with Postgres")
    return id_


def flags(plane: Plane, id_: str) -> list[str]:
    memory = plane.memory.read()
    return inbox_flags.flags(memory, memory.get(id_), inbox.gate_context(memory, TODAY))


def refused(plane: Plane, statement: str = AGAIN) -> Repeated:
    with pytest.raises(Repeated) as caught:
        plane.propose(decision(statement))
    return caught.value


def test_a_candidate_that_is_like_a_past_rejection_says_so(plane: Plane, rejected: str) -> None:
    id_ = plane.propose(decision("Cache carts and sessions in Redis"))
    (flag,) = flags(plane, id_)
    day = plane.history.ops(2)[1].ts[:10]
    assert f", as {rejected} on {day} (reason: we stay with Postgres)" in flag
    assert flag.startswith("statement: was rejected before in similar words (")
    assert "% match), as" in flag


def test_two_that_waited_together(plane: Plane) -> None:
    one, other = (plane.propose(decision(text)) for text in ("Cache sessions in Redis", AGAIN))
    assert flags(plane, other) == []
    plane.inbox.reject([one])
    (flag,) = flags(plane, other)
    assert one in flag
    assert "(no reason given)" in flag
    plane.history.undo()
    assert flags(plane, one) == flags(plane, other) == []


def test_a_rejected_candidate_that_a_merge_brought_back(plane: Plane) -> None:
    id_ = plane.propose(decision("Cache sessions in Redis"))
    path = plane.layout.memory / "candidates.md"
    other_branch = path.read_bytes()
    plane.inbox.reject([id_], why="we stay with Postgres")
    path.write_bytes(other_branch)
    told = [flag for flag in flags(plane, id_) if "manual edit" not in flag]
    day = plane.history.ops(1)[0].ts[:10]
    assert told == [f"this candidate was rejected before, as {id_} on {day} (reason: we stay with Postgres)"]


def test_a_refusal_says_how_often_and_names_the_next_step(plane: Plane, rejected: str) -> None:
    first = refused(plane)
    assert "time" not in first.what
    assert "agentplane propose --again" in str(first.todo)
    assert "what has changed since" not in str(first)
    refused(plane)
    third = refused(plane)
    assert third.what.endswith("(reason: we stay with Postgres); refused for the 3rd time")
    assert (third.times, third.earlier.id, third.earlier.reason) == (3, rejected, "we stay with Postgres")


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (13, "13th"),
        (21, "21st"),
        (112, "112th"),
    ],
)
def test_ordinals(number: int, shown: str) -> None:
    assert verdicts._ordinal(number) == shown


def test_what_was_suppressed_is_counted_by_source_and_nowhere_but_in_the_cache(project: Path) -> None:
    ada, codex = plane_in(project), plane_in(project, "codex", "mcp")
    ada.inbox.reject([ada.propose(decision("Cache sessions in Redis"))])
    before = {
        path: path.read_bytes()
        for path in ada.layout.root.rglob("*")
        if path.is_file() and "cache" not in path.parts
    }
    for _ in range(2):
        refused(codex)
    assert {path: path.read_bytes() for path in before} == before
    rows = {row.source: row for row in inbox_flags.figures(ada.store.snapshot())}
    assert (rows["codex"].proposed, rows["codex"].suppressed, rows["codex"].accepted) == (0, 2, None)
    assert rows["Ada"].suppressed == 0
    assert b"Redis" not in (ada.layout.cache / "suppressed.jsonl").read_bytes()
    cache.clear(ada.layout)
    assert repeat_counts.by_source(ada.layout) == {}


def test_other_refusals_are_not_counted(plane: Plane, rejected: str) -> None:
    with pytest.raises(Refused):
        plane.propose(decision("Use \x1b[31mred"))
    assert repeat_counts.by_source(plane.layout) == {}


def test_a_count_that_cannot_be_written_stops_nothing(plane: Plane, rejected: str) -> None:
    (plane.layout.cache / "suppressed.jsonl").mkdir()
    assert refused(plane).times == 1


def test_a_count_that_was_damaged_goes_on(plane: Plane, rejected: str) -> None:
    refused(plane)
    with (plane.layout.cache / "suppressed.jsonl").open("ab") as file:
        file.write(b"\xff{\n[]\n")
    assert refused(plane).times == 2


def _many(folder: Path, times: int) -> None:
    for _ in range(times):
        repeat_counts.add(plane_in(folder).layout, "codex", "CAND-1")


def test_many_processes_count_at_once(project: Path) -> None:
    plane = plane_in(project)
    repeat_counts.add(plane.layout, "codex", "CAND-1")
    fork = multiprocessing.get_context("spawn")
    workers = [fork.Process(target=_many, args=(project, 10)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert repeat_counts.by_source(plane.layout) == {"codex": 31}


def test_again_lets_it_in_with_the_earlier_rejection_shown(plane: Plane, rejected: str) -> None:
    id_ = plane.propose(decision(AGAIN), again=True)
    (flag,) = flags(plane, id_)
    assert rejected in flag
    assert repeat_counts.by_source(plane.layout) == {}


def test_again_lifts_nothing_else(plane: Plane, rejected: str) -> None:
    with pytest.raises(Refused, match=r"control|hidden"):
        plane.propose(decision(f"{AGAIN}\x1b"), again=True)


def test_what_was_rejected_for_one_place_is_only_asked_about_for_another(plane: Plane) -> None:
    plane.inbox.reject([plane.propose(decision("Indent with tabs", scope=["web/**"]))])
    with pytest.raises(Repeated):
        plane.propose(decision("Use tabs for indentation", scope=["web/src/**"]))
    id_ = plane.propose(decision("Use tabs for indentation", scope=["api/**"]))
    assert "was rejected before" in flags(plane, id_)[0]


def test_the_setting_off_silences_all_of_it(plane: Plane, rejected: str) -> None:
    plane.layout.config.write_text('[gate]\nrepeat = "off"\n')
    assert flags(plane, plane.propose(decision(AGAIN))) == []


def test_the_inbox_says_so_and_a_bulk_approval_leaves_it_to_a_person(plane: Plane, rejected: str) -> None:
    id_ = plane.propose(decision(AGAIN), again=True)
    (reviewed,) = plane.inbox.review([id_])
    assert not reviewed.clean
    assert rejected in reviewed.flags[0]
    assert "we stay with Postgres" in reviewed.flags[0]
    with pytest.raises(BadInput, match="No candidate is ready to approve"):
        plane.inbox.approve_clean()


def test_free_paraphrase_of_a_rejection_is_told(plane: Plane) -> None:
    """Its structure is the same, and that alone is not sure enough to keep it from the reviewer."""
    id_ = plane.propose(decision("Uploaded images are limited to 2 MiB."))
    plane.inbox.reject([id_], why="the partner sends larger ones")
    again = "The maximum size of an uploaded image is 2048 KiB."
    (flag,) = flags(plane, plane.propose(decision(again)))
    assert id_ in flag
    assert "the partner sends larger ones" in flag
    assert flags(plane, plane.propose(decision("The maximum size of an uploaded image is 8 MiB."))) == []
    plane.history.undo()
    plane.history.undo()
    plane.history.undo()
    assert flags(plane, plane.propose(decision(again))) == []


def test_a_rejection_is_found_among_many(plane: Plane) -> None:
    ids = [plane.propose(decision(f"Team {n} owns the {word} table.")) for n, word in enumerate(WORDS * 2)]
    ids.append(plane.propose(decision("Uploaded images are limited to 2 MiB.")))
    plane.inbox.reject(ids)
    (flag,) = flags(plane, plane.propose(decision("The maximum size of an uploaded image is 2048 KiB.")))
    assert ids[-1] in flag


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Run the linter before the tests", "Run the tests before the linter"),
        ("Migrate from Redis to Postgres", "Migrate from Postgres to Redis"),
        ("The api imports the core", "The core imports the api"),
        ("Admins delete users", "Users delete admins"),
        ("Tests may use the network", "Tests use the network"),
        ("Only admins can export", "Admins can export"),
        ("Cache pages at most 5 minutes", "Cache pages at least 5 minutes"),
        ("Set the `foo_bar` flag", "Set the `foo_baz` flag"),
        ("Log every request", "Log every failed request"),
        ("Upload files larger than 10 MB to S3", "Upload files smaller than 10 MB to S3"),
        ("Users must be 18", "Users must be 18 or older"),
    ],
)
def test_what_says_something_else_with_the_same_words_is_not_refused(
    plane: Plane, old: str, new: str
) -> None:
    plane.inbox.reject([plane.propose(decision(old))])
    assert plane.propose(decision(new))
