"""The choices for a candidate with a conflict. Each choice is tried on the current memory to preview its changes."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Literal

import msgspec

from agentplane.commands import Approve, Command
from agentplane.errors import AgentplaneError
from agentplane.memory import operations
from agentplane.memory.entry import Entry
from agentplane.memory.operations import Stamp
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Plan
from agentplane.review import confirm
from agentplane.review.conflicts import resolve
from agentplane.review.conflicts.conflicts import Conflict
from agentplane.review.conflicts.resolve import Choice
from agentplane.review.inbox import Reviewed
from agentplane.text.visible import one_line


_NONE: Mapping[str, Reviewed] = {}
_UNCHANGED = {True: "doesn't change", False: "don't change"}
Name = Literal["supersede", "merge", "keep both", "reject", "this", "other"]
"""`this` and `other` are for two candidates. They name the candidate to approve, and the second one is rejected."""


class ChoicePreview(msgspec.Struct, frozen=True):
    """A choice with a preview of its changes."""

    name: Name
    label: str
    """The result for each side, by id."""
    writes: str
    """The memory after it, in a sentence or two."""
    op: Command | None
    """None if the person must write a text or a reason first."""
    off: str = ""
    """Why it is not available, or empty."""


def previews(
    memory: Memory, reviewed: Reviewed, conflict: Conflict, others: Mapping[str, Reviewed] = _NONE
) -> list[ChoicePreview]:
    """Return the choices in the order of their keys. The first one approves the candidate, and the last one rejects it.

    `others` are the check results of the other candidates.
    """
    other = memory.entries.get(conflict.id)
    if other is None:
        return []
    trial = _Trial(memory, reviewed, others)
    candidate = reviewed.entry.id
    if other.file == INBOX:
        return [
            trial.choose("this", candidate, conflict.id),
            trial.merge_two(conflict.id),
            trial.keep_two(conflict.id),
            trial.choose("other", conflict.id, candidate),
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
        self._reviews = {**others, self.id: reviewed}
        self._stamp = Stamp(date.min, "", None)

    # A candidate and an entry

    def supersede(self, target: str) -> ChoicePreview:
        """Return the choice that supersedes the shown entry, together with other entries if they block it too."""
        targets: tuple[str, ...] = (target,)
        plan, why = self._approve(Choice(supersede=targets))
        if plan is None:
            wider = self._widened(target)
            if wider is not None:
                plan, why, targets = wider[0], "", wider[1]
        new = _new_id(plan) or "the candidate"
        superseded = " and ".join(targets)
        verb = "is" if len(targets) == 1 else "are"
        label = f"approve {self.id}, supersede {superseded}"
        writes = f"{self.id} is approved as {new}, and {superseded} {verb} superseded. The entries link to each other."
        op = Approve((self.id,), Choice(supersede=targets))
        return ChoicePreview("supersede", label, writes, op, why)

    @property
    def _draft(self) -> str:
        return f"You'll edit a draft with the statement from {self.id} and both rationales."

    def merge(self, target: str) -> ChoicePreview:
        writes = f"{self._draft} {target} gets the edited text, and {self.id} leaves the inbox."
        _, why = _tried(lambda: resolve.merged_draft(self.memory, self.id, target))
        if not why:
            _, why = _tried(lambda: operations.check_candidate(self.memory, self.reviewed.entry))
        return ChoicePreview("merge", f"merge {self.id} into {target}", writes, None, why)

    def keep_both(self, target: str) -> ChoicePreview:
        staying = self._staying((self.id,), target)
        stay = f"{' and '.join(staying)} {_UNCHANGED[len(staying) == 1]}."
        label = (
            f"keep {'both' if len(staying) == 1 else 'all'}: approve {self.id}, keep {' and '.join(staying)}"
        )
        plan, why = self._approve(Choice())
        if plan is not None:
            writes = f"{self.id} is approved as {_new_id(plan)}. {stay}"
            return ChoicePreview("keep both", label, writes, Approve((self.id,), Choice()))
        plan, why = self._approve(Choice(keep_both=True, why="a reason"))
        new = _new_id(plan) or "the candidate"
        writes = f"{self.id} is approved as {new}. {stay} Your reason is recorded."
        return ChoicePreview("keep both", label, writes, None, why)

    def rejects(self, id_: str, other: str) -> ChoicePreview:
        writes = f"{id_} is rejected. agentplane then refuses new proposals of the same statement. {other} doesn't change."
        _, why = _tried(lambda: operations.reject(self.memory, [id_], None))
        return ChoicePreview("reject", f"reject {id_}, keep {other}", writes, None, why)

    # Two candidates

    def choose(self, name: Name, id_: str, other: str) -> ChoicePreview:
        choice = Choice(reject=(other,))
        plan, why = self._approve(choice, (id_,))
        new = _new_id(plan) or "the candidate"
        writes = f"{id_} is approved as {new}. {other} is rejected, and agentplane then refuses new proposals of that statement."
        op = Approve((id_,), choice)
        return ChoicePreview(name, f"approve {id_}, reject {other}", writes, op, why)

    def merge_two(self, other: str) -> ChoicePreview:
        writes = f"{self._draft} The edited text is approved, and {self.id} and {other} leave the inbox."
        _, why = _tried(lambda: resolve.merged_draft(self.memory, self.id, other))
        for entry in filter(None, map(self.memory.entries.get, (self.id, other))):
            why = why or _tried(partial(operations.check_candidate, self.memory, entry))[1]
        return ChoicePreview("merge", f"merge {self.id} and {other} into one", writes, None, why)

    def keep_two(self, other: str) -> ChoicePreview:
        both = (self.id, other)
        staying = self._staying(both)
        label = f"keep {'all' if staying else 'both'}: approve {self.id} and {other}"
        stay = ""
        if staying:
            label += f", keep {' and '.join(staying)}"
            stay = f" {' and '.join(staying)} {_UNCHANGED[len(staying) == 1]}."
        plan, why = self._approve(Choice(), both)
        if plan is not None:
            writes = f"{self.id} and {other} are approved.{stay}"
            return ChoicePreview("keep both", label, writes, Approve(both, Choice()))
        plan, why = self._approve(Choice(keep_both=True, why="a reason"), both)
        writes = f"{self.id} and {other} are approved.{stay} Your reason is recorded."
        return ChoicePreview("keep both", label, writes, None, why)

    def _staying(self, ids: Sequence[str], *more: str) -> tuple[str, ...]:
        """Return the ids of the entries that stay next to these candidates. They are `more` and all blocking ones."""
        blocking = [
            one for id_ in ids if id_ in self._reviews for one in self._reviews[id_].conflicts if one.blocks
        ]
        return tuple(dict.fromkeys([*more, *(one.id for one in blocking)]))

    def _widened(self, first: str) -> tuple[Plan, tuple[str, ...]] | None:
        """Return a plan that supersedes the fewest conflicting entries, and their ids. None if no such plan works."""
        entries = self.memory.entries
        on_shelf = [
            conflict.id
            for conflict in self.reviewed.conflicts
            if conflict.id in entries and entries[conflict.id].file != INBOX
        ]
        targets = tuple(dict.fromkeys([first, *on_shelf]))
        plan, _ = self._approve(Choice(supersede=targets))
        if plan is None:
            return None
        for name in targets[1:]:
            fewer = tuple(other for other in targets if other != name)
            fewer_plan, _ = self._approve(Choice(supersede=fewer))
            if fewer_plan is not None:
                plan, targets = fewer_plan, fewer
        return plan, targets

    def _approve(self, choice: Choice, ids: Sequence[str] = ()) -> tuple[Plan | None, str]:
        """Try an approval. A text with a flag of high severity can't be approved together with others."""
        ids = ids or (self.id,)

        def known_conflicts(entries: Sequence[Entry], _: object) -> list[tuple[Conflict, ...]]:
            reviews = (self._reviews.get(entry.id) for entry in entries)
            return [one.conflicts if one else () for one in reviews]

        def plan() -> Plan:
            planned = resolve.approve(self.memory, ids, self._stamp, choice, known_conflicts)
            return confirm.checked(self.memory, planned, None, as_proposed=True) if len(ids) > 1 else planned

        return _tried(plan)


def _tried(plan: Callable[[], object]) -> tuple[Plan | None, str]:
    """Call a function that plans. Return its plan, or the reason why the plan was refused."""
    try:
        planned = plan()
    except AgentplaneError as error:
        return None, one_line(error.what)
    return (planned if isinstance(planned, Plan) else None), ""


def _new_id(plan: Plan | None) -> str | None:
    return next((edit.id for edit in plan.edits if edit.was), None) if plan else None
