"""The first screen, with the candidates that wait for a decision.

A pane next to the list shows the facts that a person needs to decide.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from agentplane.review import streak
from agentplane.tui import actions
from agentplane.tui.backend.entries import inbox_rows
from agentplane.tui.backend.entries.inbox_rows import EDIT
from agentplane.tui.backend.list_state import Row
from agentplane.tui.backend.outcome_text import DOING
from agentplane.tui.messages import CandidatesChecked, OpDone, OpFailed
from agentplane.tui.screens import postponing
from agentplane.tui.screens.background import run_each
from agentplane.tui.screens.entry_list_screen import EntryScreen
from agentplane.tui.screens.inbox.decisions import Decisions


if TYPE_CHECKING:
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.screens.entry.pane import Detail

NO_CONFLICT = "No candidate in this list has a conflict."


class InboxScreen(EntryScreen):
    WHERE = "inbox"
    HINT = "words   kind:fact   tool:codex   is:conflict   older:7d   -tag:ui   (tab completes)"
    QUERY = "inbox"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("inbox")]

    def __init__(self) -> None:
        super().__init__()
        self._by: inbox_rows.By = "run"
        self._place_of: dict[str, int] = {}
        self._shows_folded = self._rows_have_folded = False
        self._has_opened = False
        """True if a candidate was opened since the plane was read. Then the note about approvals is outdated."""
        self.decisions = Decisions(self)

    # The rows

    def show_first(self) -> None:
        glimpse = self.plane_app.glimpse
        if glimpse.get("rows"):
            rows_ = [Row(*values) for values in glimpse["rows"]]
            self.view.replace(rows_, has_more=bool(glimpse.get("goes_on")))

    @property
    def _place(self) -> inbox_rows.Place:
        return inbox_rows.Place(self._by, datetime.now(UTC), self.plane_app.plain, self._lists_folded)

    @property
    def _lists_folded(self) -> bool:
        """True if folded candidates are listed. A filter searches them too."""
        return self._shows_folded or bool(self._words)

    def rows_of(self, shown: "PlaneView") -> list[Row]:
        place = self._place
        self._rows_have_folded = place.folded
        return inbox_rows.rows(shown, place)

    def _filter(self, words: str) -> None:
        if self._rows_have_folded != self._lists_folded:
            self.read(force=True)
        super()._filter(words)

    def rows_replaced(self) -> None:
        self._has_opened = False
        self._place_of = {row.id: place for place, row in enumerate(self._rows)}
        # Both use the same list, so that a changed row is replaced in both.
        self.view.listing.rows = self._rows
        self._update(self.view.in_sight)
        self._check_visible_first()
        self.decisions.show_requested_summary()

    def empty_text(self) -> str:
        fresh = self._shown is not None and not self._shown.shelf
        folded = self._shown.attention.summary() if self._shown else ""
        if folded and not self._words:
            return f"Nothing needs your attention today. {folded}.\nPress {self.key('folded')} to show the folded candidates."
        return self.no_hit() if self._words else self._first_start() if fresh else self._nothing_left()

    def _first_start(self) -> str:
        key = self.key
        return (
            "Nothing to review. Coding tools propose memories, and you review the proposals here.\n"
            f"Press {key('tools')} to connect a tool, or {key('new')} to write the first candidate yourself.\n"
            f"Then press {key('approve')} to approve, {key('reject')} to reject and {key('undo')} to undo. "
            f"Press {key('help')} to see all keys."
        )

    def _nothing_left(self) -> str:
        key = self.key
        return (
            "Nothing to review.\n"
            f"Press {key('shelf')} to see the approved entries, {key('new')} to write a new candidate, "
            f"or {key('undo')} to undo your last change."
        )

    def on_candidates_checked(self, message: CandidatesChecked) -> None:
        self._update(message.ids)
        if self._words and self._filter_depends_on_checks:
            self._filter(self._words)
        if self.current in message.ids:
            self.show_detail()
        self.update_status()
        self.decisions.show_requested_summary()

    @property
    def _filter_depends_on_checks(self) -> bool:
        """True if a check of a candidate can change which rows the filter shows, or their order."""
        return self._queries is not None and self._queries.query.needs_states

    def _update(self, ids: Sequence[str]) -> None:
        """Update the rows of candidates that were reviewed after the rows were made."""
        shown, listing, place = self._shown, self.view.listing, self._place
        if shown is None:
            return
        edited = {edit.id for edit in shown.hand_edits}
        for id_ in ids:
            reviewed, at = shown.reviewed.get(id_), self._place_of.get(id_)
            if reviewed is None or at is None:
                continue
            folded = shown.attention.folded.get(id_)
            entry, by_hand = reviewed.entry, id_ in edited
            new = (
                inbox_rows.folded_row(entry, folded, reviewed, place, edited=by_hand)
                if folded
                else inbox_rows.row(entry, reviewed, place, edited=by_hand)
            )
            self._rows[at] = new
            line = listing.place_of(id_)
            if line is not None:
                listing.lines[line] = new
        self.view.refresh()

    # Cursor

    def cursor_rested(self) -> None:
        self._check_visible_first()
        self.show_detail()

    def _check_visible_first(self) -> None:
        if self.plane_app.shown is not None:
            self.plane_app.in_sight((*([self.current] if self.current else []), *self.view.in_sight))

    def idle_status(self) -> str:
        shown = self._shown
        if shown and shown.streak and not self._has_opened:
            return shown.streak
        folded = (
            f"{shown.attention.summary()}, {self.key('folded')} to show"
            if shown and shown.attention.folded
            else ""
        )
        grouped = f"grouped by {self._by}" if self.current else ""
        return " · ".join(filter(None, (grouped, folded, self._dates())))

    def _dates(self) -> str:
        """Return a text with the number of approved entries that have expired or soon will."""
        states = [one.state for one in self._shown.expiring.values()] if self._shown else []
        expired, soon = states.count("expired"), states.count("soon")
        parts = [f"{expired:,} expired"] if expired else []
        parts += [f"{soon:,} {'expires' if soon == 1 else 'expire'} soon"] if soon else []
        return f"{', '.join(parts)} (press {self.key('shelf')} to see them)" if parts else ""

    @property
    def action_names(self) -> dict[str, str]:
        names = {"leave": "quit"}
        if self.current and self.current.startswith(EDIT):
            names |= {"approve": "accept", "reject": "discard"}
        if self.view.listing.marks:
            names |= {"approve_clean": "approve selected"}
        elif self.decisions.blocked_by:
            names |= {"approve": "compare"}
        return names

    # Opening and grouping

    async def open_row(self, id_: str) -> None:
        shown = self.plane_app.shown
        self._note_opened()
        reviewed = shown.reviewed.get(id_) if shown else None
        if reviewed is not None and reviewed.conflicts:
            await self.decisions.compare(id_)
        else:
            await super().open_row(id_)

    def _note_opened(self) -> None:
        """End the streak of approvals without opening a candidate."""
        model = self.plane_app.model
        if model is not None:
            self._has_opened = True
            work = partial(streak.note_opened, model.plane.layout, model.plane.origin)
            run_each(self, work, "opened")
            self.update_status()

    def action_folded(self) -> None:
        """Show or hide the folded candidates."""
        if self.may("folded"):
            self._shows_folded = not self._shows_folded
            self.read(force=True)

    def action_group(self) -> None:
        self._by = "kind" if self._by == "run" else "run"
        self.read(force=True)
        self.update_status()

    async def on_detail_compare(self, message: "Detail.Compare") -> None:
        await self.decisions.compare(message.id)

    async def on_detail_follow(self, message: "Detail.Follow") -> None:
        """Go to a linked entry, in the inbox or in memory."""
        if not self.view.seek(message.id):
            await self.plane_app.navigator.go_to_entry(message.id)

    # Deciding

    def what_is_off(self) -> dict[str, str]:
        return self.decisions.off()

    def reason(self) -> str:
        return self.decisions.reason()

    def gray(self, names: Sequence[str], verb: str) -> None:
        """Gray out the rows of a change, and move the cursor to the next undecided row."""
        self.view.settle(names, f"{DOING[verb]}…")

    async def action_approve(self) -> None:
        await self.decisions.approve()

    async def action_approve_clean(self) -> None:
        await self.decisions.approve_clean()

    async def action_reject(self) -> None:
        await self.decisions.reject()

    async def action_send_back(self) -> None:
        if self.may("send_back"):
            await postponing.send_back(self, self.target_entries)

    async def action_snooze(self) -> None:
        model = self.plane_app.model
        if self.may("snooze") and model is not None:
            await postponing.snooze(self, self.target_entries, model.plane.today())

    def action_next_conflict(self) -> None:
        """Move the cursor to the next candidate that needs a choice."""
        if not self.view.seek_state("conflict"):
            reviewed = self._shown.reviewed if self._shown else {}
            unchecked = self._shown is None or any(
                id_ not in reviewed or not reviewed[id_].checked for id_ in self._place_of if EDIT not in id_
            )
            self.say(
                "No conflict has been found yet. Candidates are still being checked."
                if unchecked
                else NO_CONFLICT
            )

    def on_op_done(self, message: OpDone) -> None:
        self.decisions.done(message)

    def on_op_failed(self, message: OpFailed) -> None:
        self.decisions.failed(message)

    async def before_key(self, key: str) -> bool:
        return await self.decisions.before_key(key)
