"""What every screen with a list shares: the list, beside it what is said of a row, a filter, and the lines around them."""

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
from agentplane.tui.badge import Badge
from agentplane.tui.bars import KeyBar, StatusBar
from agentplane.tui.list_view import ASCII, Glyphs, MemoryList
from agentplane.tui.listing import Row
from agentplane.tui.messages import Refreshed, Unreadable
from agentplane.tui.panes import Panes
from agentplane.tui.sized import Sized


if TYPE_CHECKING:
    from textual.widgets import Input

    from agentplane.tui.app import PlaneApp
    from agentplane.tui.desk import Shown

_PREVIEW_SECONDS = 0.05
_FILTER_SECONDS = 0.08
STILL_READ = "the plane is still being read"


class ListScreen(Sized[None]):
    """A screen of one part of the plane says what its rows are, what is said of one, and what cannot be done now."""

    WHERE: ClassVar[str]
    """Its name in the registry of actions."""
    HINT: ClassVar[str] = "words, an id, a kind, a tag, a tool"
    AUTO_FOCUS = "MemoryList"

    class _Made(Message, bubble=False):
        """Rows that a thread made of what was read."""

        def __init__(self, shown: "Shown", number: int, made: list[Row]) -> None:
            super().__init__()
            self.shown = shown
            self.number = number
            self.made = made

    def __init__(self) -> None:
        super().__init__()
        self.off: Mapping[str, str] = {}
        """Actions that cannot be done now, and why."""
        self._shown: Shown | None = None
        """What the rows were made of."""
        self._rows: list[Row] = []
        self._making = 0
        """So often were rows asked for; only the last time counts."""
        self._words = ""
        self._wanted: str | None = None
        """A row to go to once it is there."""
        self._resting: Timer | None = None

    # What each screen says itself

    @abstractmethod
    def rows_of(self, shown: "Shown") -> list[Row]:
        """Return the rows for what was read. Runs in a thread."""

    @abstractmethod
    def found(self, words: str, shown: "Shown | None", rows: list[Row]) -> Collection[str] | None:
        """Return the ids of the rows that match the filter, or None if all of them do. Runs in a thread."""

    @abstractmethod
    def what_is_empty(self) -> str:
        """Return the text for an empty list."""

    @abstractmethod
    def detail(self) -> Widget:
        """Return the widget that describes the row under the cursor. It is made once."""

    @abstractmethod
    def show_detail(self) -> None:
        """Describe the row under the cursor."""

    def what_is_off(self) -> dict[str, str]:
        return {}

    def show_first(self) -> None:
        """Rows for the first paint, before anything was read."""

    async def opened(self, id_: str) -> None:
        """Enter on a row."""
        self.show_detail()
        self.panes.read(full=True)

    def at_rest(self) -> str:
        """What the lower line says of the list where nothing is marked or filtered."""
        return ""

    def reason(self) -> str:
        """What it says of the row under the cursor."""
        return ""

    @property
    def called(self) -> dict[str, str]:
        """Other words for some actions, as things are."""
        return {}

    def hits(self) -> str:
        """How many rows fit the filter."""
        return f"{len(self.view.listing.shown):,}"

    def taken(self) -> None:
        """The rows are others now."""

    # What is on it

    @property
    def plane_app(self) -> "PlaneApp":
        return self.app  # type: ignore[return-value]

    @property
    def panes(self) -> Panes:
        return self.query_one(Panes)

    @property
    def view(self) -> MemoryList:
        return self.panes.view

    @property
    def current(self) -> str | None:
        """The row under the cursor."""
        here = self.view.listing.current
        return here.id if here else None

    @property
    def reading(self) -> bool:
        """Whether the text takes the place of the list."""
        return self.panes.reading

    def compose(self) -> ComposeResult:
        plain = self.plane_app.plain
        yield Badge(self.WHERE)
        panes = Panes(MemoryList(glyphs=ASCII if plain else None, empty="Reading the plane…"))
        panes.fit(*self.app.size, self._side_wanted)
        yield panes
        yield StatusBar()
        yield KeyBar(self.WHERE)

    def on_mount(self) -> None:
        self.show_first()
        self.query_one(Badge).show(self.plane_app.figures())
        self.tell()
        self.read()
        self.call_after_refresh(self._add_detail)

    def _add_detail(self) -> None:
        if self.panes.detail is None and self.panes.is_attached:
            self.panes.add(self.detail())
            self.show_detail()

    # What was read

    def on_refreshed(self, message: Refreshed) -> None:
        self.read()

    def on_screen_resume(self) -> None:
        self.read()

    def on_unreadable(self, message: Unreadable) -> None:
        if self._shown is None:
            self.view.say(f"The plane cannot be read: {one_line(message.error.what)}")

    def read(self, *, anew: bool = False) -> None:
        """Makes the rows of what was read last, unless they are made of it already."""
        shown = self.plane_app.shown
        self.query_one(Badge).show(self.plane_app.figures())
        if shown is not None and (anew or shown is not self._shown):
            self._making += 1
            work = partial(self._make, shown, self._making)
            self.run_worker(work, thread=True, exclusive=True, group="rows")

    def _make(self, shown: "Shown", number: int) -> None:
        """In a thread."""
        self.post_message(self._Made(shown, number, self.rows_of(shown)))

    @on(_Made)
    def _take(self, message: _Made) -> None:
        if message.shown is not self.plane_app.shown or message.number != self._making:
            return
        self._shown, self._rows = message.shown, message.made
        view = self.view
        view.glyphs = ASCII if self.plane_app.plain else Glyphs()
        self._say_what_is_empty()
        view.replace(self._rows)
        if self._wanted and view.listing.place_of(self._wanted) is not None:
            view.seek(self._wanted)
            self._wanted = None
        if self._words:
            self._filter(self._words)
        self.taken()
        self.show_detail()
        self.tell()

    def _say_what_is_empty(self) -> None:
        if self._shown is not None:
            self.view.say(self.what_is_empty())
            self.panes.set_class(not self._rows, "-empty")

    # Where one is

    @on(MemoryList.Moved)
    def _moved(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(_PREVIEW_SECONDS, self.rested)
        self.tell()

    def rested(self) -> None:
        """The cursor has been on a row for a moment."""
        self.show_detail()

    @on(MemoryList.Marked)
    def _marked(self) -> None:
        self.tell()

    @on(MemoryList.Opened)
    async def _opened(self, message: MemoryList.Opened) -> None:
        await self.opened(message.id or "")

    def go_to(self, id_: str) -> None:
        """To this row, as soon as it is there; where the filter hides it, the filter goes."""
        if self._shown is None:
            self._wanted = id_
            return
        if self.view.listing.place_of(id_) is None and self._words:
            self._close_filter(keep=False)
        self.view.seek(id_)
        self.show_detail()

    def tell(self) -> None:
        """The two lines at the foot: marks, filter, why something cannot be done, and the keys."""
        listing = self.view.listing
        self.off = self.what_is_off()
        hits = f"/{one_line(self._words, 40)} finds {self.hits()}" if self._words else ""
        told = "   ".join(filter(None, (listing.told, hits)))
        # Where there is no room for the header, this line says what waits.
        waits = self.query_one(Badge).brief if self.has_class("-low") else ""
        rest = " · ".join(filter(None, (waits, self.at_rest())))
        self.query_one(StatusBar).tell(told or rest, self.reason(), loud=bool(told))
        self.query_one(KeyBar).show(self.plane_app.keys_wanted, self.off, self.called)

    def may(self, action: str) -> bool:
        """Whether it can be done now; where not, says why."""
        self.off = self.what_is_off()
        why = self.off.get(action)
        if why is not None:
            self.say_why(why)
        return why is None

    def say_why(self, why: str) -> None:
        """Why something cannot be done; no longer than that is so."""
        app = self.plane_app
        app.say(why, holds=(lambda: app.shown is None) if why == STILL_READ else None)

    # How they lie

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
        self.call_after_refresh(self._tell_anew)

    def _tell_anew(self) -> None:
        if self.is_attached and self.query(StatusBar):
            self.tell()

    # The filter

    async def action_filter(self) -> None:
        from agentplane.tui.filter import Filter

        if not self.query(Filter):
            await Filter(self._words, self.HINT).open_on(self)

    def on_input_changed(self, event: "Input.Changed") -> None:
        event.stop()
        self._words = event.value.strip()
        self._filter(self._words)

    def on_input_submitted(self, event: "Input.Submitted") -> None:
        event.stop()
        self._close_filter(keep=bool(self._words))

    def _close_filter(self, *, keep: bool) -> None:
        if not keep:
            self._words = ""
            self._filter("")
        self.query("Filter").remove()
        self.view.focus()

    def _filter(self, words: str) -> None:
        self._say_what_is_empty()
        if words:
            # Not a coroutine: one that is cancelled before it began would be complained of.
            work: Any = partial(self._find, words)
            self.run_worker(work, exclusive=True, group="filter")
        else:
            self.workers.cancel_group(self, "filter")
            self.view.narrow(None)
            self.tell()

    async def _find(self, words: str) -> None:
        """Once nobody typed for a moment; the matching is done in a thread."""
        await asyncio.sleep(_FILTER_SECONDS)
        ids = await asyncio.to_thread(self.found, words, self._shown, self._rows)
        if words == self._words:
            self.view.narrow(ids)
            self.rested()
            self.tell()

    def step_back(self) -> bool:
        """One step back, from the innermost on; whether there was one."""
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
