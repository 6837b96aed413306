"""A proposal costs the same at any size, in a process that serves for long; and what that process holds is never believed."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentplane.api import Plane, open_plane
from agentplane.mcp import handlers, limits
from agentplane.mcp import tools as asked_of
from agentplane.mcp.session import Session
from agentplane.memory import word_index
from agentplane.plane.derived import cache, server_memory
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.store.store import Store
from agentplane.retrieval.indexed import look_up
from agentplane.retrieval.scan import IN_FORCE, scan
from agentplane.review.conflicts.shortlist import FEW
from tests.bench import propose as bench
from tests.conftest import UNLIKE, decision, plane_in


Fields = dict[str, Any]


@pytest.fixture
def serving() -> Iterator[None]:
    """As in a server, what was read is kept between two calls."""
    server_memory.serve(4)
    yield
    server_memory.serve(0)


def proposing(plane: Plane) -> Callable[[str], Fields]:
    own: dict[tuple[Path, str], str] = {}

    def propose(statement: str) -> Fields:
        opened = open_plane(plane.layout.root, channel="mcp", actor="codex")
        asked = asked_of.ProposeArguments(type="decision", statement=statement)
        return handlers.propose(Session(opened, None, own, {}, {}), asked)

    return propose


def elsewhere(plane: Plane, does: str) -> None:
    """What a person does to the plane in a process of its own."""
    code = "import sys; from agentplane.api import open_plane; plane = open_plane(sys.argv[1]); " + does
    done = subprocess.run(
        [sys.executable, "-c", code, str(plane.layout.root)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def written_for(plane: Plane, statements: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """The bytes that go into the cache for these proposals."""
    propose, sizes = proposing(plane), []
    for statement in statements[:3]:
        propose(statement)
    save = cache.save

    def counted(layout: Any, name: str, data: bytes) -> None:
        sizes.append(len(data))
        save(layout, name, data)

    monkeypatch.setattr(cache, "save", counted)
    for statement in statements[3:]:
        propose(statement)
    monkeypatch.undo()
    return sum(sizes)


@pytest.mark.usefixtures("serving")
def test_the_cache_gets_no_more_where_there_is_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (bench.make(tmp_path / str(size), size, bench.made_up()) for size in (100, 1000))
    statements = bench.made_up()[-27:]
    assert written_for(many, statements, monkeypatch) < 2.5 * written_for(few, statements, monkeypatch)


@pytest.mark.timing
@pytest.mark.usefixtures("serving")
def test_ten_times_the_entries_do_not_take_three_times_as_long(tmp_path: Path) -> None:
    times = {}
    for size in (200, 2000):
        propose = proposing(bench.make(tmp_path / str(size), size, bench.made_up()))
        for statement in bench.made_up()[-30:-20]:
            propose(statement)
        taken = []
        for statement in bench.made_up()[-20:]:
            begin = time.process_time()
            propose(statement)
            taken.append(time.process_time() - begin)
        times[size] = sorted(taken)[len(taken) // 2]
    assert times[2000] < 3 * times[200]


def test_what_is_answered_is_what_a_process_of_its_own_answers(tmp_path: Path) -> None:
    """Statements, the ids of what they conflict with, and what is near: proposed by turns with a decision in between."""
    told: list[list[Any]] = []
    for most in (4, 0):
        plane = bench.make(tmp_path / str(most), FEW + 60, bench.made_up())
        propose, found = proposing(plane), []
        server_memory.serve(most)
        for number, statement in enumerate(bench.asked(bench.made_up(), FEW + 60, 12)):
            answer = propose(statement)
            met = [
                (one["with"], one["kind"], one["score"], one["reasons"])
                for one in answer["conflicts"]
                if not one["waits"]
            ]
            found.append((met, answer["near"], answer["waiting"], answer["flags"]))
            if number % 4 == 3:
                plane.memory.deprecate([f"DEC-{number:03}"])
        server_memory.serve(0)
        told.append(found)
    assert told[0] == told[1]


@pytest.mark.usefixtures("serving")
def test_an_index_finds_what_a_scan_finds(tmp_path: Path) -> None:
    plane = bench.make(tmp_path / "plane", 300, bench.made_up())
    dice = random.Random(5)
    for round_ in range(3):
        memory = plane.memory.read()
        index = word_index.of_shelf(memory)
        entries = [entry for entry in memory.shelf if IN_FORCE.takes(entry)]
        for _ in range(25):
            words = " ".join(
                dice.choices(" ".join(dice.choices(bench.made_up(), k=3)).split(), k=dice.randint(1, 14))
            )
            limit = dice.choice((1, 3, 10))
            assert look_up(index, IN_FORCE, words, limit) == scan(entries, words, limit)
        plane.inbox.approve([plane.propose(decision(UNLIKE[round_]))])
        plane.memory.deprecate([f"DEC-{1 + round_:03}"])


@pytest.mark.usefixtures("serving")
def test_words_of_any_script_are_found_word_for_word(git_project: Path) -> None:
    plane = plane_in(git_project)
    said = (
        "İstanbul is where the STRASSE_NAME lives.",
        "Use 日本語 for the index.",
        "KeepAlive must be Ünlimited, always.",
    )
    for statement in said:
        plane.inbox.approve([plane.propose(decision(statement))])
    memory = plane.memory.read()
    index = word_index.of_shelf(memory)
    for entry in memory.shelf:
        assert entry in index.holding(entry.statement)
        assert entry in index.holding(entry.statement.casefold())


@pytest.mark.usefixtures("serving")
def test_what_another_process_does_in_between_is_noticed(git_project: Path) -> None:
    plane = plane_in(git_project)
    propose = proposing(plane)
    assert propose("Cache sessions in Redis.")["conflicts"] == []
    (waiting,) = plane.memory.read().inbox_ids
    elsewhere(plane, f"plane.inbox.approve(['{waiting}'])")
    answer = propose("Cache sessions in Memcached.")
    assert [one["with"] for one in answer["conflicts"]] == ["DEC-001"]
    elsewhere(plane, "plane.promote_fact('Reports are written as CSV files.')")
    assert propose("Every endpoint answers within two seconds.")["waiting"] == 3
    path = plane.layout.file("memory/decisions.md")
    path.write_text(path.read_text().replace("Redis", "Valkey"))
    assert [edit.id for edit in plane.memory.read().hand_edits] == ["DEC-001"]
    elsewhere(plane, "plane.memory.adopt()")
    assert plane.memory.read().hand_edits == []
    assert [found.statement for found in plane.recall("cache sessions valkey")] == [
        "Cache sessions in Valkey."
    ]


@pytest.mark.usefixtures("serving")
def test_what_was_pruned_elsewhere_is_forgotten(git_project: Path) -> None:
    plane = plane_in(git_project)
    plane.inbox.approve([plane.propose(decision("Reports are written as CSV files."))])
    proposing(plane)("Deploys go through the zebracorn pipeline.")
    (waiting,) = plane.memory.read().inbox_ids
    before = server_memory.get(plane.layout, "words")
    elsewhere(plane, f"plane.inbox.reject(['{waiting}']); plane.history.prune('zebracorn')")
    proposing(plane)("Every endpoint answers within two seconds.")
    assert server_memory.get(plane.layout, "words") is not before
    assert b"zebracorn" not in b"".join(page.document.data for page in plane.store.snapshot().pages.values())


def test_a_server_that_is_killed_leaves_a_plane_that_is_whole(tmp_path: Path) -> None:
    plane = bench.make(tmp_path / "plane", 80, bench.made_up())
    subprocess.run(["git", "init", "-q"], cwd=plane.layout.project, check=True)
    for round_ in range(3):
        server = bench.Server(plane)
        statements = iter(bench.made_up()[-1 - 50 * round_ : -51 - 50 * round_ : -1])
        server.propose(next(statements))
        server.send(next(statements))
        time.sleep(0.005 + 0.012 * round_)
        server.kill(signal.SIGKILL)
        assert plane.store.snapshot().ledger.known
        assert not plane.is_damaged()
    with bench.serving(plane) as server:
        answer = server.propose("Every endpoint answers within two seconds.")["structuredContent"]
        assert answer["waiting"] == len(plane.memory.read().inbox_ids)
    assert not plane.is_damaged()


def test_two_servers_of_one_plane_see_each_other(tmp_path: Path) -> None:
    plane = bench.make(tmp_path / "plane", 80, bench.made_up())
    with bench.serving(plane) as one, bench.serving(plane) as other:
        for number, statement in enumerate(bench.made_up()[-6:]):
            answer = (one, other)[number % 2].propose(statement)["structuredContent"]
            assert answer["waiting"] == number + 1
    assert not plane.memory.read().hand_edits


def test_caches_that_grow_with_each_statement_are_cut_back() -> None:
    from agentplane.claims.parse.statement import parse

    for text in bench.made_up()[:800]:
        parse(text)
    assert parse.cache_info().currsize >= 800
    limits.after_call()
    assert parse.cache_info().currsize == 0


def test_a_search_reads_the_memory_once(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    plane.inbox.approve([plane.propose(decision("Use Textual."))])
    opened = open_plane(plane.layout.root, channel="mcp", actor="codex")
    reads, read = [], Store.snapshot

    def counted(store: Store) -> Snapshot:
        reads.append(store)
        return read(store)

    monkeypatch.setattr(Store, "snapshot", counted)
    found = handlers.recall(Session(opened, None, {}, {}, {}), asked_of.RecallArguments(query="textual"))
    assert [one["id"] for one in found["results"]] == ["DEC-001"]
    assert len(reads) == 1
