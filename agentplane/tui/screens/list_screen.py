"""The base of every screen with a list.

It has the list, the pane that describes a row, the filter, the header and the footer.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from agentplane.text.visible import one_line
from agentplane.tui.backend.list_state import Row
from agentplane.tui.messages import Refreshed, Unreadable
from agentplane.tui.screens.background import run_latest, run_latest_async
from agentplane.tui.screens.query_filter import QueryFilter
from agentplane.tui.textual_fixes.fixed_size_screen import FixedSizeScreen
from agentplane.tui.widgets.filter_tabs import FilterTabs
from agentplane.tui.widgets.footer import KeyBar, StatusBar
from agentplane.tui.widgets.header import Badge
from agentplane.tui.widgets.hint_line import HintLine
from agentplane.tui.widgets.row_list import ASCII, Glyphs, RowList
from agentplane.tui.widgets.split import Panes


if TYPE_CHECKING:
    from textual.widgets import Input

    from agentplane.query.fields import Target
    from agentplane.query.records import QueryRecord
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.widgets.filter_bar import Filter

_PREVIEW_SECONDS = 0.05
_FILTER_SECONDS = 0.08
STILL_READ = "the project memory is still loading"
NO_ROW = "no row is selected"
SELECTION_HIDDEN = "the filter hides all selected rows"


class ListScreen(FixedSizeScreen[None]):
    """A subclass makes the rows, describes one of them, and says which actions are not available."""

    WHERE: ClassVar[str]
    """Name of the screen in the table of screens."""
    HINT: ClassVar[str] = "words, ID, kind, tag or tool"
    NEEDS_VIEW: ClassVar[bool] = True
    """False if the rows don't come from the project memory, so that they are there even if it can't be read."""
    QUERY: "ClassVar[Target | None]" = None
    """The list whose fields the filter knows. None if the filter takes words only."""
    AUTO_FOCUS = "RowList"

    class _Made(Message, bubble=False):
        """A thread made the rows."""

        def __init__(self, shown: "PlaneView | None", number: int, made: list[Row]) -> None:
            super().__init__()
            self.shown = shown
            self.number = number
            self.made = made

    def __init__(self) -> None:
        super().__init__()
        self.off: Mapping[str, str] = {}
        """The ids of actions that are not available now, each with the reason."""
        self._shown: PlaneView | None = None
        """The view of the plane that the rows were made from."""
        self._rows: list[Row] = []
        self._last_request = 0
        """The number of the last request for rows. The results of earlier requests are dropped."""
        self._words = ""
        """The last filter that could be read."""
        self._queries = QueryFilter(self, self.QUERY) if self.QUERY else None
        self._wanted_id: str | None = None
        """The row to put the cursor on once it exists."""
        self._preview_timer: Timer | None = None

    # Parts that each screen defines

    @abstractmethod
    def rows_of(self, shown: "PlaneView") -> list[Row]:
        """Return the rows for a view of the plane. Runs in a thread. Without `NEEDS_VIEW`, the view may be None."""

    @abstractmethod
    def matching(self, words: str, shown: "PlaneView | None", rows: list[Row]) -> Collection[str] | None:
        """Return the ids of the rows that match the filter, or None for all rows. Runs in a thread.

        If the filter has an order, the ids are in this order.
        """

    def records(self, *, states: bool = False) -> "list[QueryRecord]":
        """Return the rows as a query sees them. Runs in a thread. Only screens with `QUERY` need it.

        With `states`, each record has the values of `is:`.
        """
        return []

    @abstractmethod
    def empty_text(self) -> str:
        """Return the text for an empty list."""

    @abstractmethod
    def detail(self) -> Widget:
        """Return the widget that describes the row under the cursor. It is made once."""

    @abstractmethod
    def show_detail(self) -> None:
        """Describe the row under the cursor."""

    def no_hit(self) -> str:
        """Return the text of a list without a match for the filter."""
        return f"No matches.\nPress {self.key('back')} to clear the filter."

    def what_is_off(self) -> dict[str, str]:
        """Return the ids of actions that are not available now, each with the reason."""
        return {}

    def show_first(self) -> None:
        """Show rows before the plane was read, if some are known."""

    async def open_row(self, id_: str) -> None:
        """Open a row. The default is to show its description in place of the list."""
        self.show_detail()
        self.panes.read(full=True)

    def idle_status(self) -> str:
        """Return the status line for a list without selected rows and without a filter."""
        return ""

    def reason(self) -> str:
        """Return the part of the status line about the row under the cursor."""
        return ""

    @property
    def action_names(self) -> dict[str, str]:
        """The ids of actions that have another name now. An action with an empty name is not shown."""
        return {}

    def hit_count(self) -> str:
        """Return the number of rows that match the filter, as text."""
        return f"{len(self.view.listing.shown):,}"

    def rows_replaced(self) -> None:
        """Called when the rows were replaced."""

    # Widgets and state

    @property
    def plane_app(self) -> "PlaneApp":
        return self.app  # type: ignore[return-value]

    def key(self, action: str) -> str:
        """Return the key of an action, for a sentence that names it."""
        return self.plane_app.keys_wanted.key(action)

    @property
    def panes(self) -> Panes:
        return self.query_one(Panes)

    @property
    def view(self) -> RowList:
        return self.panes.view

    @property
    def current(self) -> str | None:
        """The id of the row under the cursor."""
        here = self.view.listing.current
        return here.id if here else None

    @property
    def rows_view(self) -> "PlaneView | None":
        """The view of the plane that the rows were made from."""
        return self._shown

    def compose(self) -> ComposeResult:
        plain = self.plane_app.plain
        yield Badge(self.WHERE)
        if self.QUERY:
            yield FilterTabs()
        panes = Panes(RowList(glyphs=ASCII if plain else None, empty="Reading the project memory…"))
        panes.fit(*self.app.size, self._side_wanted)
        yield panes
        yield HintLine()
        yield StatusBar()
        yield KeyBar(self.WHERE)

    def on_mount(self) -> None:
        self.show_first()
        self.query_one(Badge).show(self.plane_app.figures())
        self.update_status()
        self.read()
        self.call_after_refresh(self._add_detail)

    def on_screen_suspend(self) -> None:
        self.plane_app.update_hint()

    def _add_detail(self) -> None:
        if self.panes.detail is None and self.panes.is_attached:
            self.panes.add(self.detail())
            self.show_detail()
            if self._queries is not None:
                self._queries.load()

    # Reading

    def on_refreshed(self, message: Refreshed) -> None:
        self.read()

    def on_screen_resume(self) -> None:
        self.read()
        if self._queries is not None and self.panes.detail is not None:
            self._queries.load()

    def on_unreadable(self, message: Unreadable) -> None:
        if self._shown is None:
            self.view.set_empty_text(f"Can't read the project memory: {one_line(message.error.what)}")

    def read(self, *, force: bool = False) -> None:
        """Make the rows from the current view in a thread.

        Rows that were already made from this view are made again only with `force`.
        """
        shown = self.plane_app.shown
        self.query_one(Badge).show(self.plane_app.figures())
        if (shown is not None or not self.NEEDS_VIEW) and (force or shown is not self._shown):
            self._last_request += 1
            run_latest(self, partial(self._make, shown, self._last_request), "rows")

    def _make(self, shown: "PlaneView | None", number: int) -> None:
        """Make the rows. Runs in a thread."""
        self.post_message(self._Made(shown, number, self.rows_of(shown)))  # type: ignore[arg-type]

    @on(_Made)
    def _take(self, message: _Made) -> None:
        if message.shown is not self.plane_app.shown or message.number != self._last_request:
            return
        self._shown, self._rows = message.shown, message.made
        view = self.view
        view.glyphs = ASCII if self.plane_app.plain else Glyphs()
        self._update_empty_text()
        view.replace(self._rows)
        if self._wanted_id and view.listing.place_of(self._wanted_id) is not None:
            view.seek(self._wanted_id)
            self._wanted_id = None
        if self._words:
            self._filter(self._words)
        self.rows_replaced()
        self.show_detail()
        self.update_status()

    def _update_empty_text(self) -> None:
        if self._shown is not None:
            self.view.set_empty_text(self.empty_text())
            self.panes.set_class(not self._rows, "-empty")

    # Cursor

    @on(RowList.Moved)
    def _moved(self) -> None:
        if self._preview_timer is not None:
            self._preview_timer.stop()
        self._preview_timer = self.set_timer(_PREVIEW_SECONDS, self.cursor_rested)
        self.update_status()

    def cursor_rested(self) -> None:
        """Called when the cursor has been on a row for a moment."""
        self.show_detail()

    @on(RowList.Marked)
    def _marked(self) -> None:
        self.update_status()

    @on(RowList.Opened)
    async def _opened(self, message: RowList.Opened) -> None:
        await self.open_row(message.id or "")

    def go_to(self, id_: str) -> None:
        """Put the cursor on this row, as soon as it exists. Remove the filter if it hides the row."""
        if self._shown is None:
            self._wanted_id = id_
            return
        if self.view.listing.place_of(id_) is None and self._words:
            self._close_filter(keep=False)
        self.view.seek(id_)
        self.show_detail()

    def go_to_when_read(self, id_: str | None) -> None:
        """Put the cursor on this row once the plane has been read again. None doesn't move the cursor."""
        self._wanted_id = id_

    def update_status(self) -> None:
        """Update the two lines at the foot, with the selected rows, the filter, reasons and keys."""
        listing = self.view.listing
        self.off = self.what_is_off()
        filter_text = f"/{one_line(self._words, 40)} matches {self.hit_count()}" if self._words else ""
        selection = "   ".join(filter(None, (listing.marks_text, filter_text)))
        # If there is no room for the header, this line says how many candidates wait.
        waiting = self.query_one(Badge).brief if self.has_class("-low") else ""
        rest = " · ".join(filter(None, (waiting, self.idle_status())))
        self.query_one(StatusBar).set_texts(selection or rest, self.reason(), loud=bool(selection))
        off = {**self._off_in_empty_list(), **self.off}
        self.query_one(KeyBar).show(self.plane_app.keys_wanted, off, self.action_names)

    def _off_in_empty_list(self) -> Mapping[str, str]:
        """Return the actions that need a listed row, if there is none."""
        if self._shown is None or self.view.listing.shown:
            return {}
        needs_row = dict.fromkeys(("list.mark", "approve_clean", "run.diff"), NO_ROW)
        return needs_row if self._rows else {**needs_row, "filter": NO_ROW, "run.chart": NO_ROW}

    def may(self, action: str) -> bool:
        """Return True if an action is available. If not, say why."""
        self.off = self.what_is_off()
        why = self.off.get(action)
        if why is not None:
            self.say_why(why)
        return why is None

    def say_why(self, why: str) -> None:
        """Say why an action is not available, as long as that is true."""
        app = self.plane_app
        app.say(why, show_while=(lambda: app.shown is None) if why == STILL_READ else None)

    # Layout

    @property
    def _side_wanted(self) -> str:
        shown = self.plane_app.shown
        return shown.settings.preview if shown else "auto"

    def action_preview(self) -> None:
        self.panes.toggle()
        self.on_resize()

    def action_preview_side(self) -> None:
        self.panes.turn()
        self.on_resize()

    def on_resize(self) -> None:
        self.panes.fit(*self.size, self._side_wanted)
        self.call_after_refresh(self._update_status_if_attached)

    def _update_status_if_attached(self) -> None:
        if self.is_attached and self.query(StatusBar):
            self.update_status()

    # The filter

    async def action_filter(self) -> None:
        from agentplane.tui.widgets.filter_bar import Filter

        if not self.query(Filter):
            field = Filter(self._words, self.HINT, self.QUERY)
            await field.open_on(self)
            if self.QUERY:
                run_latest_async(self, partial(self._offer_values, field), "values")

    async def _offer_values(self, field: "Filter") -> None:
        """Complete the fields of the filter with the values in the list. A thread collects them."""
        from agentplane.query.complete import known

        field.offer_values(await asyncio.to_thread(lambda: known(self.records())))

    def on_input_changed(self, event: "Input.Changed") -> None:
        event.stop()
        field: Any = event.input
        # While a query can't be read, the list keeps the rows of the last one that could.
        if field.error is None:
            self._apply_words(event.value.strip())

    def on_input_submitted(self, event: "Input.Submitted") -> None:
        event.stop()
        field: Any = event.input
        if field.error is None:
            self._close_filter(keep=bool(self._words))

    def _close_filter(self, *, keep: bool) -> None:
        if not keep:
            self._apply_words("")
        for field in self._filter_fields:
            field.close()
        self.view.focus()

    @property
    def _filter_fields(self) -> "list[Filter]":
        """The open filter field, if there is one."""
        return list(self.query("Filter").results())  # type: ignore[arg-type]

    @property
    def words(self) -> str:
        """The text of the filter."""
        return self._words

    def set_words(self, words: str) -> None:
        """Filter the list by a text, as if it had been typed."""
        for field in self._filter_fields:
            field.close()
        self._apply_words(words)

    def _apply_words(self, words: str) -> None:
        self._words = words
        self._filter(words)
        if self._queries is not None:
            self._queries.show_tabs()

    def say(self, text: str) -> None:
        """Show a message at the foot of the screen."""
        self.plane_app.say(text)

    def action_sort(self) -> None:
        if self._queries is not None:
            self._queries.next_order()

    def action_filter_step(self, steps: int) -> None:
        if self._queries is not None:
            self._queries.step(steps)

    async def action_filter_save(self) -> None:
        if self._queries is not None:
            await self._queries.save()

    def on_filter_tabs_chosen(self, message: FilterTabs.Chosen) -> None:
        if self._queries is not None:
            self._queries.open(message.place)

    def _filter(self, words: str) -> None:
        self._update_empty_text()
        if words:
            run_latest_async(self, partial(self._find, words), "filter")
        else:
            self.workers.cancel_group(self, "filter")
            self.view.narrow(None)
            self.update_status()

    async def _find(self, words: str) -> None:
        """Apply the filter after a short pause in typing. A thread matches the rows."""
        await asyncio.sleep(_FILTER_SECONDS)
        ids = await asyncio.to_thread(self.matching, words, self._shown, self._rows)
        if words == self._words:
            in_order = self._queries is not None and bool(self._queries.query.sort)
            self.view.narrow(ids, in_order=in_order)
            self.cursor_rested()
            self.update_status()

    def step_back(self) -> bool:
        """Close the filter, the description or the selection, the innermost first. Return False if none is open."""
        if self.query("Filter"):
            self._close_filter(keep=False)
        elif self.panes.reading:
            self.panes.read(full=False)
        elif self.view.listing.marks:
            self.view.unmark()
        elif self._words:
            self._close_filter(keep=False)
        elif self.focused is not self.view:
            self.view.focus()
        else:
            return False
        return True
