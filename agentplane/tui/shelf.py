"""The shelf: what was decided. Finding, reading, changing, and taking out of force."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from agentplane.memory.entry import Entry
from agentplane.text.visible import one_line
from agentplane.tui import actions, editing, query, shelf_rows
from agentplane.tui.badge import Badge
from agentplane.tui.bars import KeyBar, StatusBar
from agentplane.tui.detail import Detail
from agentplane.tui.filter import Filter
from agentplane.tui.ground import Subject
from agentplane.tui.list_view import ASCII, MemoryList
from agentplane.tui.listing import Row
from agentplane.tui.messages import OpDone, OpFailed, Refreshed
from agentplane.tui.ops import DOING, Op, Verb
from agentplane.tui.panes import Panes
from agentplane.tui.rows import EDIT
from agentplane.tui.why import Why


if TYPE_CHECKING:
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.desk import Shown

_PREVIEW_SECONDS = 0.05
_FILTER_SECONDS = 0.08
NOTHING = "The shelf is empty.\nWhat is approved in the inbox stands here: 1 goes there."
NO_HIT = "No entry fits.\nesc takes the filter away."


class ShelfScreen(Screen[None]):
    WHERE = "shelf"
    AUTO_FOCUS = "MemoryList"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("shelf")]

    class _Made(Message, bubble=False):
        """Rows that a thread made of what was read."""

        def __init__(self, shown: "Shown", made: list[Row]) -> None:
            super().__init__()
            self.shown = shown
            self.made = made

    def __init__(self) -> None:
        super().__init__()
        self.off: Mapping[str, str] = {}
        """Actions that cannot be done now, and why."""
        self._shown: Shown | None = None
        """What the rows were made of."""
        self._words = ""
        self._wanted: str | None = None
        """A row to go to once it is there."""
        self._resting: Timer | None = None

    @property
    def plane_app(self) -> "PlaneApp":
        return self.app  # type: ignore[return-value]

    def compose(self) -> ComposeResult:
        plain = self.plane_app.plain
        yield Badge("shelf")
        yield Panes(
            MemoryList(glyphs=ASCII if plain else None, empty="Reading the plane…"),
            Detail(ascii_only=plain),
        )
        yield StatusBar()
        yield KeyBar("shelf")

    @property
    def panes(self) -> Panes:
        return self.query_one(Panes)

    @property
    def view(self) -> MemoryList:
        return self.panes.view

    @property
    def current(self) -> str | None:
        """The entry under the cursor."""
        here = self.view.listing.current
        return here.id.removeprefix(EDIT) if here else None

    @property
    def entry(self) -> Entry | None:
        shown = self.plane_app.shown
        return shown.memory.entries.get(self.current or "") if shown else None

    # What was read

    def on_mount(self) -> None:
        self._arrange()
        self._read()

    def on_screen_resume(self) -> None:
        self._read()

    def on_refreshed(self, message: Refreshed) -> None:
        self._read()

    def _read(self) -> None:
        shown = self.plane_app.shown
        self.query_one(Badge).show(self.plane_app.figures())
        if shown is not None and shown is not self._shown:
            plain = self.plane_app.plain
            self.run_worker(partial(self._make, shown, plain), thread=True, exclusive=True, group="rows")

    def _make(self, shown: "Shown", plain: bool) -> None:
        """In a thread."""
        self.post_message(self._Made(shown, shelf_rows.rows(shown, plain=plain)))

    @on(_Made)
    def _take(self, message: _Made) -> None:
        if message.shown is not self.plane_app.shown:
            return
        self._shown = message.shown
        self.view.say(NO_HIT if self._words else NOTHING)
        self.view.replace(message.made)
        if self._wanted and self.view.listing.place_of(self._wanted) is not None:
            self.view.seek(self._wanted)
            self._wanted = None
        if self._words:
            self._filter(self._words)
        self._show_detail()
        self.tell()

    # Where one is

    @on(MemoryList.Moved)
    def _moved(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(_PREVIEW_SECONDS, self._show_detail)
        self.tell()

    @on(MemoryList.Marked)
    def _marked(self) -> None:
        self.tell()

    @on(MemoryList.Opened)
    def _opened(self) -> None:
        self._show_detail()
        self.panes.read(full=True)

    def _show_detail(self) -> None:
        shown, id_ = self._shown, self.current
        if shown is None or id_ is None:
            self.panes.detail.show(None)
            return
        edit = next((edit for edit in shown.shelf_edits if edit.id == id_), None)
        entry = shown.memory.entries.get(id_)
        if entry is not None or edit is not None:
            self.panes.detail.show(Subject(entry, shown.memory, None, edit))

    def go_to(self, id_: str) -> None:
        """To this entry, as soon as it is there; where the filter hides it, the filter goes."""
        if self._shown is None:
            self._wanted = id_
            return
        if self.view.listing.place_of(id_) is None and self._words:
            self._close_filter(keep=False)
        self.view.seek(id_)
        self._show_detail()

    @on(Detail.Follow)
    def _follow(self, message: Detail.Follow) -> None:
        self.go_to(message.id)
        if self.current != message.id:
            self.plane_app.say(f"{one_line(message.id, 30)} waits in the inbox: 1 goes there")

    # The two lines at the foot

    def tell(self) -> None:
        listing = self.view.listing
        self.off = self._what_is_off()
        found = f"/{one_line(self._words, 40)} finds {len(listing.shown):,}" if self._words else ""
        told = "   ".join(part for part in (listing.told, found) if part)
        edited = bool(self._edits())
        self.query_one(StatusBar).tell(told, "edited by hand: a adopts, r reverts" if edited else "")
        names = {"leave": "back", "approve": "adopt", "reject": "revert"}
        self.query_one(KeyBar).show(self.plane_app.keys_wanted, self.off, names)

    def _what_is_off(self) -> dict[str, str]:
        shown, listing = self.plane_app.shown, self.view.listing
        deciding = ("approve", "reject", "edit", "edit_outside", "deprecate", "supersede")
        if shown is None:
            return dict.fromkeys(deciding, "the plane is still being read")
        if shown.refusal:
            return dict.fromkeys(deciding, shown.refusal)
        hidden = "all that is marked is hidden by the filter"
        if not listing.acted:
            return dict.fromkeys(deciding, hidden if listing.marks else "nothing is chosen")
        off: dict[str, str] = {}
        if not self._edits():
            off |= dict.fromkeys(("approve", "reject"), "nothing here was edited by hand")
        entry = self.entry
        if entry is None:
            off |= dict.fromkeys(("edit", "edit_outside", "supersede"), "it is not in its file any more")
        elif entry.head.status != "accepted":
            off["supersede"] = f"it is {one_line(entry.head.status, 20)} already"
        if not self._deprecable():
            off["deprecate"] = "it is out of force already, or edited by hand"
        return off

    def _edits(self) -> tuple[str, ...]:
        shown = self.plane_app.shown
        return tuple(shelf_rows.edits_among(shown, self.view.listing.acted)) if shown else ()

    def _deprecable(self) -> tuple[str, ...]:
        shown = self.plane_app.shown
        entries = shown.memory.entries if shown else {}
        return tuple(
            id_
            for id_ in self.view.listing.acted
            if id_ in entries and entries[id_].trusted and entries[id_].head.status != "deprecated"
        )

    # Deciding

    def _may(self, action: str) -> bool:
        """Whether it can be done now; where not, says why."""
        why = self.off.get(action)
        if why is not None:
            self.plane_app.say(why)
        return why is None

    def action_approve(self) -> None:
        if self._may("approve"):
            self._decide("adopt", self._edits())

    def action_reject(self) -> None:
        if self._may("reject"):
            self._decide("revert", self._edits())

    def action_deprecate(self) -> None:
        if self._may("deprecate"):
            ids = self._deprecable()
            what = ids[0] if len(ids) == 1 else f"{len(ids):,} entries"
            self.app.push_screen(Why(f"Deprecate {what}", "deprecate"), partial(self._deprecated, ids))

    def _deprecated(self, ids: tuple[str, ...], why: str | None) -> None:
        if why is not None:
            self._decide("deprecate", ids, why=why or None)

    def _decide(self, verb: Verb, ids: Sequence[str], **more: Any) -> None:
        """At once on the screen, then by the queue."""
        rows = [
            name
            for id_ in ids
            for name in (id_, f"{EDIT}{id_}")
            if self.view.listing.place_of(name) is not None
        ]
        self.view.listing.settle(rows, f"{DOING[verb]}…")
        self.view.refresh()
        self.plane_app.submit(Op(verb, tuple(ids), **more))
        self.tell()

    def action_edit(self) -> None:
        shown, entry = self._shown, self.entry
        if self._may("edit") and shown is not None and entry is not None:
            editing.edit_here(self.app, editing.of_entry(shown.memory, entry))

    def action_edit_outside(self) -> None:
        shown, entry = self._shown, self.entry
        if self._may("edit_outside") and shown is not None and entry is not None:
            editing.edit_outside(self.app, editing.of_entry(shown.memory, entry))

    def action_supersede(self) -> None:
        shown, entry = self._shown, self.entry
        if self._may("supersede") and shown is not None and entry is not None:
            editing.edit_here(self.app, editing.of_successor(shown.memory, entry), self._proposed)

    def _proposed(self, op: Op | None) -> None:
        if op is not None:
            self.plane_app.say("It waits in the inbox: 1 goes there", stays=True)

    def on_op_done(self, message: OpDone) -> None:
        self._reopen(message.op)
        if message.done.verb in ("undo", "redo"):
            self._wanted = next((id_ for id_ in message.done.ids if not id_.startswith("CAND-")), None)

    def on_op_failed(self, message: OpFailed) -> None:
        self._reopen(message.op)

    def _reopen(self, op: Op) -> None:
        self.view.reopen(name for id_ in op.ids for name in (id_, f"{EDIT}{id_}"))
        self.tell()

    # Looking

    def action_evidence(self) -> None:
        self.panes.detail.open_evidence()

    def action_links(self) -> None:
        self.panes.detail.follow()

    def action_copy(self) -> None:
        if self.current:
            self.app.copy_to_clipboard(self.current)
            self.plane_app.say(f"Copied {one_line(self.current, 40)}")

    def action_preview(self) -> None:
        self.panes.toggle()
        self._arrange()

    def action_preview_side(self) -> None:
        self.panes.turn()
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        shown = self.plane_app.shown
        self.panes.fit(*self.size, shown.settings.preview if shown else "auto")

    # The filter

    async def action_filter(self) -> None:
        if not self.query(Filter):
            field = Filter(self._words)
            field.placeholder = query.HINT
            await field.open_on(self)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._words = event.value.strip()
        self._filter(self._words)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._close_filter(keep=bool(self._words))

    def _close_filter(self, *, keep: bool) -> None:
        if not keep:
            self._words = ""
            self._filter("")
        self.query(Filter).remove()
        self.view.focus()

    def _filter(self, words: str) -> None:
        self.view.say(NO_HIT if words else NOTHING)
        if query.parse(words).empty:
            self.workers.cancel_group(self, "filter")
            self.view.narrow(None)
            self.tell()
            return
        self.run_worker(self._find(words), exclusive=True, group="filter")

    async def _find(self, words: str) -> None:
        """Once nobody typed for a moment; the matching is done in a thread."""
        await asyncio.sleep(_FILTER_SECONDS)
        shown = self._shown
        if shown is None:
            return
        edited = frozenset(edit.id for edit in shown.shelf_edits)
        ids = await asyncio.to_thread(query.found, query.parse(words), shown.shelf, edited)
        if words == self._words:
            self.view.narrow(ids)
            self.tell()

    def step_back(self) -> bool:
        """One step back, from the innermost on; whether there was one."""
        if self.query(Filter):
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
