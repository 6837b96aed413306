"""What keys decide in the inbox: at once on the screen, then by the queue."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from agentplane.commands import Adopt, Approve, Command, Edit, Mask, Reject, Revert
from agentplane.text.visible import one_line
from agentplane.tui.entry_screen import EntryScreen
from agentplane.tui.list_screen import STILL_READ
from agentplane.tui.messages import OpDone, OpFailed
from agentplane.tui.ops import DOING, rejected_by
from agentplane.tui.rows import EDIT


if TYPE_CHECKING:
    from agentplane.review.inbox import Reviewed
    from agentplane.tui.bulk import Bulk
    from agentplane.tui.conflict import Decision

_DONE = {
    "approve": "approved",
    "supersede": "approved",
    "reject": "rejected",
    "merge": "merged",
    "adopt": "adopted",
    "revert": "reverted",
}


class Deciding(EntryScreen):
    """A screen with a list of what waits, as far as it decides."""

    def __init__(self) -> None:
        super().__init__()
        self._offer: str | None = None
        """A candidate that was refused for its conflicts; the next enter compares it."""
        self._asked = False
        """A bulk approval was asked for before anything was known to take; it comes when something is."""

    @property
    def reviewed(self) -> "Reviewed | None":
        shown = self.plane_app.shown
        return shown.reviewed.get(self.current or "") if shown else None

    def what_is_off(self) -> dict[str, str]:
        listing, shown = self.view.listing, self.plane_app.shown
        changing = ("edit", "edit_outside")
        if shown is None:
            return dict.fromkeys(changing, STILL_READ)
        if shown.refusal:
            return dict.fromkeys(("approve", "reject", *changing, "approve_clean"), shown.refusal)
        off: dict[str, str] = {}
        if not listing.acted:
            why = "all that is marked is hidden by the filter" if listing.marks else "nothing is chosen"
            off |= dict.fromkeys(("approve", "reject"), "" if not listing.rows else why)
        if listing.current is None:
            off |= dict.fromkeys(changing, "nothing is chosen")
        if not listing.rows and self._shown is shown:
            off["approve_clean"] = "nothing waits"
        return off

    @property
    def blocked_by(self) -> str | None:
        """The entry that blocks the candidate under the cursor. Approving starts with a comparison of the two."""
        found = self.reviewed
        if found is None or self.view.listing.marks:
            return None
        return next((met.id for met in found.conflicts if met.needs_choice), None)

    def reason(self) -> str:
        off = self.off.get("approve")
        other = self.blocked_by
        return off or (f"conflicts with {one_line(other, 30)}: press a to compare" if other else "")

    def _may_decide(self, action: str) -> bool:
        """What the plane refuses, it says itself; one that is seen before the plane was read can be decided."""
        shown = self.plane_app.shown
        if shown is None or shown.refusal is None:
            return True
        return self.may(action)

    async def action_approve(self) -> None:
        acted = self.view.listing.acted
        if not acted:
            self.plane_app.say(self.off.get("approve") or "nothing waits")
        elif self._may_decide("approve"):
            edits, candidates = self._sorted(acted)
            if len(candidates) > 1:
                await self._ask_for_bulk(candidates)
            elif candidates:
                await self._approve_one(candidates[0])
            if edits:
                await self.adopt(edits)

    async def _approve_one(self, id_: str) -> None:
        """Approve a candidate, after a comparison if it has a conflict, or a confirmation if it has a flag of high
        severity.
        """
        shown = self.plane_app.shown
        found = shown.reviewed.get(id_) if shown else None
        other = next((met.id for met in found.conflicts if met.needs_choice), None) if found else None
        if other is not None:
            await self._compare(id_, other)
        else:
            entry = shown.memory.entries.get(id_) if shown else None
            await self.confirm_first(Approve((id_,)), entry)

    def gray(self, names: Sequence[str], verb: str) -> None:
        """Gray out rows that a change is about, and move the cursor to the next one that is undecided."""
        self.view.settle(names, f"{DOING[verb]}…")

    def _sorted(self, ids: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Hand edits, which are adopted or reverted, and candidates."""
        shown = self.plane_app.shown
        by_hand = {edit.id for edit in shown.hand_edits} if shown else set()
        edits = tuple(id_ for id_ in ids if id_.startswith(EDIT) or id_ in by_hand)
        return edits, tuple(id_ for id_ in ids if id_ not in edits)

    async def _ask_for_bulk(self, candidates: Sequence[str]) -> None:
        from agentplane.tui.bulk import marked_ones

        shown, listing = self.plane_app.shown, self.view.listing
        if shown is None:
            self._ask_later()
        else:
            hidden = len(listing.marks) - len(listing.acted)
            await self._summarize(marked_ones(shown, candidates, hidden))

    async def action_approve_clean(self) -> None:
        """What is marked, or all that is clean and shown; after one summary."""
        from agentplane.tui.bulk import clean_ones

        shown, listing = self.plane_app.shown, self.view.listing
        if shown is None or self._shown is not shown:
            self._ask_later()
        elif listing.marks:
            await self.action_approve()
        elif self.may("approve_clean"):
            bulk = clean_ones(shown, [row.id for row in listing.shown if row.id not in listing.settled])
            if bulk.ids:
                await self._summarize(bulk)
            elif any(map(self._unseen, self._candidates_shown())):
                self._ask_later()
            else:
                out = ", ".join(f"{count:,} {why}" for count, why in bulk.left_out)
                self.plane_app.say(f"no candidate is clean: {out}" if out else "nothing waits")

    def _candidates_shown(self) -> list[str]:
        return [row.id for row in self.view.listing.shown if not row.id.startswith(EDIT)]

    async def _summarize(self, bulk: "Bulk") -> None:
        from agentplane.tui.summary import Summary

        await self.app.push_screen(Summary(bulk), partial(self._bulk_asked, bulk.ids))

    def _ask_later(self) -> None:
        """Once there is something to ask about, unless a key is pressed before."""
        self._asked = True
        what = "read" if self.plane_app.shown is None else "looked at"
        self.plane_app.say(f"the summary comes once they are {what}", stays=True, holds=lambda: self._asked)

    def ask_now(self) -> None:
        """More is known: if it was asked for, the summary comes, or goes on waiting."""
        if self._asked:
            self._asked = False
            if self.app.screen is self:
                self.call_later(self.action_approve_clean)

    def _bulk_asked(self, ids: tuple[str, ...], yes: bool | None) -> None:
        if yes and ids:
            self._decide(Approve(ids), ids)

    async def action_reject(self) -> None:
        acted = self.view.listing.acted
        if not acted:
            self.plane_app.say(self.off.get("reject") or "nothing waits")
            return
        if not self._may_decide("reject"):
            return
        edits = tuple(id_ for id_ in acted if id_.startswith(EDIT))
        candidates = tuple(id_ for id_ in acted if not id_.startswith(EDIT))
        if edits:
            self._decide(Revert(tuple(id_.removeprefix(EDIT) for id_ in edits)), edits)
        if candidates:
            await self._ask_why(candidates)

    async def _ask_why(self, candidates: tuple[str, ...]) -> None:
        from agentplane.tui.opening import open_field
        from agentplane.tui.reasons import Reasons

        what = candidates[0] if len(candidates) == 1 else f"{len(candidates):,} candidates"
        desk = self.plane_app.desk
        asked = Reasons(f"Reject {what}", desk.reasons if desk else ())
        await open_field(self.app, asked, partial(self._rejected, candidates))

    def _rejected(self, ids: tuple[str, ...], why: str | None) -> None:
        if why is None:
            return
        desk = self.plane_app.desk
        if why and desk is not None:
            desk.remember_reason(why)
        self._decide(Reject(ids, why or None), ids)

    def _decide(self, command: Command, names: Sequence[str]) -> None:
        """At once on the screen, then by the queue. `names` are the rows."""
        self.gray(names, command.verb)
        self.plane_app.submit(command)
        self.tell()

    def action_skip(self) -> None:
        self.view.action_step(1)

    def on_op_done(self, message: OpDone) -> None:
        done = message.done
        if done.verb in ("undo", "redo"):
            from agentplane.memory.ids import is_candidate

            self.view.reopen([*done.ids, *(f"{EDIT}{id_}" for id_ in done.ids)])
            self._wanted = next(filter(is_candidate, done.ids), None)
        elif isinstance(message.op, Mask):
            # The masked candidate is checked again and stays in its row.
            self.view.reopen(message.op.ids)
            self.view.seek(message.op.ids[0])
        elif isinstance(message.op, Adopt | Edit):
            # A candidate that was changed by hand still waits.
            self.view.reopen(message.op.ids)
            self._settle_told(f"{EDIT}{id_}" for id_ in message.op.ids)
        else:
            pairs = dict(done.pairs)
            rejected = [id_ for id_ in rejected_by(message.op) if id_ in self.view.listing.settled]
            self.view.listing.settle(rejected, _DONE["reject"])
            for id_ in message.op.ids:
                for name in (id_, f"{EDIT}{id_}"):
                    if name in self.view.listing.settled:
                        self.view.listing.settle([name], pairs.get(id_) or _DONE.get(done.verb, done.verb))
        self.view.refresh()
        self.tell()

    def _settle_told(self, ids: Any) -> None:
        listing = self.view.listing
        listing.settle([id_ for id_ in ids if id_ in listing.settled], "adopted")

    def on_op_failed(self, message: OpFailed) -> None:
        """The rows wait again, and the one that was refused is under the cursor."""
        from agentplane.review.resolve import NeedsChoice

        settled = self.view.listing.settled
        ids = (*message.op.ids, *rejected_by(message.op))
        names = [name for name in self.names_of(ids) if name in settled]
        self.view.reopen(names)
        if names:
            self.view.seek(names[0])
        first = message.op.ids[0] if message.op.ids else None
        shown = self.plane_app.shown
        found = shown.reviewed.get(first) if shown and first else None
        if found is not None and found.conflicts and isinstance(message.error, NeedsChoice):
            self._offer = first
        self.tell()

    async def heard(self, key: str) -> bool:
        """A key, before anything else gets it. Whether it was for us."""
        offer, self._offer = self._offer, None
        self._asked = False
        if offer and key == "enter":
            await self._compare(offer)
            return True
        return False

    async def _compare(self, id_: str, other: str | None = None) -> None:
        """`other` is the id of the conflict to show first."""
        shown = self.plane_app.shown
        found = shown.reviewed.get(id_) if shown else None
        if found is None or not found.conflicts:
            app = self.plane_app
            if found is None:
                app.say("it is still being checked", holds=lambda: self._unseen(id_))
            else:
                app.say("it conflicts with nothing")
            return
        from agentplane.tui.conflict import ConflictScreen

        await self.app.push_screen(ConflictScreen(found, other), self._compared)

    def _unseen(self, id_: str) -> bool:
        shown = self.plane_app.shown
        found = shown.reviewed.get(id_) if shown else None
        return found is None or not found.checked

    def _compared(self, decision: "Decision | None") -> None:
        if decision is not None:
            self.carry_out(decision.op)
