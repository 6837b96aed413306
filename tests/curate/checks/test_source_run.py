"""Entries whose run isn't in the log."""

import pytest

from agentplane.api import Plane
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from tests.curate.shelves import NOW, add, ago, found, line_at, lines


GONE = "20310501T101112Z-abc123"


def test_a_run_that_the_log_lacks(plane: Plane) -> None:
    add(ago(plane, 9), "Reports are CSV files.", source=GONE)
    (one,) = found(plane, "source-missing")
    assert (one.id, lines(one)) == ("DEC-001", f"source: {GONE}")
    assert line_at(plane, one.where) == f"source: {GONE}"


def test_a_logged_run(plane: Plane) -> None:
    run = ago(plane, 9).write_log({"tool": "codex", "summary": "work"})
    add(ago(plane, 9), "Reports are CSV files.", source=run)
    assert found(plane, "source-missing") == []


def test_a_parent_of_a_logged_run_is_not_logged_itself(plane: Plane) -> None:
    ago(plane, 9).write_log({"tool": "codex", "summary": "work", "parent_run_id": GONE})
    add(ago(plane, 9), "Reports are CSV files.", source=GONE)
    assert len(found(plane, "source-missing")) == 1


@pytest.mark.parametrize(
    "source", [None, "meeting notes", "docs/adr/0003.md", f"{NOW:%Y%m%d}T090000Z-abc123"]
)
def test_what_is_no_run_or_a_run_of_today(plane: Plane, source: str | None) -> None:
    add(ago(plane, 9), "Reports are CSV files.", source=source)
    assert found(plane, "source-missing") == []


def test_an_open_run(plane: Plane) -> None:
    then = ago(plane, 9)
    run = open_run.begin(then.store, RunSpec(command=["true"], cwd="."), then.origin, {})
    add(then, "Reports are CSV files.", source=run.run_id)
    assert found(plane, "source-missing") == []
