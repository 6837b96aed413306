"""The list on the screen: what is drawn, and what keys and mouse do."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.pilot import Pilot
from textual.widgets import Static

from agentplane.tui.backend.list_state import Row
from agentplane.tui.widgets.row_list import ASCII, Glyphs, RowList


class ListApp(App[None]):
    CSS = "RowList { width: 40%; } Static { width: 1fr; min-width: 1; }"

    def __init__(self, rows: list[Row], glyphs: Glyphs | None = None) -> None:
        super().__init__()
        self.rows = rows
        self.view = RowList(glyphs=glyphs, empty="Nothing to review.\nPropose something.")
        self.heard: list[tuple[str, str | None]] = []

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self.view
            yield Static("detail")

    def on_mount(self) -> None:
        self.view.replace(self.rows)
        self.view.focus()

    @on(RowList.Moved)
    @on(RowList.Opened)
    @on(RowList.Marked)
    def hear(self, message: RowList.Moved | RowList.Opened | RowList.Marked) -> None:
        self.heard.append((type(message).__name__, message.id))

    @property
    def here(self) -> str | None:
        current = self.view.listing.current
        return current.id if current else None

    def drawn(self) -> list[str]:
        return [self.view.render_line(y).text for y in range(self.view.size.height)]


def rows(count: int, group: str = "") -> list[Row]:
    return [
        Row(f"CAND-{n}", "●", "D", f"Statement number {n}.", f"{n} d", "clean", group) for n in range(count)
    ]


Steps = Callable[[Pilot[None], ListApp], Awaitable[None]]


def drive(app: ListApp, steps: Steps, size: tuple[int, int] = (120, 40)) -> None:
    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await steps(pilot, app)

    asyncio.run(run())


def test_rows_are_drawn_with_bar_mark_badge_and_kind() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        await pilot.press("space", "j")
        drawn = app.drawn()
        assert drawn[0].startswith(" codex")
        assert drawn[1].startswith(" ◆● D  Statement number 0.")
        assert drawn[3].startswith("▌ ● D  Statement number 2.")
        assert drawn[3].rstrip().endswith("2 d")
        assert {len(line) for line in drawn} == {app.view.size.width}

    drive(ListApp(rows(4, "codex · retry policy")), steps)


def test_ascii_glyphs() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        await pilot.press("space")
        assert app.drawn()[0].startswith(" *")
        assert app.drawn()[1].startswith("> ")

    drive(ListApp(rows(2), ASCII), steps)


def test_text_of_others_is_text() -> None:
    hostile = Row(
        "X", "●", "D", "[bold]a[/] \x1b[31mred \u202eback\nnext", "[red]", "clean", "by \x1b]0;t\x07"
    )

    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        drawn = "\n".join(app.drawn())
        assert "[bold]a[/] <U+001B>[31mred" in drawn
        assert "<U+202E>" in drawn
        assert "<U+001B>]0;t<U+0007>" in drawn
        assert "\x1b" not in drawn

    drive(ListApp([hostile]), steps, (160, 10))


def test_wide_characters_keep_the_width() -> None:
    wide = [Row("W", "●", "D", "漢字" * 40, "3 d"), Row("E", "漢", "D", "👩‍👧 e\u0301 🚀" * 9, "3 d")]

    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        for width in range(1, 130, 3):
            await pilot.resize_terminal(width, 6)
            widths = {app.view.render_line(y).cell_length for y in range(6)}
            assert widths == {app.view.scrollable_content_region.width}

    drive(ListApp(wide), steps)


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        ("j", 1), ("down", 1), ("j k", 0), ("j up", 0), ("G", 99), ("end", 99), ("G g", 0), ("end home", 0),
        ("pagedown", 19), ("pagedown pageup", 0), ("ctrl+d", 9), ("ctrl+d ctrl+u", 0), ("k", 0),
    ],
)  # fmt: skip
def test_keys_move(keys: str, at: int) -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        await pilot.press(*keys.split())
        assert app.here == f"CAND-{at}"
        assert app.here in app.view.in_sight

    drive(ListApp(rows(100)), steps, (80, 20))


def test_moving_tells_once_for_each_row() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        await pilot.press("j", "k", "k", "enter")
        assert app.heard == [
            ("Moved", "CAND-0"), ("Moved", "CAND-1"), ("Moved", "CAND-0"), ("Opened", "CAND-0"),
        ]  # fmt: skip

    drive(ListApp(rows(3)), steps)


def test_marks_by_keys() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        await pilot.press("space", "space")
        assert app.view.listing.target_ids == ("CAND-0", "CAND-1")
        await pilot.press("v", "j", "j", "v", "j")
        assert app.view.listing.marks_text == "5 selected"
        await pilot.press("shift+down", "shift+down")
        assert app.view.listing.marks_text == "8 selected"
        await pilot.press("asterisk")
        assert app.view.listing.marks_text == "30 selected"
        assert app.view.unmark()
        assert app.view.listing.marks_text == ""
        assert ("Marked", app.here) in app.heard

    drive(ListApp(rows(30)), steps)


def test_the_mouse_moves_marks_and_opens() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        await pilot.click(RowList, offset=(10, 3))
        assert app.here == "CAND-2"
        await pilot.click(RowList, offset=(1, 2))
        assert app.view.listing.marks == {"CAND-1"}
        await pilot.click(RowList, offset=(10, 4), shift=True)
        assert app.view.listing.marks == {"CAND-1", "CAND-2", "CAND-3"}
        await pilot.click(RowList, offset=(10, 0))
        assert app.here == "CAND-3"
        await pilot.click(RowList, offset=(10, 30))
        assert app.here == "CAND-3"
        await pilot.click(RowList, offset=(10, 5), times=2)
        assert app.heard[-1] == ("Opened", "CAND-4")

    drive(ListApp(rows(6, "one")), steps)


def test_the_wheel_scrolls_and_the_next_key_comes_back_to_the_cursor() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        app.view.scroll_to(y=50, animate=False)
        await pilot.pause()
        assert app.view.in_sight[0] == "CAND-50"
        await pilot.press("j")
        assert app.here == "CAND-1"
        assert app.here in app.view.in_sight

    drive(ListApp(rows(100)), steps, (80, 20))


def test_decided_rows_grey_and_the_cursor_goes_on() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        app.view.settle(["CAND-0"], "approved")
        await pilot.pause()
        assert app.here == "CAND-1"
        assert app.drawn()[0].rstrip().endswith("approved")
        assert app.drawn()[0].startswith(" ✓")  # also where there is no room for the word
        app.view.reopen(["CAND-0"])
        assert app.drawn()[0].startswith("  ")
        assert app.drawn()[0].rstrip().endswith("0 d")

    drive(ListApp(rows(3)), steps)


def test_new_rows_leave_the_cursor_at_its_height() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        app.view.seek("CAND-50")
        height = app.view.listing.cursor - app.view.scroll_offset.y
        app.view.replace([row for row in app.rows if int(row.id[5:]) >= 10])
        await pilot.pause()
        assert app.here == "CAND-50"
        assert app.view.listing.cursor - app.view.scroll_offset.y == height

    drive(ListApp(rows(100)), steps, (80, 20))


def test_an_empty_list_says_what_to_do() -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        assert "Nothing to review." in app.drawn()[1]
        assert "Propose something." in app.drawn()[2]
        await pilot.press("j", "space", "v", "enter", "shift+down", "asterisk", "G")
        assert app.heard == []
        app.view.replace(rows(2))
        app.view.narrow(())
        app.view.set_empty_text("Nothing matches.")
        assert "Nothing matches." in app.drawn()[1]

    drive(ListApp([]), steps)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-light"])
def test_the_cursor_is_drawn_apart_in_every_theme(theme: str) -> None:
    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        app.theme = theme
        await pilot.pause()
        here, other = (next(iter(app.view.render_line(y)._segments[6:7])).style for y in (0, 1))
        assert here is not None
        assert other is not None
        assert here.bgcolor != other.bgcolor

    drive(ListApp(rows(3)), steps)


@pytest.mark.timing
def test_a_hundred_thousand_rows_cost_what_a_hundred_cost() -> None:
    cost = {}

    async def steps(pilot: Pilot[None], app: ListApp) -> None:
        view, count = app.view, len(app.rows)
        took = []
        for _ in range(30):
            began = time.process_time()
            view.action_step(1)
            for y in range(view.size.height):
                view.render_line(y)
            took.append(time.process_time() - began)
        cost[count] = sorted(took)[len(took) // 2]

    for count in (100, 100_000):
        drive(ListApp(rows(count)), steps)
    assert cost[100_000] < cost[100] * 2 + 0.002
