"""What can become of a candidate that meets another entry, tried out on the memory as it is: what would be written."""

from collections.abc import Callable
from datetime import date
from typing import Literal

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.memory import verbs
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Stamp
from agentplane.plane.layout import INBOX
from agentplane.plane.store import Plan
from agentplane.review import resolve
from agentplane.review.conflicts import Conflict
from agentplane.review.inbox import Reviewed
from agentplane.review.resolve import Choice
from agentplane.text.visible import one_line
from agentplane.tui.ops import Op


Name = Literal["supersede", "merge", "keep both", "reject", "approve", "reject the other"]


class Outlook(msgspec.Struct, frozen=True):
    """One thing that can be chosen."""

    name: Name
    writes: str
    """What the plane would hold after it."""
    op: Op | None
    """None: a text or a reason is still wanted."""
    off: str = ""
    """Why it cannot be chosen."""


def outlooks(memory: Memory, reviewed: Reviewed, conflict: Conflict) -> list[Outlook]:
    """In the order of their keys."""
    other = memory.entries.get(conflict.id)
    if other is None:
        return []
    trial = _Trial(memory, reviewed)
    candidate = reviewed.entry.id
    if other.file == INBOX:
        return [
            trial.approve(conflict.id),
            trial.rejects(candidate, "reject", f"{conflict.id} goes on waiting."),
            trial.rejects(conflict.id, "reject the other", f"{candidate} goes on waiting."),
        ]
    return [
        trial.supersede(conflict.id),
        trial.merge(conflict.id),
        trial.keep_both(conflict.id),
        trial.rejects(candidate, "reject", f"{conflict.id} stays as it is."),
    ]


class _Trial:
    def __init__(self, memory: Memory, reviewed: Reviewed) -> None:
        self.memory = memory
        self.reviewed = reviewed
        self.id = reviewed.entry.id
        self._stamp = Stamp(date.min, "", None)

    def supersede(self, target: str) -> Outlook:
        """Of the entry that is shown; where others stand in the way as well, of all of them."""
        targets: tuple[str, ...] = (target,)
        plan, why = self._approve(Choice(supersede=targets))
        if plan is None:
            wider = self._widened(target)
            if wider is not None:
                plan, why, targets = wider[0], "", wider[1]
        new = _new_id(plan) or "the candidate"
        gone = " and ".join(targets)
        verb = "becomes" if len(targets) == 1 else "become"
        writes = f"{self.id} is approved as {new}; {gone} {verb} superseded. Each links to the other."
        return Outlook("supersede", writes, Op("approve", (self.id,), choice=Choice(supersede=targets)), why)

    def merge(self, target: str) -> Outlook:
        writes = f"You make one text out of the two. It stands as {target}; {self.id} leaves the inbox."
        _, why = _tried(lambda: resolve.merged_draft(self.memory, self.id, target))
        if not why:
            _, why = _tried(lambda: verbs.check_candidate(self.memory, self.reviewed.entry))
        return Outlook("merge", writes, None, why)

    def keep_both(self, target: str) -> Outlook:
        plan, why = self._approve(Choice())
        if plan is not None:
            writes = f"{self.id} is approved as {_new_id(plan)} beside {target}, which stays as it is."
            return Outlook("keep both", writes, Op("approve", (self.id,), choice=Choice()))
        plan, why = self._approve(Choice(keep_both=True, why="a reason"))
        new = _new_id(plan) or "the candidate"
        writes = f"{self.id} is approved as {new} beside {target}, which stays as it is. Your reason is kept in the op."
        return Outlook("keep both", writes, None, why)

    def approve(self, other: str) -> Outlook:
        plan, why = self._approve(Choice())
        new = _new_id(plan) or "the candidate"
        writes = f"{self.id} is approved as {new}; {other} goes on waiting, and then conflicts with {new}."
        return Outlook("approve", writes, Op("approve", (self.id,), choice=Choice()), why)

    def rejects(self, id_: str, name: Name, rest: str) -> Outlook:
        writes = f"{id_} leaves the inbox, and is known again when it comes back. {rest}"
        _, why = _tried(lambda: verbs.reject(self.memory, [id_], None))
        return Outlook(name, writes, None, why)

    def _widened(self, first: str) -> tuple[Plan, tuple[str, ...]] | None:
        """The fewest of the entries that it met which have to go together; None: that is not enough."""
        entries = self.memory.entries
        on_shelf = [
            met.id for met in self.reviewed.conflicts if met.id in entries and entries[met.id].file != INBOX
        ]
        targets = tuple(dict.fromkeys([first, *on_shelf]))
        plan, _ = self._approve(Choice(supersede=targets))
        if plan is None:
            return None
        for name in targets[1:]:
            fewer = tuple(other for other in targets if other != name)
            found, _ = self._approve(Choice(supersede=fewer))
            if found is not None:
                plan, targets = found, fewer
        return plan, targets

    def _approve(self, choice: Choice) -> tuple[Plan | None, str]:
        return _tried(
            lambda: resolve.approve(
                self.memory, [self.id], self._stamp, choice, lambda _, __: [self.reviewed.conflicts]
            )
        )


def _tried(plan: Callable[[], object]) -> tuple[Plan | None, str]:
    """What would be written, or why it is refused."""
    try:
        found = plan()
    except AgentplaneError as error:
        return None, one_line(error.what)
    return (found if isinstance(found, Plan) else None), ""


def _new_id(plan: Plan | None) -> str | None:
    return next((edit.id for edit in plan.edits if edit.was), None) if plan else None
