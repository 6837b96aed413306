"""Runs as data: read in pages from the log's end, filtered, as rows, checked, drawn."""

import gc
import os
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.style import Style

from agentplane.api import Plane
from agentplane.jobs import Progress, Stopped
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.runs.query.daily_counts import Day
from agentplane.runs.query.timeline import TimelineRow
from agentplane.text.log import chain
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.runs import chain_check
from agentplane.tui.backend.runs.log_pager import PAGE, Book
from agentplane.tui.screens.runs import rows as run_rows
from agentplane.tui.screens.runs.chart import bars
from agentplane.tui.screens.runs.compare_screen import Pair, pairs
from agentplane.tui.screens.runs.rows import Place
from agentplane.tui.screens.runs.sections import RunAbout
from tests.bench.runs import with_runs


NOW = datetime(2026, 9, 12, 9, tzinfo=UTC)


def run(**more: object) -> TimelineRow:
    given = {"ts": "2026-09-11T10:00:00Z", "kind": "run", "run_id": "20260911T100000Z-aaaa", **more}
    return TimelineRow(**given)  # type: ignore[arg-type]


def ids(book: Book) -> list[str | None]:
    return [row.run_id for row in book.rows]


# The book


def test_pages_from_the_end(tmp_path: Path) -> None:
    book = Book(with_runs(tmp_path, 450).layout)
    book.read(PAGE)
    assert len(book.rows) == PAGE
    assert not book.ended
    assert (book.rows[0].run_id or "").endswith("0001c1")
    book.read(1000)
    assert len(set(ids(book))) == 450
    assert book.ended


@pytest.mark.timing
def test_what_is_opened_costs_as_little_in_a_long_log_as_in_a_short_one(tmp_path: Path) -> None:
    """Best of several, in turns; the bytes that are read are counted as well."""
    long, short = with_runs(tmp_path / "long", 100_000), with_runs(tmp_path / "short", 100)

    def opened(plane: Plane) -> float:
        begin = time.process_time()
        book = Book(plane.layout)
        book.read(100)
        taken = time.process_time() - begin
        assert len(book.rows) == 100
        book.close()
        return taken

    gc.collect()
    times = [(opened(long), opened(short)) for _ in range(9)]
    assert min(pair[0] for pair in times) <= 2 * min(pair[1] for pair in times)


def test_of_a_long_log_only_the_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plane = with_runs(tmp_path, 20_000)
    lines: list[int] = []
    backwards = chain.lines_backwards

    def counted(path: Path) -> object:
        for line in backwards(path):
            lines.append(len(line))
            yield line

    monkeypatch.setattr(chain, "lines_backwards", counted)
    book = Book(plane.layout)
    book.read(PAGE)
    assert len(lines) == PAGE


def test_what_is_added_at_the_end_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plane = with_runs(tmp_path, 300)
    book = Book(plane.layout)
    book.read(50)
    new = plane.write_log({"task": "new"})
    monkeypatch.setattr(chain, "lines_backwards", None)
    assert book.grow()
    assert ids(book)[0] == new
    assert len(book.rows) == 51
    assert book.grow()
    monkeypatch.undo()
    book.read(1000)
    assert len(set(ids(book))) == 301


def test_another_log_is_another_book(tmp_path: Path) -> None:
    plane = with_runs(tmp_path, 10)
    book = Book(plane.layout)
    book.read(5)
    lines = plane.layout.log.read_bytes().splitlines(keepends=True)
    plane.layout.log.write_bytes(b"".join(lines[:-3]))
    assert not book.grow()
    plane.layout.log.write_bytes(b"".join(lines[:-3]) + b"x" * 5000 + b"\n")
    assert not book.grow()


def test_a_run_is_found_however_far_back(tmp_path: Path) -> None:
    plane = with_runs(tmp_path, 1000)
    book = Book(plane.layout)
    first = "20260101T000000Z-000000"
    book.read(PAGE, until=first)
    assert book.has(first)


def test_a_damaged_line_and_one_that_is_no_run_are_passed_over(plane: Plane) -> None:
    first = plane.write_log({"task": "one"})
    with plane.layout.log.open("ab") as log:
        log.write(b'{"kind":"run","run_id":7}\n{"kind":"run",' + b"[" * 100_000 + b'\n\xff\xfe"kind":"run"\n')
        log.write(b'{"kind":"run","run_id":"20260101T000000Z-zzzz","ts":"never"}\n')
    book = Book(plane.layout)
    book.read(PAGE)
    assert ids(book) == ["20260101T000000Z-zzzz", first]


def test_one_run_that_stands_twice_is_shown_once(plane: Plane) -> None:
    plane.write_log({"task": "one"})
    line = plane.layout.log.read_bytes().splitlines(keepends=True)[-1]
    with plane.layout.log.open("ab") as log:
        log.write(line)
    book = Book(plane.layout)
    book.read(PAGE)
    assert len(book.rows) == 1


def test_open_and_lost_runs_stand_on_top(plane: Plane) -> None:
    sealed = plane.write_log({"task": "one"})
    alive = open_run.begin(plane.store, RunSpec(command=["make"], task="now"), plane.origin, {})
    book = Book(plane.layout)
    book.read(PAGE)
    assert [(row.run_id, row.outcome) for row in book.rows] == [(alive.run_id, "open"), (sealed, "ended")]
    open_run.keep(plane.layout, _dead(alive))
    assert book.look_at_open()
    assert book.rows[0].outcome == "lost"
    assert not book.look_at_open()


def _dead(opened: open_run.OpenRun) -> open_run.OpenRun:
    import msgspec

    return msgspec.structs.replace(opened, born=1.0)


def test_many_capsules_are_not_looked_through_again_and_again(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_run.begin(plane.store, RunSpec(command=["make"]), plane.origin, {})
    book = Book(plane.layout)
    os.utime(plane.layout.runs, (time.time() - 60,) * 2)
    assert not book.look_at_open()
    monkeypatch.setattr(open_run, "every", None)
    assert not book.look_at_open()
    assert len(book.open) == 1


# What is typed


# Rows


def test_rows_by_day_with_what_is_open_first() -> None:
    runs = [
        run(run_id="o", kind="open", ts="2026-09-12T08:30:00Z", command=["make", "test"]),
        run(run_id="l", kind="lost", task="t"),
        run(run_id="a", ts="2026-09-12T01:02:03Z", exit_status=0, seconds=75, tool="codex", summary="\nDid it.\nMore."),
        run(run_id="b", exit_status=1, seconds=3.21, task="web", summary="No."),
        run(run_id="c", ts="never"),
    ]  # fmt: skip
    made = run_rows.rows(runs, Place("day", NOW))
    told = [(row.id, row.badge, row.text, row.right, row.group) for row in made]
    assert told == [
        ("o", "▸", "08:30  make test", "open 30 min", "open"),
        ("l", "?", "10:00  t · no summary", "lost", "open"),
        ("a", "●", "01:02  codex · Did it.", "1 min", "Sat 2026-09-12 · today"),
        ("b", "×", "10:00  web · No.", "3.2 s", "Fri 2026-09-11 · yesterday"),
        ("c", "·", "  no summary", "", "unknown time"),
    ]


def test_a_session_is_named_by_its_title_and_an_old_task_is_cut() -> None:
    """Older versions made the first line of a prompt the task."""
    words = "Rewrite the importer so that every statement is offered once and every line that was skipped"
    runs = [run(run_id="a", title="Fix the parser."), run(run_id="b", task=words, summary="Did it.")]
    rows = run_rows.rows(runs, Place("day", NOW))
    assert [row.text for row in rows] == ["10:00  Fix the parser.", "10:00  Rewrite the imp… · Did it."]
    assert len(run_rows.rows(runs, Place("task", NOW))[1].group) <= 60


def test_the_pane_says_the_title_and_how_the_plan_was_rated(plane: Plane) -> None:
    row = run(title="Fix the parser.", task="T-1", layer="L5", systemic_scale=4.0, impact="Tabs are read.")
    about = RunAbout(row, None, plane.memory.read(), NOW, lambda _: Style(), Keymap())
    console = Console(width=80, file=StringIO())
    with console.capture() as caught:
        for section in about.sections():
            console.print(*section, sep="\n")
    words = " ".join(caught.get().split())
    for told in ("Fix the parser.", "T-1", "layer L5", "scale 4", "impact Tabs are read."):
        assert told in words


def test_rows_by_task_stand_together() -> None:
    runs = [run(run_id=str(n), task=task) for n, task in enumerate(["web", "db", "web", None])]
    made = run_rows.rows(runs, Place("task", NOW))
    assert [(row.id, row.group) for row in made] == [
        ("0", "web"), ("2", "web"), ("1", "db"), ("3", "no task")
    ]  # fmt: skip


def test_rows_of_sealed_runs_are_made_once_as_long_as_they_would_be_the_same() -> None:
    kept, runs = run_rows.RowCache(), [run(run_id="o", kind="open"), run(run_id="a"), run(run_id="b")]
    first, again = (run_rows.rows(runs, Place("day", NOW), kept) for _ in range(2))
    assert [one is other for one, other in zip(first, again, strict=True)] == [False, True, True]
    for place in (Place("task", NOW), Place("day", NOW, plain=True), Place("day", NOW + timedelta(days=1))):
        assert run_rows.rows(runs, place, kept) == run_rows.rows(runs, place)


def test_the_last_day_goes_on_where_not_all_was_read() -> None:
    runs = [run(run_id="a", ts="2026-09-12T01:00:00Z"), run(run_id="b")]
    made = run_rows.rows(runs, Place("day", NOW, ended=False))
    assert [row.group for row in made] == ["Sat 2026-09-12 · today", "Fri 2026-09-11 · yesterday …"]


def test_plain_characters_and_no_two_outcomes_alike() -> None:
    imported = run(activity="import")
    kinds = [run(exit_status=0), run(exit_status=1), run(), run(kind="open"), run(kind="lost"), imported]
    for plain in (False, True):
        badges = [row.badge for row in run_rows.rows(kinds, Place("day", NOW, plain=plain))]
        assert len(set(badges)) == len(kinds)
        assert not plain or all(badge.isascii() for badge in badges)
        assert badges[2] == ("." if plain else "·")


# The chain


def test_the_chain_is_verified_and_after_that_only_what_is_new(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.write_log({"task": "one"})
    first = chain_check.check(plane.layout, None, Progress())
    assert (first.sound, first.message) == (True, "log verified: 2 events")
    assert chain_check.check(plane.layout, first, Progress()) is first
    plane.write_log({"task": "two"})
    monkeypatch.setattr(chain, "verify_lines", None)
    assert chain_check.check(plane.layout, first, Progress()).message == "log verified: 3 events"


def _changed(lines: list[bytes]) -> None:
    lines[1] = lines[1].replace(b'"task":"one"', b'"task":"two"')


def _taken_out(lines: list[bytes]) -> None:
    del lines[1]


def _torn(lines: list[bytes]) -> None:
    lines[-1] = lines[-1][:40]


def test_what_is_above_is_looked_at_again_where_that_is_wanted(plane: Plane) -> None:
    plane.write_log({"task": "one"})
    before = chain_check.check(plane.layout, None, Progress())
    data = plane.layout.log.read_bytes()
    plane.write_log({"task": "two"})
    changed = plane.layout.log.read_bytes().replace(b'"task":"one"', b'"task":"two"')
    plane.layout.log.write_bytes(changed)
    assert len(changed) > len(data)
    assert not chain_check.check(plane.layout, before, Progress(), whole=True).sound


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_changed, "log damaged at line 2: the hash of this line doesn't match"),
        (_taken_out, "log damaged at line 2: this line follows an event"),
        (_torn, "line 4 of the log is incomplete"),
    ],
)
@pytest.mark.parametrize("again", [False, True])
def test_where_it_broke(plane: Plane, harm: Callable[[list[bytes]], None], said: str, again: bool) -> None:
    for task in ("one", "two", "three"):
        plane.write_log({"task": task})
    before = chain_check.check(plane.layout, None, Progress()) if again else None
    lines = plane.layout.log.read_bytes().splitlines(keepends=True)
    harm(lines)
    plane.layout.log.write_bytes(b"".join(lines))
    found = chain_check.check(plane.layout, before, Progress())
    assert not found.sound
    assert said in found.message


def test_a_check_in_slices_can_be_cancelled(tmp_path: Path) -> None:
    plane = with_runs(tmp_path, 5000)
    reported: list[int] = []

    class CancelledLater(Progress):
        def report(self, done: int, total: int, what: str) -> None:
            reported.append(done)
            if len(reported) == 2:
                self.cancel()
            super().report(done, total, what)

    with pytest.raises(Stopped):
        chain_check.check(plane.layout, None, CancelledLater())
    assert reported == [2000, 4000]


# What is drawn


def test_bars_show_the_least_and_nothing_where_there_is_nothing() -> None:
    assert bars([None, 0.0, 0.5, 1.0], plain=False) == ("   █", "   █", "  ██", " ▁██")
    plain = bars([None, 0.0, 0.5, 1.0], plain=True)
    assert all(row.isascii() for row in plain)
    assert plain[-1][0] == " "
    assert plain[-1][1] != " "


def test_two_columns_of_a_diff() -> None:
    lines = ["--- a/out", "+++ b/out", "@@ -1,3 +1,3 @@", " same", "--- gone", "-more", "+new", " end"]
    assert pairs(lines) == [
        Pair("a/out", "b/out", is_head=True),
        Pair("@@ -1,3 +1,3 @@", "@@ -1,3 +1,3 @@", is_head=True),
        Pair("same", "same"),
        Pair("-- gone", "new"),
        Pair("more", None),
        Pair("end", "end"),
    ]


def test_the_chart_draws_both_or_the_first_alone() -> None:
    from agentplane.tui.screens.runs.chart import _accepted, _runs

    days = [Day(date(2026, 9, 1) + timedelta(days=n), runs=n, approved=n, rejected=n) for n in range(20)]
    runs, accepted = _runs(days, plain=False), _accepted(days, plain=False)
    assert runs.title == "runs per day: 190"
    assert runs.top == "19"
    assert accepted.title == "approved candidates: 190 of 380 (50%)"
    assert {len(row) for plot in (runs, accepted) for row in plot.rows} == {20}
    assert runs.axis == "01 Sep        20 Sep"
