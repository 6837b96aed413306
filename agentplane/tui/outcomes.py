"""What can become of a candidate that meets another entry, tried out on the memory as it is: what would be written."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Literal

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.memory import verbs
from agentplane.memory.entry import Entry
from agentplane.memory.shelf import Memory
from agentplane.memory.verbs import Stamp
from agentplane.plane.layout import INBOX
from agentplane.plane.store import Plan
from agentplane.review import confirm, resolve
from agentplane.review.conflicts import Conflict
from agentplane.review.inbox import Reviewed
from agentplane.review.resolve import Choice
from agentplane.text.visible import one_line
from agentplane.tui.ops import Op


_NONE: Mapping[str, Reviewed] = {}
Name = Literal["supersede", "merge", "keep both", "reject", "this", "other"]
"""`this`, `other`: of two candidates, that one is approved and the other one rejected."""


class Outlook(msgspec.Struct, frozen=True):
    """One thing that can be chosen."""

    name: Name
    label: str
    """What becomes of which, by their ids."""
    writes: str
    """What the plane would hold after it."""
    op: Op | None
    """None: a text or a reason is still wanted."""
    off: str = ""
    """Why it cannot be chosen."""


def outlooks(
    memory: Memory, reviewed: Reviewed, conflict: Conflict, others: Mapping[str, Reviewed] = _NONE
) -> list[Outlook]:
    """In the order of their keys. `others`: what was found about the other candidates."""
    other = memory.entries.get(conflict.id)
    if other is None:
        return []
    trial = _Trial(memory, reviewed, others)
    candidate = reviewed.entry.id
    if other.file == INBOX:
        return [
            trial.choose("this", candidate, conflict.id),
            trial.choose("other", conflict.id, candidate),
            trial.merge_two(conflict.id),
            trial.keep_two(conflict.id),
        ]
    return [
        trial.supersede(conflict.id),
        trial.merge(conflict.id),
        trial.keep_both(conflict.id),
        trial.rejects(candidate, conflict.id),
    ]


class _Trial:
    def __init__(self, memory: Memory, reviewed: Reviewed, others: Mapping[str, Reviewed] = _NONE) -> None:
        self.memory = memory
        self.reviewed = reviewed
        self.id = reviewed.entry.id
        self._found = {**others, self.id: reviewed}
        self._stamp = Stamp(date.min, "", None)

    # A candidate and an entry

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
        label = f"approve {self.id}, supersede {gone}"
        writes = f"{self.id} is approved as {new}; {gone} {verb} superseded. Each links to the other."
        op = Op("approve", (self.id,), choice=Choice(supersede=targets))
        return Outlook("supersede", label, writes, op, why)

    def merge(self, target: str) -> Outlook:
        writes = f"You write one text from both. {target} gets that text, and {self.id} leaves the inbox."
        _, why = _tried(lambda: resolve.merged_draft(self.memory, self.id, target))
        if not why:
            _, why = _tried(lambda: verbs.check_candidate(self.memory, self.reviewed.entry))
        return Outlook("merge", f"merge {self.id} into {target}", writes, None, why)

    def keep_both(self, target: str) -> Outlook:
        label = f"keep both: approve {self.id}, keep {target}"
        plan, why = self._approve(Choice())
        if plan is not None:
            writes = f"{self.id} is approved as {_new_id(plan)}. {target} stays as it is."
            return Outlook("keep both", label, writes, Op("approve", (self.id,), choice=Choice()))
        plan, why = self._approve(Choice(keep_both=True, why="a reason"))
        new = _new_id(plan) or "the candidate"
        writes = f"{self.id} is approved as {new}. {target} stays as it is. Your reason is kept in the op."
        return Outlook("keep both", label, writes, None, why)

    def rejects(self, id_: str, other: str) -> Outlook:
        writes = f"{id_} leaves the inbox, and is known again when it comes back. {other} stays as it is."
        _, why = _tried(lambda: verbs.reject(self.memory, [id_], None))
        return Outlook("reject", f"reject {id_}, keep {other}", writes, None, why)

    # Two candidates

    def choose(self, name: Name, id_: str, other: str) -> Outlook:
        choice = Choice(reject=(other,))
        plan, why = self._approve(choice, (id_,))
        new = _new_id(plan) or "the candidate"
        writes = f"{id_} is approved as {new}. {other} is rejected, and is known again when it comes back."
        op = Op("approve", (id_,), choice=choice)
        return Outlook(name, f"approve {id_}, reject {other}", writes, op, why)

    def merge_two(self, other: str) -> Outlook:
        writes = f"You write one text from both. It is approved, and {self.id} and {other} leave the inbox."
        _, why = _tried(lambda: resolve.merged_draft(self.memory, self.id, other))
        for entry in filter(None, map(self.memory.entries.get, (self.id, other))):
            why = why or _tried(partial(verbs.check_candidate, self.memory, entry))[1]
        return Outlook("merge", f"merge {self.id} and {other} into one", writes, None, why)

    def keep_two(self, other: str) -> Outlook:
        both = (self.id, other)
        label = f"keep both: approve {self.id} and {other}"
        plan, why = self._approve(Choice(), both)
        if plan is not None:
            writes = f"{self.id} and {other} are approved."
            return Outlook("keep both", label, writes, Op("approve", both, choice=Choice()))
        plan, why = self._approve(Choice(keep_both=True, why="a reason"), both)
        writes = f"{self.id} and {other} are approved. Your reason is kept in the op."
        return Outlook("keep both", label, writes, None, why)

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

    def _approve(self, choice: Choice, ids: Sequence[str] = ()) -> tuple[Plan | None, str]:
        """What would be written. A text with a flag of high severity is approved on its own, so it is not with others."""
        ids = ids or (self.id,)

        def found(entries: Sequence[Entry], _: object) -> list[tuple[Conflict, ...]]:
            known = (self._found.get(entry.id) for entry in entries)
            return [one.conflicts if one else () for one in known]

        def plan() -> Plan:
            planned = resolve.approve(self.memory, ids, self._stamp, choice, found)
            return confirm.checked(self.memory, planned, None) if len(ids) > 1 else planned

        return _tried(plan)


def _tried(plan: Callable[[], object]) -> tuple[Plan | None, str]:
    """What would be written, or why it is refused."""
    try:
        found = plan()
    except AgentplaneError as error:
        return None, one_line(error.what)
    return (found if isinstance(found, Plan) else None), ""


def _new_id(plan: Plan | None) -> str | None:
    return next((edit.id for edit in plan.edits if edit.was), None) if plan else None
