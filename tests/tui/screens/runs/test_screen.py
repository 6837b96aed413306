"""The runs: listing, reading, comparing, and going between a run and go to candidate; on real runs."""

import random
import re
import sys
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from textual.widgets import Input

from agentplane.api import Plane
from agentplane.runs import events
from agentplane.runs.capsule import capsule
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.text.log import chain
from agentplane.tui.screens.runs.chart import RunChart
from agentplane.tui.screens.runs.compare_screen import DiffPane, RunDiffScreen
from agentplane.tui.screens.runs.detail import RunDetail
from agentplane.tui.screens.runs.screen import RunsScreen
from agentplane.tui.widgets.footer import KeyBar, StatusBar
from tests.bench.runs import with_runs
from tests.conftest import decision, plane_in
from tests.runs.made import at, shell
from tests.tui.conftest import Sitting, sit
from tests.tui.test_views_soak import KEYS, SIZES


@pytest.fixture
def ran(git_project: Path) -> Plane:
    """Two runs in a repository: one that failed, and one that changed a file and was told what it was for."""
    plane = plane_in(git_project)
    shell(
        plane,
        "echo one; echo two; echo oops >&2; exit 3",
        task="web",
        tool="codex",
        prompt="Make it **work**.",
    )
    run = shell(plane, "echo one; echo three; echo more >> README.md", task="db", tool="gemini-cli")
    plane.propose(decision("Keep the pool small.", source=run.run_id))
    return plane


def runs(sitting: Sitting) -> RunsScreen:
    room = sitting.app.navigator.screen("runs")
    assert isinstance(room, RunsScreen)
    return room


async def calm(sitting: Sitting) -> None:
    """The list and the pane say what they have to say."""
    screen = runs(sitting)

    def still() -> bool:
        detail = screen._detail
        done = isinstance(detail, RunDetail) and (detail._chosen is None or detail.run_facts is not None)
        return (
            screen._shown is sitting.app.shown and done and screen._query.words == tuple(screen._query.words)
        )

    await sitting.until(still, "calm")
    await sitting.app.workers.wait_for_complete()
    await sitting.until(still, "calm")


async def opened(sitting: Sitting) -> RunsScreen:
    await sitting.press("3")
    await calm(sitting)
    return runs(sitting)


def listed(screen: RunsScreen) -> list[str]:
    return [row.id for row in screen.view.listing.shown]


def texts(screen: RunsScreen) -> list[str]:
    return [row.text.partition("  ")[2] for row in screen.view.listing.shown]


def said(screen: RunsScreen) -> str:
    return screen.query_one(StatusBar).plain


def drawn(sitting: Sitting) -> str:
    """All that is in the comparison, also below the screen."""
    pane = sitting.app.screen.query_one(DiffPane)
    console = Console(width=pane.size.width, file=StringIO())
    with console.capture() as caught:
        console.print(pane._content())
    return " ".join(caught.get().split())


# The list


def test_the_newest_run_stands_first_with_its_outcome(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert texts(screen) == [
            "gemini-cli · db · sh -c echo one; echo three; echo more >> README.md",
            "codex · web · sh -c echo one; echo two; echo oops >&2; exit 3",
        ]
        assert [row.badge for row in screen.view.listing.shown] == ["●", "×"]
        assert "today" in sitting.screen
        await sitting.until(lambda: "log verified: 4 events" in said(screen), "verified")
        assert "D compare" in screen.query_one(KeyBar).render().plain

    sit(ran, steps)


def test_by_task_and_by_day(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("z")
        await sitting.until(lambda: {row.group for row in screen._rows} == {"web", "db"}, "by task")
        assert "by task" in said(screen)
        await sitting.press("z")
        await sitting.until(lambda: len({row.group for row in screen._rows}) == 1, "by day")

    sit(ran, steps)


def test_the_filter_reads_the_log_through_words_and_fields(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("slash")
        for typed, count in (("outcome:failed", 1), ("tool:gemini", 1), ("echo", 2), ("task:web exit", 1)):
            screen.query_one(Input).value = typed
            await sitting.until(lambda count=count: len(screen._rows) == count and screen._ended, typed)
        screen.query_one(Input).value = "nothing like it"
        await sitting.until(lambda: "No matches." in sitting.screen, "no hit")
        await sitting.press("escape")
        await sitting.until(lambda: len(screen._rows) == 2, "all again")
        assert not screen.query("Filter")

    sit(ran, steps)


def test_no_runs_explain_themselves_in_three_lines(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("3")
        await sitting.until(lambda: "No runs yet." in sitting.screen, "explained")
        assert "agentplane run -- make test" in sitting.screen
        lines = [line for line in sitting.screen.splitlines()[2:-2] if line.strip()]
        assert len(lines) == 3
        await sitting.press("D", "l", "y", "enter", "C", "z", "j", "G", "R", "escape")
        await sitting.until(lambda: sitting.app.screen is sitting.inbox, "back")

    sit(plane, steps, size=(80, 24))


def test_a_long_log_is_read_as_far_as_one_looks(tmp_path: Path) -> None:
    plane = with_runs(tmp_path, 5000)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert len(screen._rows) == 200
        assert "200 runs loaded so far" in said(screen)
        assert screen._rows[-1].group.endswith("…")
        await sitting.press(*["pagedown"] * 7)
        await sitting.until(lambda: len(screen._rows) == 400, "the next page")
        await sitting.press("G")
        await sitting.until(lambda: len(screen._rows) == 5000, "all of it")
        await sitting.until(lambda: screen.current == "20260101T000000Z-000000", "the first run")
        assert "loaded so far" not in said(screen)

    sit(plane, steps)


def test_a_filter_finds_what_was_not_read_yet(tmp_path: Path) -> None:
    plane = with_runs(tmp_path, 3000)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("slash")
        screen.query_one(Input).value = "z-000007"
        await sitting.until(lambda: listed(screen) == ["20260101T000700Z-000007"], "found")
        assert "matches 1" in said(screen)

    sit(plane, steps)


# What it says of one


def test_what_a_run_was_given_did_and_left(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.until(lambda: "Keep the pool small." in sitting.screen, "go to candidate")
        told = sitting.screen
        for part in ("ok", "db", "branch", "main", "commit", "README.md  unchanged", "three", "waits"):
            assert part in told, part
        await sitting.press("down")
        await calm(sitting)
        await sitting.until(lambda: "Make it work." in sitting.screen, "the prompt")
        for part in ("failed", "exit     3", "stdout", "two", "stderr", "oops", "not recorded)"):
            assert part in sitting.screen, part
        await sitting.press("enter")
        assert screen.panes.reading
        await sitting.press("escape")
        assert not screen.panes.reading

    sit(ran, steps, size=(140, 50))


def test_who_ran_it_is_no_tool(plane: Plane) -> None:
    shell(plane, "true")

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        await sitting.until(lambda: re.search(rf"by +{plane.origin.actor}", sitting.screen), "who")
        assert "tool  " not in sitting.screen

    sit(plane, steps)


def test_the_receipt_of_a_pack_names_what_was_given(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use PostgreSQL 16."))])
    pack = {
        "kind": "pack", "revision": "0f261520", "given": ["DEC-001", "DEC-404"], "given_in_all": 30, "cut": {"no room": 2},
    }  # fmt: skip
    plane.write_log({"task": "web", "receipts": [pack, "tests/x.py"], "derived_facts": ["It is **slow**."],
                     "next_actions": ["Measure"], "summary": "# Did\n\n- this\n- that"})  # fmt: skip

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        await sitting.until(
            lambda: "Memory revision 0f261520: 30 entries included." in sitting.screen,
            "pack",
        )
        for part in ("DEC-001 Use PostgreSQL 16.", "DEC-404 no longer in memory", "and 28 more", "tests/x.py",
                     "It is **slow**.", "Measure", "•  this"):  # fmt: skip
            assert part in sitting.screen, part

    sit(plane, steps, size=(140, 50))


HOSTILE = b"\x1b[2J\x1b]0;owned\x07\x00\xff\xfe\x9b31m \xe2\x80\xaeevil [red]not[/red] [@click=app.quit]x[/]\r\n\ttab\n"


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (24, 8)])
def test_a_hostile_capsule_is_shown_harmlessly(plane: Plane, size: tuple[int, int]) -> None:
    script = Path(plane.layout.project) / "evil.bin"
    script.write_bytes(HOSTILE * 300 + b"last\n")
    evil = "\x1b[31m[bold]task[/bold]\x07\u202e"
    plane.write_log(
        {
            "task": evil + "\0",
            "tool": evil,
            "summary": evil,
            "command": [evil],
            "receipts": [evil, {evil: evil}],
        }
    )
    run = shell(plane, "cat evil.bin; cat evil.bin >&2", task=evil, tool=evil, prompt=evil * 50)
    (at(plane, run) / capsule.CONTEXT).write_bytes(b'{"git": [' + b"[" * 5000)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("enter")
        await sitting.press("G")
        await sitting.pilot.pause()
        for char in "\x00\x07\x1b\x9b\u202e":
            assert char not in sitting.screen
        assert screen.is_running
        if size[0] >= 60:
            assert "last" in sitting.screen
            assert "<U+001B>" in sitting.screen

    sit(plane, steps, size=size)


@pytest.mark.timing
def test_a_capsule_with_a_very_large_output_opens_at_once(plane: Plane) -> None:
    """Looked at in turns with a small one: what is read does not grow with it."""
    from agentplane.tui.backend.runs.run_facts import facts_of

    small, large = shell(plane, "echo small"), shell(plane, "echo large")
    kept = large.file("outputs/stdout")
    assert kept is not None
    path = at(plane, large) / kept.path
    with path.open("r+b") as file:
        file.truncate(200 << 20)
        file.seek(-8000, 2)
        file.write(b"\n" * 7995 + b"last\n")
    memory = plane.memory.read()
    rows = {row.run_id: row for row in _rows(plane)}

    def took(run: events.RunEvent) -> float:
        begin = time.process_time()
        told = facts_of(memory, rows[run.run_id])
        assert told.outputs
        return time.process_time() - begin

    times = [(took(large), took(small)) for _ in range(7)]
    assert min(pair[0] for pair in times) <= 3 * min(pair[1] for pair in times)

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        await sitting.until(lambda: "last" in sitting.screen, "its end")

    sit(plane, steps, size=(120, 60))


def _rows(plane: Plane) -> list[object]:
    from agentplane.runs.query import timeline

    return list(timeline.sealed_runs(chain.lines_backwards(plane.layout.log)))


def test_what_is_not_on_this_machine_is_said(ran: Plane) -> None:
    import shutil

    for folder in ran.layout.runs.iterdir():
        shutil.rmtree(folder / "outputs", ignore_errors=True)
        (folder / "context.json").unlink(missing_ok=True) if folder.is_dir() else None

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        await sitting.until(lambda: "isn't on this machine" in sitting.screen, "said")
        assert "Ended with exit code 0." in sitting.screen

    sit(ran, steps)


# Comparing


def test_two_runs_side_by_side(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("D")
        assert "D on another run" in said(screen)
        assert "1 selected" in said(screen)
        await sitting.press("down", "D")
        await sitting.until(lambda: isinstance(sitting.app.screen, RunDiffScreen), "the comparison")
        await sitting.until(lambda: "- two" in sitting.screen and "+ three" in sitting.screen, "outputs")
        for part in ("agentplane  ● 1 to review", "exit status", "README.md", "web", "gemini-cli"):
            assert part in sitting.screen, part
        pane = sitting.app.screen.query_one(DiffPane)
        assert pane.side_by_side
        await sitting.press("P")
        await sitting.until(lambda: "-two" in sitting.screen, "one above the other")
        await sitting.press("escape")
        await sitting.until(lambda: sitting.app.screen is screen, "back")
        assert not screen.view.listing.marks

    sit(ran, steps)


def test_outputs_that_are_long_or_one_long_line_are_compared_at_once(plane: Plane) -> None:
    for text in ("print('left\\n' * 900)", "print('right\\n' * 900)", "print('x' * 3_000_000)"):
        shell(plane, f'{sys.executable} -c "{text}"')

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        await sitting.press("down", "D", "down", "D")
        await sitting.until(lambda: "- left" in sitting.screen and "+ right" in sitting.screen, "both sides")
        report = sitting.app.screen.query_one(DiffPane)._report
        assert (
            f"403 more lines. To see all of them, run: agentplane run diff --run {report.a} --against {report.b}"
            in drawn(sitting)
        )
        await sitting.press("escape", "g", "D", "down", "D")
        await sitting.until(lambda: "2,999,000 more characters" in drawn(sitting), "one long line")

    sit(plane, steps)


def test_the_first_mark_can_be_taken_back_and_three_are_too_many(ran: Plane) -> None:
    ran.write_log({"task": "third"})

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("D", "D")
        assert not screen.view.listing.marks
        await sitting.press("asterisk", "D")
        assert "Select two runs to compare" in said(screen)
        assert sitting.app.screen is screen

    sit(ran, steps)


def test_runs_that_are_the_same_and_a_run_that_is_gone(plane: Plane) -> None:
    a, b = (plane.write_log({"task": "same", "revision": "0f261520"}) for _ in range(2))

    async def steps(sitting: Sitting) -> None:
        await sitting.app.push_screen(RunDiffScreen(plane.layout, a, b))
        await sitting.until(lambda: "No differences found." in sitting.screen, "the same")
        await sitting.press("q")
        await sitting.app.push_screen(RunDiffScreen(plane.layout, a, "20200101T000000Z-zzzz"))
        await sitting.until(lambda: "Run not found: 20200101T000000Z-zzzz." in sitting.screen, "said")

    sit(plane, steps, size=(60, 20))


# To and fro


def test_from_a_candidate_to_its_run_and_back(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("R")
        await sitting.until(lambda: sitting.app.screen is runs(sitting), "the runs")
        await calm(sitting)
        screen = runs(sitting)
        assert screen.run is not None
        assert screen.run.task == "db"
        await sitting.press("l")
        await sitting.until(lambda: sitting.app.screen is sitting.inbox, "the inbox")
        assert sitting.here == "Keep the pool small."
        await sitting.press("a")
        await sitting.calm()
        await sitting.press("2", "R")
        await sitting.until(lambda: sitting.app.screen is screen, "the runs again")
        await calm(sitting)
        await sitting.until(lambda: "DEC-001" in sitting.screen, "under its new id")
        await sitting.press("enter", "enter")
        await sitting.until(lambda: sitting.app.screen is sitting.app.navigator.screen("shelf"), "the shelf")
        assert "Keep the pool small." in sitting.screen

    sit(ran, steps)


def test_a_run_far_back_is_found_and_one_that_is_nowhere_is_said(tmp_path: Path) -> None:
    plane = with_runs(tmp_path, 2000)
    for statement, source in (
        ("Amounts are whole cents.", "20260101T000100Z-000001"),
        ("Logs go to standard error.", "20200101T000000Z-zzzz"),
    ):
        plane.propose(decision(statement, source=source))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("R")
        await sitting.until(lambda: runs(sitting).current == "20260101T000100Z-000001", "found")
        await sitting.press("1", "down", "R")
        await sitting.until(lambda: "The log doesn't contain run" in said(runs(sitting)), "said")

    sit(plane, steps)


def test_a_filter_that_hides_the_run_goes(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        first = listed(screen)[-1]
        await sitting.press("slash")
        screen.query_one(Input).value = "outcome:ok"
        await sitting.until(lambda: len(listed(screen)) == 1, "filtered")
        await sitting.press("enter")
        await sitting.app.navigator.go_to_run(first)
        await sitting.until(lambda: screen.current == first, "there")
        assert len(listed(screen)) == 2
        assert "not in the log" not in said(screen)

    sit(ran, steps)


def test_an_entry_without_a_run_says_so(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("R")
        assert "doesn't name the run" in sitting.said

    sit(three, steps)


# What changes meanwhile


def test_a_run_that_ends_is_there_and_the_cursor_stays(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        here = screen.current
        new = ran.write_log({"task": "late", "exit_status": 0})
        await sitting.until(lambda: new in listed(screen), "the new run")
        assert screen.current == here
        assert listed(screen)[0] == new
        await sitting.until(lambda: "log verified: 5 events" in said(screen), "verified anew")

    sit(ran, steps)


def test_a_check_of_the_log_ends_though_the_log_grows(ran: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long check would never end if each new line and each visit of the screen restarted it."""
    begun, go_on, verify = [], threading.Event(), chain.verify_lines

    def held(lines: Iterable[bytes]) -> chain.Report:
        begun.append(True)
        go_on.wait()
        return verify(lines)

    monkeypatch.setattr(chain, "verify_lines", held)

    async def steps(sitting: Sitting) -> None:
        try:
            await sitting.press("3")
            screen = runs(sitting)
            await sitting.until(lambda: bool(begun), "the check has begun")
            for task in ("late", "later"):
                new = ran.write_log({"task": task, "exit_status": 0})
                await sitting.until(lambda new=new: new in listed(screen), "the new run")
            await sitting.press("1", "3")
        finally:
            go_on.set()
        await sitting.until(lambda: "log verified: 6 events" in said(screen), "verified")
        assert len(begun) == 1

    sit(ran, steps, calm=False)


def test_an_open_run_stands_on_top_until_it_is_lost(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        alive = open_run.begin(ran.store, RunSpec(command=["make"], task="now"), ran.origin, {})
        await sitting.until(lambda: listed(screen)[0] == alive.run_id, "open")
        await sitting.press("g")
        await calm(sitting)
        assert "open" in sitting.screen
        await sitting.press("D")
        assert "the run is still open" in said(screen)
        open_run.keep(ran.layout, msgspec.structs.replace(alive, born=1.0))
        await sitting.until(lambda: "lost" in sitting.screen, "lost")

    sit(ran, steps)


def test_a_broken_chain_is_said_with_its_line(ran: Plane) -> None:
    lines = ran.layout.log.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"task":"web"', b'"task":"wob"')
    ran.layout.log.write_bytes(b"".join(lines))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("3")
        screen = runs(sitting)
        await sitting.until(lambda: "log damaged at line 2" in said(screen), "said")
        assert "agentplane doctor" in said(screen)
        await sitting.press("down")
        await sitting.until(lambda: "log damaged at line 2" in said(screen), "still said")

    sit(ran, steps, calm=False)


def test_a_log_that_is_gone_is_said_and_comes_back(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        data = ran.layout.log.read_bytes()
        ran.layout.log.unlink()
        screen.read(force=True)
        await sitting.until(lambda: "Can't read the log" in sitting.screen, "said")
        ran.layout.log.write_bytes(data)
        screen.read(force=True)
        await sitting.until(lambda: len(listed(screen)) == 2, "back")

    sit(ran, steps)


# How it lies


def test_the_chart_comes_and_goes(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert "runs per day" not in sitting.screen
        await sitting.press("C")
        await sitting.until(lambda: "runs per day: 2, 1 failed" in sitting.screen, "drawn")
        assert "no candidates were reviewed in this period" in sitting.screen
        assert screen.query_one(RunChart).size.height == 6
        ran.inbox.approve(ran.memory.read().inbox_ids)
        await sitting.until(lambda: "approved candidates: 1 of 1 (100%)" in sitting.screen, "drawn anew")
        await sitting.press("C")
        await sitting.until(lambda: "runs per day" not in sitting.screen, "gone")

    sit(ran, steps)


def test_the_chart_ends_on_the_day_of_the_plane(ran: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ran.store, "clock", lambda: datetime.now(UTC) + timedelta(days=400))

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        await sitting.press("C")
        await sitting.until(lambda: "runs per day: 0" in sitting.screen, "the days without runs are drawn")

    sit(ran, steps)


def test_where_the_chart_has_no_room_its_key_says_so(ran: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("C")
        assert "no space for the chart" in said(screen)
        await sitting.pilot.resize_terminal(80, 24)
        await sitting.pilot.pause()
        assert "run.chart" not in screen.off
        await sitting.press("C")
        await sitting.until(lambda: "runs per day: 2, 1 failed" in sitting.screen, "drawn")

    sit(ran, steps, size=(80, 12))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_keys_at_any_size(ran: Plane, seed: int) -> None:
    luck = random.Random(seed)
    keys = [*KEYS, "D", "D", "C", "z", "R", "3", "3"]
    before = ran.layout.log.read_bytes()

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        for _ in range(8):
            await sitting.pilot.resize_terminal(*luck.choice(SIZES))
            wanted = [key for key in luck.choices(keys, k=5) if key not in ("a", "r", "e", "s", "d", "q")]
            await sitting.press(*wanted)
            if getattr(sitting.app.screen, "WHERE", "") in ("inbox", "shelf"):
                await sitting.press("3")

    sit(ran, steps, size=(100, 30))
    assert ran.layout.log.read_bytes() == before
