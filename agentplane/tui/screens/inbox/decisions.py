"""Decisions about candidates and manual edits.

The rows change at once, and then the queue runs the command.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from agentplane.commands import Adopt, Approve, Command, Edit, Mask, Reject, Revert, SendBack, Snooze, Tag
from agentplane.text.visible import one_line
from agentplane.tui.backend.entries.inbox_rows import EDIT
from agentplane.tui.backend.outcome_text import rejected_by
from agentplane.tui.messages import OpDone, OpFailed
from agentplane.tui.screens.list_screen import NO_ROW, SELECTION_HIDDEN, STILL_READ


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.review.inbox import Reviewed
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.entries.bulk_plan import Bulk
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.screens.conflict.screen import Decision
    from agentplane.tui.widgets.row_list import RowList

_DONE = {
    "approve": "approved",
    "supersede": "approved",
    "reject": "rejected",
    "merge": "merged",
    "adopt": "accepted",
    "revert": "discarded",
}

NOTHING = "Nothing to review"


class CandidateScreen(Protocol):
    """The parts of a screen with candidates that `Decisions` uses."""

    @property
    def plane_app(self) -> "PlaneApp": ...

    @property
    def is_active(self) -> bool:
        """True if no other screen covers this screen."""
        ...

    @property
    def view(self) -> "RowList":
        """The list, with the cursor and the selected rows."""
        ...

    @property
    def current(self) -> str | None:
        """The id of the row under the cursor."""
        ...

    @property
    def off(self) -> Mapping[str, str]:
        """The ids of actions that are not available now, each with the reason."""
        ...

    @property
    def rows_view(self) -> "PlaneView | None":
        """The view of the plane that the rows were made from."""
        ...

    def may(self, action: str) -> bool:
        """Return True if the action is available. If not, say why."""
        ...

    def update_status(self) -> None:
        """Update the two lines at the foot."""
        ...

    def gray(self, names: Sequence[str], verb: str) -> None:
        """Gray out the rows of a change, and move the cursor on."""
        ...

    def carry_out(self, op: Command, *, keep_selection: bool = False) -> None:
        """Gray out the rows of a command, and submit it. Clear the selection that the command was made for."""
        ...

    def names_of(self, ids: Iterable[str]) -> list[str]:
        """Return the names of all rows that may show these entries."""
        ...

    def go_to_when_read(self, id_: str | None) -> None:
        """Put the cursor on a row once the plane has been read again."""
        ...

    def confirm_first(self, op: Command, entry: "Entry | None") -> Awaitable[None]:
        """Carry out a command that approves one text. If the text has a flag of high severity, ask first."""
        ...

    def adopt(self, edits: Sequence[str]) -> Awaitable[None]:
        """Accept manual edits."""
        ...

    def call_later(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        """Call a function after the current message has been handled."""
        ...


class Decisions:
    """The decisions of a screen with candidates, from the key to the result in the rows."""

    def __init__(self, screen: CandidateScreen) -> None:
        self._screen = screen
        self._refused_id: str | None = None
        """A candidate that was refused because of its conflicts. Enter as the next key opens the comparison.
        """
        self._summary_requested = False
        """True if a person asked to approve all candidates before they were known.

        The summary comes once they are.
        """

    @property
    def _app(self) -> "PlaneApp":
        return self._screen.plane_app

    @property
    def _shown(self) -> "PlaneView | None":
        return self._app.shown

    def _reviewed(self, id_: str | None) -> "Reviewed | None":
        shown = self._shown
        return shown.reviewed.get(id_ or "") if shown else None

    # Availability

    def off(self) -> dict[str, str]:
        """Return the actions that are not available now, each with the reason."""
        listing, shown = self._screen.view.listing, self._shown
        changing, postponing = ("edit", "edit_outside"), ("send_back", "snooze", "tag")
        if shown is None:
            return dict.fromkeys((*changing, *postponing), STILL_READ)
        if shown.refusal:
            return dict.fromkeys(
                ("approve", "reject", *postponing, *changing, "approve_clean"), shown.refusal
            )
        off: dict[str, str] = {}
        if not listing.target_ids:
            why = SELECTION_HIDDEN if listing.marks else NO_ROW
            off |= dict.fromkeys(("approve", "reject", *postponing), "" if not listing.rows else why)
        elif not all(id_ in shown.memory.entries for id_ in listing.target_ids):
            off |= dict.fromkeys(postponing, "the selection contains a manual edit")
        if not shown.attention.folded:
            off["folded"] = "no candidates are folded"
        if listing.current is None:
            off |= dict.fromkeys(changing, NO_ROW)
        if not listing.rows and self._screen.rows_view is shown:
            off["approve_clean"] = NOTHING
        return off

    @property
    def blocked_by(self) -> str | None:
        """The id of the entry that blocks the candidate under the cursor.

        Approving the candidate starts with a comparison of the two.
        """
        reviewed = self._reviewed(self._screen.current)
        if reviewed is None or self._screen.view.listing.marks:
            return None
        return next((conflict.id for conflict in reviewed.conflicts if conflict.needs_choice), None)

    def reason(self) -> str:
        """Return why the row under the cursor cannot simply be approved, or an empty text."""
        off = self._screen.off.get("approve")
        other = self.blocked_by
        return off or (
            f"conflicts with {one_line(other, 30)} ({self._app.keys_wanted.key('approve')} to compare)"
            if other
            else ""
        )

    def _may_decide(self, action: str) -> bool:
        """Return True if a person may decide here.

        A candidate can be decided before the plane was read. If the plane then refuses the decision, it says
        why.
        """
        shown = self._shown
        if shown is None or shown.refusal is None:
            return True
        return self._screen.may(action)

    # Approving

    async def approve(self) -> None:
        """Approve the candidates, and accept the manual edits, that are selected or under the cursor."""
        target_ids = self._screen.view.listing.target_ids
        if not target_ids:
            self._app.say(self._screen.off.get("approve") or NOTHING)
        elif self._may_decide("approve"):
            edits, candidates = self._edits_and_candidates(target_ids)
            if len(candidates) > 1:
                await self._ask_for_bulk(candidates)
            elif candidates:
                await self._approve_one(candidates[0])
            if edits:
                await self._screen.adopt(edits)

    async def _approve_one(self, id_: str) -> None:
        """Approve a candidate.

        A conflict needs a comparison first. A flag of high severity needs a confirmation first.
        """
        shown, reviewed = self._shown, self._reviewed(id_)
        other = (
            next((conflict.id for conflict in reviewed.conflicts if conflict.needs_choice), None)
            if reviewed
            else None
        )
        if other is not None:
            await self.compare(id_, other)
        else:
            entry = shown.memory.entries.get(id_) if shown else None
            await self._screen.confirm_first(Approve((id_,)), entry)

    def _edits_and_candidates(self, ids: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the manual edits among these rows, and then the candidates."""
        shown = self._shown
        by_hand = {edit.id for edit in shown.hand_edits} if shown else set()
        edits = tuple(id_ for id_ in ids if id_.startswith(EDIT) or id_ in by_hand)
        return edits, tuple(id_ for id_ in ids if id_ not in edits)

    async def _ask_for_bulk(self, candidates: Sequence[str]) -> None:
        from agentplane.tui.backend.entries.bulk_plan import marked_ones

        shown, listing = self._shown, self._screen.view.listing
        if shown is None:
            self._ask_later()
        else:
            hidden = len(listing.marks) - len(listing.target_ids)
            await self._summarize(marked_ones(shown, candidates, hidden))

    async def approve_clean(self) -> None:
        """Approve the selected candidates, or else every ready candidate in the list, after one summary."""
        from agentplane.tui.backend.entries.bulk_plan import clean_ones

        shown, listing = self._shown, self._screen.view.listing
        if shown is None or self._screen.rows_view is not shown:
            self._ask_later()
        elif listing.marks:
            await self.approve()
        elif self._screen.may("approve_clean"):
            bulk = clean_ones(shown, [row.id for row in listing.shown if row.id not in listing.settled])
            if bulk.ids:
                await self._summarize(bulk)
            elif any(map(self._is_unchecked, self._candidates_shown())):
                self._ask_later()
            else:
                left_out = ", ".join(f"{count:,} {why}" for count, why in bulk.left_out)
                self._app.say(f"No candidate is ready to approve: {left_out}" if left_out else NOTHING)

    def _candidates_shown(self) -> list[str]:
        return [row.id for row in self._screen.view.listing.shown if not row.id.startswith(EDIT)]

    async def _summarize(self, bulk: "Bulk") -> None:
        from agentplane.tui.widgets.modals.confirm_bulk_modal import Summary

        await self._app.push_screen(Summary(bulk), partial(self._bulk_answered, bulk.ids))

    def _ask_later(self) -> None:
        """Show the summary once the candidates are known, unless a key is pressed before."""
        self._summary_requested = True
        what = "loaded" if self._shown is None else "checked"
        self._app.say(
            f"The approval summary opens as soon as all candidates are {what}.",
            stays=True,
            show_while=lambda: self._summary_requested,
        )

    def show_requested_summary(self) -> None:
        """Show the summary that a person asked for, or keep waiting for candidates."""
        if self._summary_requested:
            self._summary_requested = False
            if self._screen.is_active:
                self._screen.call_later(self.approve_clean)

    def _bulk_answered(self, ids: tuple[str, ...], yes: bool | None) -> None:
        if yes and ids:
            self._decide(Approve(ids), ids)

    # Rejecting

    async def reject(self) -> None:
        """Reject the candidates, and discard the manual edits, that are selected or under the cursor."""
        target_ids = self._screen.view.listing.target_ids
        if not target_ids:
            self._app.say(self._screen.off.get("reject") or NOTHING)
            return
        if not self._may_decide("reject"):
            return
        edits = tuple(id_ for id_ in target_ids if id_.startswith(EDIT))
        candidates = tuple(id_ for id_ in target_ids if not id_.startswith(EDIT))
        if edits:
            self._decide(Revert(tuple(id_.removeprefix(EDIT) for id_ in edits)), edits)
        if candidates:
            await self._ask_why(candidates)

    async def _ask_why(self, candidates: tuple[str, ...]) -> None:
        from agentplane.tui.textual_fixes.push_and_focus import open_field
        from agentplane.tui.widgets.modals.rejection_modal import RejectionDialog

        what = candidates[0] if len(candidates) == 1 else f"{len(candidates):,} candidates"
        model = self._app.model
        dialog = RejectionDialog(f"Reject {what}", model.reasons if model else ())
        await open_field(self._app, dialog, partial(self._rejected, candidates))

    def _rejected(self, ids: tuple[str, ...], why: str | None) -> None:
        if why is None:
            return
        model = self._app.model
        if why and model is not None:
            model.remember_reason(why)
        self._decide(Reject(ids, why or None), ids)

    def _decide(self, command: Command, names: Sequence[str]) -> None:
        """Gray out the rows with these names, and submit the command."""
        self._screen.gray(names, command.verb)
        self._screen.view.unmark()
        self._app.submit(command)
        self._screen.update_status()

    # Results

    def done(self, message: OpDone) -> None:
        """Show the result of a command in its rows."""
        done, view = message.done, self._screen.view
        if done.verb in ("undo", "redo"):
            from agentplane.memory.ids import is_candidate

            view.reopen([*done.ids, *(f"{EDIT}{id_}" for id_ in done.ids)])
            self._screen.go_to_when_read(next(filter(is_candidate, done.ids), None))
        elif isinstance(message.op, SendBack | Snooze | Tag):
            # The candidate still waits. The next reading folds it, or shows its new tags.
            view.reopen(message.op.ids)
        elif done.verb == "propose":
            self._screen.go_to_when_read(next(iter(done.ids), None))
        elif isinstance(message.op, Mask):
            # The masked candidate is checked again and stays in its row.
            view.reopen(message.op.ids)
            view.seek(message.op.ids[0])
        elif isinstance(message.op, Adopt | Edit):
            # A candidate with a manual edit still waits.
            view.reopen(message.op.ids)
            self._settle([f"{EDIT}{id_}" for id_ in message.op.ids], _DONE["adopt"])
        else:
            pairs = dict(done.pairs)
            self._settle(rejected_by(message.op), _DONE["reject"])
            for id_ in message.op.ids:
                self._settle([id_, f"{EDIT}{id_}"], pairs.get(id_) or _DONE.get(done.verb, done.verb))
        view.refresh()
        self._screen.update_status()

    def _settle(self, names: Iterable[str], word: str) -> None:
        """Replace the word next to each of these rows that is grayed out."""
        listing = self._screen.view.listing
        listing.settle([name for name in names if name in listing.settled], word)

    def failed(self, message: OpFailed) -> None:
        """Show the rows of a refused command as undecided, with the cursor on the first one."""
        from agentplane.review.conflicts.resolve import NeedsChoice

        view = self._screen.view
        ids = (*message.op.ids, *rejected_by(message.op))
        names = [name for name in self._screen.names_of(ids) if name in view.listing.settled]
        view.reopen(names)
        if names:
            view.seek(names[0])
        first = message.op.ids[0] if message.op.ids else None
        reviewed = self._reviewed(first)
        if reviewed is not None and reviewed.conflicts and isinstance(message.error, NeedsChoice):
            self._refused_id = first
        self._screen.update_status()

    # Comparing

    async def before_key(self, key: str) -> bool:
        """Compare the refused candidate if the key is enter.

        Every key cancels a waiting summary or comparison.
        """
        refused_id, self._refused_id = self._refused_id, None
        self._summary_requested = False
        if refused_id and key == "enter":
            await self.compare(refused_id)
            return True
        return False

    async def compare(self, id_: str, other: str | None = None) -> None:
        """Compare a candidate with its conflicts. `other` is the id of the conflict to show first."""
        reviewed = self._reviewed(id_)
        if reviewed is None:
            self._app.say("This candidate is still being checked", show_while=lambda: self._is_unchecked(id_))
        elif not reviewed.conflicts:
            self._app.say("This candidate has no conflicts")
        else:
            from agentplane.tui.screens.conflict.screen import ConflictScreen

            await self._app.push_screen(ConflictScreen(reviewed, other), self._compared)

    def _is_unchecked(self, id_: str) -> bool:
        reviewed = self._reviewed(id_)
        return reviewed is None or not reviewed.checked

    def _compared(self, decision: "Decision | None") -> None:
        if decision is not None:
            # The decision is about the row under the cursor, and not about other selected rows.
            self._screen.carry_out(decision.op, keep_selection=True)
