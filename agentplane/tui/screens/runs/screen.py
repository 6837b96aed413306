"""The screen of runs, with their actors, actions and outcomes.

The newest run comes first. The log is read from its end, and only to the runs that a person scrolls to.
"""

import threading
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.message import Message
from textual.worker import get_current_worker

from agentplane.errors import AgentplaneError
from agentplane.query import records
from agentplane.query.parse import EMPTY, parse
from agentplane.query.records import QueryRecord
from agentplane.runs.query.timeline import TimelineRow
from agentplane.text.visible import one_line
from agentplane.tui import actions
from agentplane.tui.backend.list_state import Row
from agentplane.tui.backend.runs.chain_check import ChainChecker, Checked
from agentplane.tui.backend.runs.log_pager import PAGE, Book
from agentplane.tui.screens.background import run_latest
from agentplane.tui.screens.entry.pane import Detail
from agentplane.tui.screens.list_screen import NO_ROW, STILL_READ, ListScreen
from agentplane.tui.screens.runs import rows
from agentplane.tui.screens.runs.chart import DAYS, RunChart
from agentplane.tui.widgets.footer import StatusBar


if TYPE_CHECKING:
    from agentplane.runs.query.daily_counts import Day
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.screens.runs.detail import RunDetail

NOTHING = (
    "No runs yet. A run is a recorded tool session, or a recorded command.\n"
    "To record a command, run for example: agentplane run -- make test\n"
    "Sessions of connected tools are recorded automatically."
)
NO_CHART = "no space for the chart"
LOOKING = "Reading the log…"
_OPEN_SECONDS = 2.0
_FILTER_SECONDS = 0.08
_TWO = 2


class RunsScreen(ListScreen):
    WHERE = "runs"
    HINT = "words   tool:codex   task:webhooks   outcome:failed   newer:7d   (tab completes)"
    QUERY = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("runs")]

    class _OpenChanged(Message, bubble=False):
        """A run was opened, or an open run was lost."""

    class _ChainChecked(Message, bubble=False):
        def __init__(self, checked: Checked) -> None:
            super().__init__()
            self.checked = checked

    class _Counted(Message, bubble=False):
        def __init__(self, days: "list[Day]") -> None:
            super().__init__()
            self.days = days

    def __init__(self) -> None:
        super().__init__()
        self._by: rows.By = "day"
        self._query = EMPTY
        """The query that the log is read with."""
        self._reading = threading.Lock()
        """Lock for the book. Only the thread that holds it may use the book."""
        self._book: Book | None = None
        self._runs: dict[str, TimelineRow] = {}
        self._row_cache = rows.RowCache()
        self._count = PAGE
        """Number of runs that the list needs now."""
        self._ended = False
        self._problem = ""
        self._to_end = False
        """True if a person wants to go to the very first run."""
        self._checked: Checked | None = None
        self._chain = ChainChecker(self._chain_checked)
        self._whole = True
        """True if the next check covers all lines. It does so each time the screen opens."""
        self._chart = False
        self._charted_view: PlaneView | None = None
        """The view of the plane that the chart was made from."""

    # The rows

    def rows_of(self, shown: "PlaneView") -> list[Row]:
        with self._reading:
            try:
                self._read_book(shown)
                self._problem = ""
            except (AgentplaneError, OSError) as error:
                self._problem = error.what if isinstance(error, AgentplaneError) else str(error)
                self._drop_book()
            book = self._book
            runs = book.rows if book else []
            self._ended = book is None or book.ended
            self._runs = {run.run_id: run for run in runs if run.run_id}
            place = rows.Place(self._by, self._now(), self.plane_app.plain, self._ended)
            return rows.rows(runs, place, self._row_cache)

    def _read_book(self, shown: "PlaneView") -> None:
        layout, query = shown.memory.snapshot.layout, self._query
        book = self._book
        if book is not None and (book.query != query or not book.grow()):
            self._drop_book()
        if self._book is None:
            self._book = Book(layout, query)
        elif shown is not self._shown:
            self._book.look_at_open()
        self._book.read(self._count, self._wanted_id)

    def _drop_book(self) -> None:
        """Close the book, because another log may have other facts about the same runs."""
        if self._book is not None:
            self._book.close()
        self._book, self._row_cache = None, rows.RowCache()

    @staticmethod
    def _now() -> datetime:
        return datetime.now(UTC).astimezone()

    def rows_replaced(self) -> None:
        if self._wanted_id is not None and self._ended:
            self.plane_app.say(f"The log doesn't contain run {one_line(self._wanted_id, 40)}")
            self._wanted_id = None
        self._update_empty_text()
        if self._to_end and self._ended:
            self._to_end = False
            self.view.action_edge(1)
        self._fill()
        self._check_chain()
        self._count_days()

    def _fill(self) -> None:
        """Read more runs if the visible rows are near the end of the list."""
        if self._ended or self._shown is None:
            return
        view = self.view
        needed = view.scroll_offset.y + _TWO * view.size.height
        short = len(self._rows) < self._count
        if needed >= len(view.listing.lines) or self._to_end or self._wanted_id is not None:
            if not short:
                # The number doubles each time, because placing the rows takes time as well.
                self._count *= 2
            short = True
        if short:
            self.read(force=True)

    def matching(self, words: str, shown: "PlaneView | None", rows_: list[Row]) -> Collection[str] | None:
        """Return None, because the filter was applied when the log was read."""
        return None

    def records(self, *, states: bool = False) -> list[QueryRecord]:
        return [records.of_run(run) for run in list(self._runs.values())]

    def empty_text(self) -> str:
        if self._problem:
            return f"Can't read the log: {one_line(self._problem, 200)}"
        if not self._ended or self._query != parse(self._words, "runs"):
            return LOOKING
        return self.no_hit() if self._words else NOTHING

    def _filter(self, words: str) -> None:
        if parse(words, "runs") != self._query:
            self._update_empty_text()
            self.set_timer(_FILTER_SECONDS, partial(self._search, words))

    def _search(self, words: str) -> None:
        """Search for these words if the person has stopped typing."""
        query = parse(words, "runs")
        if words == self._words and query != self._query:
            self._query, self._count = query, PAGE
            self.read(force=True)

    def hit_count(self) -> str:
        return super().hit_count() + ("" if self._ended else "+")

    def go_to(self, id_: str) -> None:
        """Put the cursor on this run, however far back it is."""
        self._wanted_id = id_
        if self._words:
            self._close_filter(keep=False)
        self._query = EMPTY
        if self._shown is not None:
            self.read(force=True)

    async def before_key(self, key: str) -> bool:
        """Treat the key for the last row as a request to go to the very first run."""
        keymap = self.plane_app.keys_wanted
        bottom = key in keymap.keys_on(actions.by_id("list.bottom"))
        self._to_end = bottom and self.focused is self.view and not self._ended
        if self._to_end:
            self.plane_app.say("Reading all runs", show_while=lambda: self._to_end)
            self._fill()
        return False

    # Widgets

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if widget.has_class("body"):
                yield RunChart()
            yield widget

    def on_mount(self) -> None:
        super().on_mount()
        self.watch(self.view, "scroll_y", self._fill, init=False)
        self.set_interval(_OPEN_SECONDS, self._look_at_open)

    def on_resize(self) -> None:
        super().on_resize()
        self.update_status()

    def detail(self) -> Detail:
        from agentplane.tui.screens.runs.detail import RunDetail

        return RunDetail(ascii_only=self.plane_app.plain)

    @property
    def _detail(self) -> "RunDetail | None":
        return self.panes.detail  # type: ignore[return-value]

    @property
    def run(self) -> TimelineRow | None:
        """The run under the cursor."""
        return self._runs.get(self.current or "")

    def show_detail(self) -> None:
        from agentplane.tui.screens.runs.detail import Chosen

        shown, run = self.plane_app.shown, self.run
        if self._detail is not None and shown is not None:
            self._detail.show_run(Chosen(run, shown.memory) if run else None)

    def idle_status(self) -> str:
        parts = [f"grouped by {self._by}"] if self.current else []
        if self._checked is not None:
            parts.append(self._checked.message)
        return " · ".join(parts)

    def reason(self) -> str:
        return "" if self._ended or not self._rows else f"{len(self._rows):,} runs loaded so far"

    @property
    def action_names(self) -> dict[str, str]:
        return {
            "leave": "back",
            "links": "go to candidate",
            "run.chart": "hide chart" if self._chart else "chart",
        }

    def what_is_off(self) -> dict[str, str]:
        off = {"run.chart": NO_CHART} if self.has_class("-low") else {}
        if self.plane_app.shown is None:
            return off | dict.fromkeys(("run.diff", "links"), STILL_READ)
        if not self.view.listing.target_ids:
            return off | dict.fromkeys(("run.diff", "links", "copy"), NO_ROW)
        run = self.run
        if run is not None and run.kind != "run":
            off["run.diff"] = "the run is still open"
        return off

    # Open runs, the check of the log, and the chart

    @property
    def _in_sight(self) -> bool:
        return self.is_current  # returns False, without an error, while the program ends

    def _look_at_open(self) -> None:
        if self._in_sight and self._book is not None:
            run_latest(self, self._check_open_runs, "open")

    def _check_open_runs(self) -> None:
        """Look for changes in open runs. Runs in a thread."""
        with self._reading:
            changed = self._book is not None and self._book.look_at_open()
        if changed or self._has_open:
            self.post_message(self._OpenChanged())

    @property
    def _has_open(self) -> bool:
        """True if a run is open. Open runs are at the top, and they still change."""
        first = next(iter(self._runs.values()), None)
        return first is not None and first.kind != "run"

    @on(_OpenChanged)
    def _show_open(self) -> None:
        self.read(force=True)

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self._whole = True
        self._check_chain()
        self._count_days()

    def on_unmount(self) -> None:
        self._chain.close()

    def _check_chain(self) -> None:
        if self._in_sight and self._shown is not None:
            self._chain.check(self._shown.memory.snapshot.layout, whole=self._whole)
            self._whole = False

    def _chain_checked(self, checked: Checked) -> None:
        """Pass on the result of a check. Runs in a thread, which may end later than the screen."""
        with suppress(RuntimeError):
            self.post_message(self._ChainChecked(checked))

    @on(_ChainChecked)
    def _show_chain(self, message: _ChainChecked) -> None:
        before, self._checked = self._checked, message.checked
        if not message.checked.sound and (before is None or before.message != message.checked.message):
            self.query_one(StatusBar).fail(
                message.checked.message, "To find out how to fix this, run agentplane doctor."
            )
        self.update_status()

    def _count_days(self) -> None:
        """Count the days for the chart. Count again if the log may have changed."""
        if self._chart and self._in_sight and self._shown is not self._charted_view:
            self._charted_view = self._shown
            run_latest(self, self._count_in_thread, "days")

    def _count_in_thread(self) -> None:
        from agentplane.runs.query import daily_counts

        worker, shown = get_current_worker(), self._shown
        if shown is not None:
            days = daily_counts.count(
                shown.memory.snapshot.layout, shown.today, DAYS, lambda: not worker.is_cancelled
            )
            if not worker.is_cancelled:
                self.post_message(self._Counted(days))

    @on(_Counted)
    def _draw_days(self, message: _Counted) -> None:
        self.query_one(RunChart).show(message.days, plain=self.plane_app.plain)

    # Actions

    def action_group(self) -> None:
        self._by = "task" if self._by == "day" else "day"
        self.read(force=True)
        self.update_status()

    def action_chart(self) -> None:
        if not self.may("run.chart"):
            return
        self._chart, self._charted_view = not self._chart, None
        try:
            self.query_one(RunChart).set_class(self._chart, "-shown")
        except NoMatches:
            return
        self._count_days()
        self.update_status()

    async def action_links(self) -> None:
        if self._detail is not None and self.may("links"):
            await self._detail.follow()

    @on(Detail.Follow)
    async def _follow(self, message: Detail.Follow) -> None:
        await self.plane_app.navigator.go_to_id(message.id, self.plane_app.shown)

    def action_copy(self) -> None:
        if self.current and self.may("copy"):
            self.app.copy_to_clipboard(self.current)
            self.plane_app.say(f"Copied {one_line(self.current, 40)}")

    async def action_diff(self) -> None:
        """Select the run under the cursor. If another run is already selected, show both side by side."""
        if not self.may("run.diff"):
            return
        listing, here = self.view.listing, self.current
        chosen = {*listing.marks, *([here] if here else [])}
        runs = [id_ for id_ in self._runs if id_ in chosen and self._runs[id_].kind == "run"]
        if len(runs) == 1:
            marked = here in listing.marks
            listing.toggle(here)
            self.view.refresh()
            self.update_status()
            self.plane_app.say(
                "" if marked else f"Press {self.key('run.diff')} on another run to compare the two."
            )
        elif len(runs) != _TWO:
            self.plane_app.say(
                f"Select two runs to compare. Press {self.key('back')} to clear the selection."
            )
        else:
            await self._compare(runs[1], runs[0])

    async def _compare(self, older: str, newer: str) -> None:
        from agentplane.tui.screens.runs.compare_screen import RunDiffScreen

        shown = self.plane_app.shown
        if shown is not None:
            self.view.unmark()
            await self.app.push_screen(RunDiffScreen(shown.memory.snapshot.layout, older, newer))
