"""The screen that finds, shows, changes and deprecates approved entries."""

from collections.abc import Callable
from functools import partial
from itertools import filterfalse
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType

from agentplane.commands import Command, Deprecate, Pin, Revert, Unpin
from agentplane.memory.entry import Header
from agentplane.text.visible import one_line
from agentplane.tui import actions
from agentplane.tui.backend.list_state import Row
from agentplane.tui.messages import OpDone, OpFailed
from agentplane.tui.screens.entry import editor
from agentplane.tui.screens.entry.pane import Detail
from agentplane.tui.screens.entry_list_screen import EntryScreen
from agentplane.tui.screens.list_screen import NO_ROW, SELECTION_HIDDEN, STILL_READ
from agentplane.tui.screens.memory import rows
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.widgets.modals.reason_modal import ReasonDialog


if TYPE_CHECKING:
    from agentplane.tui.backend.model import PlaneView


class MemoryScreen(EntryScreen):
    WHERE = "shelf"
    HINT = "words   kind:decision   is:expired   tag:ui   path:app/   older:4w   (tab completes)"
    QUERY = "memory"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("shelf")]

    # The rows

    def rows_of(self, shown: "PlaneView") -> list[Row]:
        return rows.rows(shown, plain=self.plane_app.plain)

    def empty_text(self) -> str:
        if self._words:
            return self.no_hit()
        return (
            f"No approved entries yet.\nTo approve candidates, press {self.key('inbox')} to go to the inbox."
        )

    @on(Detail.Follow)
    def _follow(self, message: Detail.Follow) -> None:
        self.go_to(message.id)
        if self.entry_id != message.id:
            self.say(
                f"{one_line(message.id, 30)} is still in the inbox. Press {self.key('inbox')} to go to the inbox."
            )

    # Availability

    def reason(self) -> str:
        if not self._edits():
            return ""
        return f"manual edit: {self.key('accept')} to accept, {self.key('discard')} to discard"

    @property
    def action_names(self) -> dict[str, str]:
        names = {"leave": "back"} if self._edits() else {"leave": "back", "accept": "", "discard": ""}
        pins = self._pins()
        return names | {"pin": "unpin"} if pins and all(self._is_pinned(id_) for id_ in pins) else names

    def what_is_off(self) -> dict[str, str]:
        shown, listing = self.plane_app.shown, self.view.listing
        deciding = ("accept", "discard", "edit", "edit_outside", "deprecate", "supersede", "pin", "tag")
        if shown is None:
            return dict.fromkeys(deciding, STILL_READ)
        if shown.refusal:
            return dict.fromkeys(deciding, shown.refusal)
        if not listing.target_ids:
            return dict.fromkeys(deciding, SELECTION_HIDDEN if listing.marks else NO_ROW)
        off: dict[str, str] = {}
        if not self._edits():
            off |= dict.fromkeys(("accept", "discard"), "the row has no manual edit")
        entry = self.entry
        if entry is None:
            off |= dict.fromkeys(("edit", "edit_outside", "supersede"), "the entry is no longer in its file")
        elif entry.head.status != "accepted":
            off["supersede"] = f"the entry is already {one_line(entry.head.status, 20)}"
        if not self._deprecable():
            off["deprecate"] = "the entry is already deprecated, or it has a manual edit"
        if not self.target_entries or not all(entry.trusted for entry in self.target_entries):
            off["tag"] = "the entry has a manual edit"
        if not self.marks_about(self.entry_id or ""):
            off["findings"] = "the curator has no finding about this entry"
        if not self._pins():
            off["pin"] = "the entry isn't active, or it has a manual edit"
        return off

    def _edits(self) -> tuple[str, ...]:
        shown = self.plane_app.shown
        return tuple(rows.edits_among(shown, self.view.listing.target_ids)) if shown else ()

    def _deprecable(self) -> tuple[str, ...]:
        return self._trusted(lambda head: head.status != "deprecated")

    def _pins(self) -> tuple[str, ...]:
        """Return the ids of selected entries that are pinned or can be pinned."""
        return self._trusted(lambda head: head.pinned or head.status == "accepted")

    def _trusted(self, test: Callable[[Header], bool]) -> tuple[str, ...]:
        """Return the ids of selected entries that have no manual edit, and whose header passes a test."""
        shown = self.plane_app.shown
        entries = shown.memory.entries if shown else {}
        return tuple(
            id_
            for id_ in self.view.listing.target_ids
            if id_ in entries and entries[id_].trusted and test(entries[id_].head)
        )

    def _is_pinned(self, id_: str) -> bool:
        shown = self.plane_app.shown
        return shown is not None and shown.memory.entries[id_].head.pinned

    # Deciding

    async def action_accept(self) -> None:
        if self.may("accept"):
            await self.adopt(self._edits())

    def action_discard(self) -> None:
        if self.may("discard"):
            self.carry_out(Revert(tuple(self._edits())))

    async def action_deprecate(self) -> None:
        if self.may("deprecate"):
            ids = self._deprecable()
            what = ids[0] if len(ids) == 1 else f"{len(ids):,} entries"
            await open_field(
                self.app, ReasonDialog(f"Deprecate {what}", "deprecate"), partial(self._deprecated, ids)
            )

    def action_pin(self) -> None:
        """Pin the entries that are not pinned. If every entry is pinned, unpin all of them."""
        if self.may("pin"):
            pins = self._pins()
            unpinned = [id_ for id_ in pins if not self._is_pinned(id_)]
            self.carry_out(Pin(tuple(unpinned)) if unpinned else Unpin(tuple(pins)))

    def _deprecated(self, ids: tuple[str, ...], why: str | None) -> None:
        if why is not None:
            self.carry_out(Deprecate(ids, why or None))

    async def action_findings(self) -> None:
        """Go to the curator's findings about the entry."""
        if self.may("findings") and self.entry_id is not None:
            self.panes.read(full=False)
            await self.plane_app.navigator.go_to_row("curator", self.entry_id, self.WHERE)

    async def action_supersede(self) -> None:
        shown, entry = self.plane_app.shown, self.entry
        if self.may("supersede") and shown is not None and entry is not None:
            draft = editor.of_successor(shown.memory, entry, shown.today)
            await editor.edit_here(self.app, draft, self._proposed)

    def _proposed(self, op: Command | None) -> None:
        if op is not None:
            self.plane_app.say(
                f"The replacement was added to the inbox. Press {self.key('inbox')} to go to the inbox.",
                stays=True,
            )

    def on_op_done(self, message: OpDone) -> None:
        self._reopen(message.op)
        if message.done.verb in ("undo", "redo"):
            from agentplane.memory.ids import is_candidate

            self.go_to_when_read(next(filterfalse(is_candidate, message.done.ids), None))

    def on_op_failed(self, message: OpFailed) -> None:
        self._reopen(message.op)

    def _reopen(self, op: Command) -> None:
        self.view.reopen(self.names_of(op.ids))
        self.update_status()
