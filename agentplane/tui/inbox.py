"""The first screen: what waits for a decision, and beside it what a person needs to decide."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message
from textual.timer import Timer

from agentplane.text.visible import one_line
from agentplane.tui import actions, rows
from agentplane.tui.badge import Badge
from agentplane.tui.bars import KeyBar, StatusBar
from agentplane.tui.deciding import Deciding
from agentplane.tui.list_view import ASCII, Glyphs, MemoryList
from agentplane.tui.listing import Row
from agentplane.tui.messages import Looked, Refreshed, Unreadable
from agentplane.tui.rows import EDIT


if TYPE_CHECKING:
    from textual.widgets import Input

    from agentplane.tui.desk import Shown
    from agentplane.tui.detail import Detail

_PREVIEW_SECONDS = 0.05
_FILTER_SECONDS = 0.08
FIRST_START = (
    "Nothing waits. Coding tools propose memories, and they wait here until you decide.\n"
    'Try it: agentplane propose --type decision "Use UTC everywhere"\n'
    "Then a approves, r rejects, u takes it back; ? shows every key."
)
NOTHING_LEFT = (
    "Nothing waits: everything is decided.\n2 shows what is on the shelf; u takes back the last op."
)
NO_HIT = "Nothing holds these words.\nesc takes the filter away."


class InboxScreen(Deciding):
    WHERE = "inbox"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("inbox")]
    AUTO_FOCUS = "MemoryList"

    class _Made(Message, bubble=False):
        """Rows that a thread made of what was read."""

        def __init__(self, shown: "Shown", place: rows.Place, made: list[Row]) -> None:
            super().__init__()
            self.shown = shown
            self.place = place
            self.made = made

    def __init__(self) -> None:
        super().__init__()
        self._by: rows.By = "run"
        self._rows: list[Row] = []
        self._place_of: dict[str, int] = {}
        self._shown: Shown | None = None
        """What the rows were made of."""
        self._detail: Detail | None = None
        self._resting: Timer | None = None
        self._words = ""
        self._hidden = False
        self._side: str | None = None

    def compose(self) -> ComposeResult:
        yield Badge("inbox")
        width, height = self.app.size
        with Container(classes=" ".join(["body", *self._shape(width, height)])):
            yield MemoryList(glyphs=ASCII if self.plane_app.plain else None)
        yield StatusBar()
        yield KeyBar("inbox")

    def on_mount(self) -> None:
        first = self.plane_app.glimpse.get("rows")
        if first:
            self.view.replace([Row(*values) for values in first])
        else:
            self.view.say("Reading the plane…")
        self.query_one(Badge).show(self.plane_app.figures())
        self.tell()
        self.call_after_refresh(self._add_detail)

    def _add_detail(self) -> None:
        """After the first paint, which shows the list: what draws texts takes a while to load."""
        from agentplane.tui.detail import Detail

        if self._detail is None and self.query_one(".body").is_attached:
            self._detail = Detail(ascii_only=self.plane_app.plain)
            self.query_one(".body").mount(self._detail)
            self._show_detail()

    # What was read

    def on_refreshed(self, message: Refreshed) -> None:
        self._make_rows(message.shown)

    def on_screen_resume(self) -> None:
        shown = self.plane_app.shown
        if shown is not None and shown is not self._shown:
            self._make_rows(shown)
        self.query_one(Badge).show(self.plane_app.figures())

    def _make_rows(self, shown: "Shown") -> None:
        place = rows.Place(self._by, datetime.now(UTC), rows.PLAIN if self.plane_app.plain else rows.Marks())
        self.run_worker(partial(self._make, shown, place), thread=True, exclusive=True, group="rows")

    def _make(self, shown: "Shown", place: rows.Place) -> None:
        """In a thread."""
        self.post_message(self._Made(shown, place, rows.rows(shown, place)))

    @on(_Made)
    def _take_rows(self, message: _Made) -> None:
        if message.shown is not self.plane_app.shown or message.place.by != self._by:
            return
        view = self.view
        self._shown, self._rows = message.shown, message.made
        self._place_of = {row.id: place for place, row in enumerate(self._rows)}
        view.glyphs = ASCII if self.plane_app.plain else Glyphs()
        self._say_what_is_empty()
        view.replace(self._rows)
        # The same list, so that a row can be changed in its place.
        view.listing.rows = self._rows
        if self._wanted and view.listing.place_of(self._wanted) is not None:
            view.seek(self._wanted)
            self._wanted = None
        if self._words:
            self._filter(self._words)
        self._update(view.in_sight)
        self._after_scroll()
        self._show_detail()
        self.tell()

    def _say_what_is_empty(self) -> None:
        shown = self._shown
        fresh = shown is not None and not shown.shelf
        self.view.say(NO_HIT if self._words else FIRST_START if fresh else NOTHING_LEFT)
        self.query_one(".body").set_class(shown is not None and not self._rows, "-empty")

    def on_unreadable(self, message: Unreadable) -> None:
        if self._shown is None:
            self.view.say(f"The plane cannot be read: {one_line(message.error.what)}")

    def on_looked(self, message: Looked) -> None:
        self._update(message.ids)
        here = self.current
        if here is not None and here in message.ids:
            self._show_detail()
        self.tell()

    def _update(self, ids: Sequence[str]) -> None:
        """Rows of candidates that were looked at since the rows were made."""
        shown, listing = self._shown, self.view.listing
        if shown is None:
            return
        place = rows.Place(self._by, datetime.now(UTC), rows.PLAIN if self.plane_app.plain else rows.Marks())
        edited = {edit.id for edit in shown.hand_edits}
        for id_ in ids:
            found, at = shown.reviewed.get(id_), self._place_of.get(id_)
            if found is None or at is None:
                continue
            new = rows.row(found.entry, found, place, edited=id_ in edited)
            self._rows[at] = new
            line = listing.place_of(id_)
            if line is not None:
                listing.lines[line] = new
        self.view.refresh()

    # Where one is

    @on(MemoryList.Moved)
    def _moved(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(_PREVIEW_SECONDS, self._rested)
        self.tell()

    def _rested(self) -> None:
        self._after_scroll()
        self._show_detail()

    def _after_scroll(self) -> None:
        shown = self.plane_app.shown
        if shown is not None:
            self.plane_app.in_sight((*([self.current] if self.current else []), *self.view.in_sight))

    def _show_detail(self) -> None:
        detail, shown = self._detail, self.plane_app.shown
        if detail is None or shown is None:
            return
        from agentplane.tui.ground import Subject

        here = self.current
        if here is None:
            detail.show(None, "")
            return
        id_ = here.removeprefix(EDIT)
        edit = next((edit for edit in shown.hand_edits if edit.id == id_), None)
        entry = shown.memory.entries.get(id_)
        if entry is None and edit is None:
            return
        reviewed = None if here.startswith(EDIT) else shown.reviewed.get(here)
        detail.show(Subject(entry, shown.memory, reviewed, edit))

    @on(MemoryList.Marked)
    def _marked(self) -> None:
        self.tell()

    def tell(self) -> None:
        """The two lines at the foot: marks, filter, why something cannot be done, and the keys."""
        listing = self.view.listing
        shown = self.plane_app.shown
        self.off = self._what_is_off(shown)
        parts = [
            listing.told,
            f"/{one_line(self._words, 30)} finds {len(listing.shown):,}" if self._words else "",
        ]
        if not any(parts) and listing.current is not None:
            parts = [f"grouped by {self._by}"]
        reason = self.off.get("approve") or ""
        loud = bool(listing.told or self._words)
        self.query_one(StatusBar).tell("   ".join(part for part in parts if part), reason, loud=loud)
        names = {"leave": "quit"}
        if self.current and self.current.startswith(EDIT):
            names |= {"approve": "adopt", "reject": "revert"}
        if listing.marks:
            names |= {"approve_clean": "marked"}
        self.query_one(KeyBar).show(self.plane_app.keys_wanted, self.off, names)

    # Looking

    @on(MemoryList.Opened)
    def _opened(self, message: MemoryList.Opened) -> None:
        shown = self.plane_app.shown
        found = shown.reviewed.get(message.id or "") if shown else None
        if found is not None and found.conflicts:
            self._compare(found.entry.id)
        else:
            self._read(full=True)

    def _read(self, *, full: bool) -> None:
        self.query_one(".body").set_class(full, "-reading")
        if full and self._detail is not None:
            self._show_detail()
            self._detail.focus()
        else:
            self.view.focus()

    @property
    def reading(self) -> bool:
        return self.query_one(".body").has_class("-reading")

    def action_group(self) -> None:
        self._by = "kind" if self._by == "run" else "run"
        shown = self.plane_app.shown
        if shown is not None:
            self._make_rows(shown)
        self.tell()

    def action_copy(self) -> None:
        if self.current:
            id_ = self.current.removeprefix(EDIT)
            self.app.copy_to_clipboard(id_)
            self.plane_app.say(f"Copied {one_line(id_, 40)}")

    def action_evidence(self) -> None:
        if self._detail is not None:
            self._detail.open_evidence()

    def action_links(self) -> None:
        if self._detail is not None:
            self._detail.follow()

    def on_detail_compare(self, message: "Detail.Compare") -> None:
        self._compare(message.id)

    async def on_detail_follow(self, message: "Detail.Follow") -> None:
        """To a linked entry: here, or on the shelf."""
        if not self.view.seek(message.id):
            await self.plane_app.go_to_entry(message.id)

    # The filter

    async def action_filter(self) -> None:
        from agentplane.tui.filter import Filter

        if not self.query(Filter):
            await Filter(self._words).open_on(self)

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
        if not words:
            self.workers.cancel_group(self, "filter")
            self.view.narrow(None)
            self.tell()
            return
        self.run_worker(self._find(words), exclusive=True, group="filter")

    async def _find(self, words: str) -> None:
        await asyncio.sleep(_FILTER_SECONDS)
        ids = await asyncio.to_thread(rows.found, words, self._rows, self._shown)
        if words == self._words:
            self.view.narrow(ids)
            self._after_scroll()
            self.tell()

    # The shape of the screen

    def on_resize(self) -> None:
        self._arrange()

    def _shape(self, width: int, height: int) -> list[str]:
        """The text beside the list, below it, or, where both have no room, in its place."""
        shown = self.plane_app.shown
        wanted = self._side or (shown.settings.preview if shown else "auto")
        if self._hidden or width < 60 or (width < 100 and height < 15):
            return []
        return ["-right" if wanted == "right" or (wanted == "auto" and width >= 100) else "-bottom"]

    def _arrange(self) -> None:
        shape = self._shape(*self.size)
        body = self.query_one(".body")
        for name in ("-right", "-bottom"):
            body.set_class(name in shape, name)

    def action_preview(self) -> None:
        self._hidden = not self._hidden
        self._arrange()

    def action_preview_side(self) -> None:
        right = self.query_one(".body").has_class("-right")
        self._hidden, self._side = False, "bottom" if right else "right"
        self._arrange()

    def step_back(self) -> bool:
        """One step back, from the innermost on; whether there was one."""
        if self.query("Filter"):
            self._close_filter(keep=False)
        elif self.reading:
            self._read(full=False)
        elif self.view.listing.marks:
            self.view.unmark()
        elif self._words:
            self._close_filter(keep=False)
        elif self.focused is not self.view:
            self.view.focus()
        else:
            return False
        return True
