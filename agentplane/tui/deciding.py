"""What keys decide in the inbox: at once on the screen, then by the queue."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from agentplane.plane.layout import INBOX
from agentplane.text.visible import one_line
from agentplane.tui.list_view import MemoryList
from agentplane.tui.messages import OpDone, OpFailed
from agentplane.tui.ops import Op, Verb
from agentplane.tui.rows import EDIT


if TYPE_CHECKING:
    from agentplane.review.inbox import Reviewed
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.conflict import Decision
    from agentplane.tui.desk import Shown
    from agentplane.tui.editing import Draft

_WORDS: Mapping[str, str] = {
    "approve": "approving…",
    "adopt": "adopting…",
    "reject": "rejecting…",
    "revert": "reverting…",
    "merge": "merging…",
}
_DONE = {
    "approve": "approved",
    "supersede": "approved",
    "reject": "rejected",
    "merge": "merged",
    "adopt": "adopted",
    "revert": "reverted",
}


class Deciding(Screen[None]):
    """A screen with a list of what waits, as far as it decides."""

    def __init__(self) -> None:
        super().__init__()
        self.off: Mapping[str, str] = {}
        """Actions that cannot be done now, and why."""
        self._offer: str | None = None
        """A candidate that was refused for its conflicts; the next enter compares it."""
        self._wanted: str | None = None
        """A row to go to once it is there: what an undo brought back."""

    def tell(self) -> None:
        """The lines at the foot, as things are now."""

    @property
    def plane_app(self) -> "PlaneApp":
        return self.app  # type: ignore[return-value]

    @property
    def view(self) -> MemoryList:
        return self.query_one(MemoryList)

    @property
    def current(self) -> str | None:
        here = self.view.listing.current
        return here.id if here else None

    @property
    def reviewed(self) -> "Reviewed | None":
        shown = self.plane_app.shown
        return shown.reviewed.get(self.current or "") if shown else None

    def _what_is_off(self, shown: "Shown | None") -> dict[str, str]:
        listing = self.view.listing
        deciding = ("approve", "reject", "edit", "edit_outside", "approve_clean")
        if shown is None:
            return dict.fromkeys(deciding[2:], "the plane is still being read")
        if shown.refusal:
            return dict.fromkeys(deciding, shown.refusal)
        off: dict[str, str] = {}
        if not listing.acted:
            why = "all that is marked is hidden by the filter" if listing.marks else "nothing is chosen"
            off |= dict.fromkeys(("approve", "reject"), "" if not listing.rows else why)
        if listing.current is None:
            off |= dict.fromkeys(("edit", "edit_outside"), "nothing is chosen")
        found = self.reviewed
        if found is not None and not listing.marks:
            entries = shown.memory.entries
            grave = (
                met.id
                for met in found.conflicts
                if met.weight != "warns" and met.kind != "overlap" and entries[met.id].file != INBOX
            )
            if other := next(grave, None):
                off["approve"] = f"conflicts with {one_line(other, 30)}: enter compares"
        if not listing.rows:
            off["approve_clean"] = "nothing waits"
        return off

    def _may(self, action: str) -> bool:
        """Whether anything can be decided now; where not, says why. What the plane refuses, it says itself."""
        shown = self.plane_app.shown
        # One that is seen before the plane was read can be decided: the queue waits until it was.
        if action not in self.off or (shown is not None and shown.refusal is None):
            return True
        self.plane_app.say(self.off.get(action) or "not now")
        return False

    def action_approve(self) -> None:
        acted = self.view.listing.acted
        if not acted:
            self.plane_app.say(self.off.get("approve") or "nothing waits")
        elif self._may("approve"):
            edits, candidates = self._sorted(acted)
            if len(candidates) > 1:
                self._ask_for_bulk(candidates)
            elif candidates:
                self._decide("approve", candidates)
            if edits:
                self._decide("adopt", edits)

    def _sorted(self, ids: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Hand edits, which are adopted or reverted, and candidates."""
        shown = self.plane_app.shown
        by_hand = {edit.id for edit in shown.hand_edits} if shown else set()
        edits = tuple(id_ for id_ in ids if id_.startswith(EDIT) or id_ in by_hand)
        return edits, tuple(id_ for id_ in ids if id_ not in edits)

    def _ask_for_bulk(self, candidates: Sequence[str]) -> None:
        from agentplane.tui.bulk import marked_ones
        from agentplane.tui.summary import Summary

        listing = self.view.listing
        shown = self.plane_app.shown
        if shown is None:
            self.plane_app.say("the plane is still being read")
            return
        bulk = marked_ones(shown, candidates, len(listing.marks) - len(listing.acted))
        self.app.push_screen(Summary(bulk), partial(self._bulk_asked, bulk.ids))

    def action_approve_clean(self) -> None:
        """What is marked, or all that is clean and shown; after one summary."""
        from agentplane.tui.bulk import clean_ones
        from agentplane.tui.summary import Summary

        shown = self.plane_app.shown
        if not self._may("approve_clean") or shown is None:
            return
        listing = self.view.listing
        if listing.marks:
            self.action_approve()
            return
        shown_ids = [row.id for row in listing.shown if row.id not in listing.settled]
        bulk = clean_ones(shown, shown_ids)
        if not bulk.ids and bulk.left_out and not any("yet" in why for _, why in bulk.left_out):
            self.plane_app.say(
                "no candidate is clean: " + ", ".join(f"{n:,} {why}" for n, why in bulk.left_out)
            )
            return
        self.app.push_screen(Summary(bulk), partial(self._bulk_asked, bulk.ids))

    def _bulk_asked(self, ids: tuple[str, ...], yes: bool | None) -> None:
        if yes and ids:
            self._decide("approve", ids)

    def action_reject(self) -> None:
        from agentplane.tui.reasons import Reasons

        acted = self.view.listing.acted
        if not acted:
            self.plane_app.say(self.off.get("reject") or "nothing waits")
            return
        if not self._may("reject"):
            return
        edits = tuple(id_ for id_ in acted if id_.startswith(EDIT))
        candidates = tuple(id_ for id_ in acted if not id_.startswith(EDIT))
        if edits:
            self._decide("revert", edits)
        if candidates:
            what = candidates[0] if len(candidates) == 1 else f"{len(candidates):,} candidates"
            desk = self.plane_app.desk
            self.app.push_screen(
                Reasons(f"Reject {what}", desk.reasons if desk else ()), partial(self._rejected, candidates)
            )

    def _rejected(self, ids: tuple[str, ...], why: str | None) -> None:
        if why is None:
            return
        desk = self.plane_app.desk
        if why and desk is not None:
            desk.remember_reason(why)
        self._decide("reject", ids, why=why or None)

    def _decide(self, verb: Verb, ids: Sequence[str], **more: Any) -> None:
        """At once on the screen, then by the queue."""
        self.view.settle(ids, _WORDS.get(verb, f"{verb}…"))
        self.plane_app.submit(Op(verb, tuple(id_.removeprefix(EDIT) for id_ in ids), **more))
        self.tell()

    def action_edit(self) -> None:
        from agentplane.tui.editing import edit_here

        self._edit(edit_here)

    def action_edit_outside(self) -> None:
        from agentplane.tui.editing import edit_outside

        self._edit(edit_outside)

    def _edit(self, way: "Callable[[App[Any], Draft], None]") -> None:
        from agentplane.tui.editing import of_entry

        shown = self.plane_app.shown
        if shown is None or not self._may("edit"):
            return
        entry = shown.memory.entries.get((self.current or "").removeprefix(EDIT))
        if entry is None:
            self.plane_app.say(self.off.get("edit") or "there is no text to change")
        else:
            way(self.app, of_entry(shown.memory, entry))

    def action_skip(self) -> None:
        self.view.action_step(1)

    def on_op_done(self, message: OpDone) -> None:
        done = message.done
        if done.verb in ("undo", "redo"):
            self.view.reopen([*done.ids, *(f"{EDIT}{id_}" for id_ in done.ids)])
            self._wanted = next((id_ for id_ in done.ids if id_.startswith("CAND-")), None)
        elif message.op.verb in ("adopt", "edit"):
            # A candidate that was changed by hand still waits.
            self.view.reopen(message.op.ids)
            self._settle_told(f"{EDIT}{id_}" for id_ in message.op.ids)
        else:
            pairs = dict(done.pairs)
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
        names = [
            name
            for id_ in message.op.ids
            for name in (id_, f"{EDIT}{id_}")
            if name in self.view.listing.settled
        ]
        self.view.reopen(names)
        if names:
            self.view.seek(names[0])
        first = message.op.ids[0] if message.op.ids else None
        shown = self.plane_app.shown
        found = shown.reviewed.get(first) if shown and first else None
        if message.op.verb == "approve" and found is not None and found.conflicts:
            self._offer = first
        self.tell()

    def heard(self, key: str) -> bool:
        """A key, before anything else gets it. Whether it was for us."""
        offer, self._offer = self._offer, None
        if offer and key == "enter":
            self._compare(offer)
            return True
        return False

    def _compare(self, id_: str) -> None:
        shown = self.plane_app.shown
        found = shown.reviewed.get(id_) if shown else None
        if found is None or not found.conflicts:
            self.plane_app.say(
                "it is still being looked at" if found is None else "it conflicts with nothing"
            )
            return
        from agentplane.tui.conflict import ConflictScreen

        self.app.push_screen(ConflictScreen(found), self._compared)

    def _compared(self, decision: "Decision | None") -> None:
        if decision is not None:
            op = decision.op
            self.view.settle(op.ids, _WORDS.get(op.verb, f"{op.verb}…"))
            self.plane_app.submit(op)
            self.tell()
