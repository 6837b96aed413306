"""Everywhere the same order: by time, then by the chain."""

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.mcp import resources
from agentplane.plane.ledger import ledger_cache, summing
from agentplane.plane.ledger.ledger import Ledger
from agentplane.runs.query import artifacts, compare, timeline
from agentplane.text import moments
from agentplane.tui.backend.runs.log_pager import Book
from tests.conftest import plane_in
from tests.runs.made import git


OLD, WRONG = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00+02:00"


@pytest.fixture
def plane(git_project: Path) -> Plane:
    (git_project / "a.txt").write_text("a\n")
    git(git_project, "add", ".")
    git(git_project, "commit", "-qm", "files")
    return plane_in(git_project)


def runs(plane: Plane) -> list[str | None]:
    return [row.run_id for row in timeline.rows(plane.layout) if row.kind == "run"]


def book(plane: Plane) -> list[str | None]:
    found = Book(plane.layout)
    found.read(100)
    return [row.run_id for row in found.rows]


def current(plane: Plane) -> str:
    """The hash of the current `a.txt` of the task."""
    (found,) = (one for one in artifacts.listed(plane.store.snapshot().ledger, "T") if one.path == "a.txt")
    return found.sha256


def made(plane: Plane, text: str, **more: object) -> tuple[str, str]:
    """Logs a run that produced `a.txt` with a text. Returns the id of the run, and the hash."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    event = {"task": "T", "outputs": [{"path": "a.txt", "sha256": sha256}], **more}
    return plane.write_log(event), sha256


def test_a_run_that_was_logged_late_is_where_it_happened(plane: Plane) -> None:
    first, _ = made(plane, "one", ts="2021-01-01T00:00:00Z")
    today, now = made(plane, "today")
    late, _ = made(plane, "long ago", ts=OLD)
    assert runs(plane) == book(plane) == [today, first, late]
    assert [row["run_id"] for row in json.loads(resources.read(plane, "agentplane://runs").text)] == runs(
        plane
    )
    assert compare.run_named(plane.layout, "latest").run_id == today
    assert compare.of(plane.layout, today).a == first
    assert current(plane) == now


def test_a_time_in_the_future_is_not_the_last_for_ever(plane: Plane) -> None:
    wrong, _ = made(plane, "wrong", ts=WRONG)
    right, now = made(plane, "right")
    assert runs(plane) == book(plane) == [right, wrong]
    assert compare.run_named(plane.layout, "latest").run_id == right
    assert current(plane) == now


def test_a_machine_whose_clock_was_wrong(plane: Plane) -> None:
    from datetime import UTC, datetime

    ahead = type(plane.store)(plane.layout, lambda: datetime(2099, 1, 1, tzinfo=UTC), plane.store.token)
    wrong, _ = made(type(plane)(ahead, plane.origin), "wrong")
    right, now = made(plane, "right")
    assert runs(plane) == book(plane) == [right, wrong]
    assert current(plane) == now


def test_zones_are_one_moment(plane: Plane) -> None:
    given = ("2021-06-01T10:00:00Z", "2021-06-01T12:30:00+02:00", "2021-06-01T06:00:00-05:00")
    one, two, three = (made(plane, at, ts=at)[0] for at in given)
    assert runs(plane) == [three, two, one]
    assert current(plane) == hashlib.sha256(given[2].encode()).hexdigest()


def test_the_artifacts_are_the_same_from_the_cache_and_from_the_log(plane: Plane) -> None:
    for number, ts in enumerate((None, OLD, WRONG, None, "2021-01-01T00:00:00Z", WRONG)):
        made(plane, str(number), **({"ts": ts} if ts else {}))
    kept = ledger_cache.read(plane.layout)
    assert kept == summing.advance(Ledger(), plane.layout)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(kept), type=Ledger) == kept
    assert current(plane) == hashlib.sha256(b"5").hexdigest()


def test_since_goes_by_the_moment(plane: Plane) -> None:
    wrong, _ = made(plane, "wrong", ts=WRONG)
    late, _ = made(plane, "late", ts=OLD)

    def since(text: str) -> list[str | None]:
        wanted = timeline.Wanted(since=moments.moment(text, plane.store.clock()))
        return [row.run_id for row in timeline.rows(plane.layout, wanted) if row.kind == "run"]

    assert since("1h") == [wrong]
    assert since("2019-01-01") == [wrong, late]
    assert since("2050-01-01") == []


def test_the_book_of_runs_takes_a_late_run_to_its_place(plane: Plane) -> None:
    one, _ = made(plane, "one")
    found = Book(plane.layout)
    found.read(10)
    two, _ = made(plane, "two")
    assert found.grow()
    assert [row.run_id for row in found.rows] == [two, one]
    late, _ = made(plane, "late", ts=OLD)
    assert not found.grow()
    assert book(plane) == [two, one, late]


def test_an_import_is_no_run_of_a_tool(plane: Plane) -> None:
    run, _ = made(plane, "one")
    (plane.layout.project / "AGENTS.md").write_text("# Rules\n\n- Always use tabs in Makefiles.\n")
    plane.tools.take_in(plane.tools.harvest(["instructions"]))
    rows = [row for row in timeline.rows(plane.layout) if row.kind == "run"]
    assert [(row.outcome, row.activity) for row in rows] == [("import", "import"), ("ended", None)]
    assert compare.run_named(plane.layout, "latest").run_id == run
    assert [row["run_id"] for row in json.loads(resources.read(plane, "agentplane://runs").text)] == [run]
