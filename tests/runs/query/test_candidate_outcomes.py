"""What became of a run's candidates, and the days of a log."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.runs.query import candidate_outcomes, daily_counts
from agentplane.text.log import chain
from tests.conftest import UNLIKE, decision


def test_each_candidate_of_a_run_and_what_became_of_it(plane: Plane) -> None:
    run = plane.write_log({"task": "T1", "tool": "codex", "exit_status": 0})
    other = plane.write_log({"task": "T2", "tool": "codex", "exit_status": 0})
    ids = [plane.propose(decision(words, source=run)) for words in UNLIKE[:4]]
    plane.propose(decision(UNLIKE[4], source=other))
    plane.inbox.approve([ids[0], ids[1]])
    plane.inbox.reject([ids[2]], "no")
    plane.memory.deprecate(["DEC-002"])
    found = {one.statement: (one.id, one.state) for one in candidate_outcomes.of(plane.memory.read(), run)}
    assert found == {
        UNLIKE[0]: ("DEC-001", "accepted"),
        UNLIKE[1]: ("DEC-002", "deprecated"),
        UNLIKE[2]: (ids[2], "rejected"),
        UNLIKE[3]: (ids[3], "waits"),
    }


def test_a_run_that_proposed_nothing(plane: Plane) -> None:
    run = plane.write_log({"task": "T1"})
    plane.propose(decision(f"Look at {run} again."))
    assert candidate_outcomes.of(plane.memory.read(), run) == []


def test_the_days_are_counted(plane: Plane) -> None:
    today = plane.store.clock().date()
    for status in (0, 0, 3):
        plane.write_log({"task": "T", "exit_status": status})
    plane.write_log({"task": "T", "ts": f"{today - timedelta(days=3)}T10:00:00Z"})
    plane.write_log({"task": "T", "ts": "2020-01-01T10:00:00Z"})
    ids = [plane.propose(decision(words)) for words in UNLIKE[:4]]
    plane.inbox.approve(ids[:3])
    plane.inbox.reject(ids[3:], "no")
    found = daily_counts.count(plane.layout, today, 5)
    assert [day.day for day in found] == [today - timedelta(days=back) for back in (4, 3, 2, 1, 0)]
    assert [day.runs for day in found] == [0, 1, 0, 0, 3]
    last = found[-1]
    assert (last.failed, last.approved, last.rejected, last.acceptance) == (1, 3, 1, 0.75)
    assert found[0].acceptance is None


def test_counting_stops_where_the_days_end(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        plane.write_log({"task": "T", "ts": f"2020-01-01T10:00:{number:02}Z"})
    looked: list[bytes] = []
    backwards = chain.lines_backwards

    def counted(path: Path) -> Iterator[bytes]:
        for line in backwards(path):
            looked.append(line)
            yield line

    monkeypatch.setattr(daily_counts, "_OLDER", 10)
    monkeypatch.setattr(chain, "lines_backwards", counted)
    daily_counts.count(plane.layout, date(2026, 9, 1), 5)
    assert len(looked) == 11


def test_a_day_is_counted_in_utc_and_an_import_is_no_run(plane: Plane) -> None:
    plane.write_log({"ts": "2026-09-01T01:00:00+05:00", "inputs": [{"ts": "2026-08-29T00:00:00Z"}]})
    plane.write_log({"ts": "2026-09-01T00:30:00Z", "activity": "import"})
    found = daily_counts.count(plane.layout, date(2026, 9, 1), 2)
    assert [(day.day.day, day.runs) for day in found] == [(31, 1), (1, 0)]
