"""Recording the state of evidence in the operations that approve or renew entries."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from agentplane.memory.entry import Header, read_header
from agentplane.memory.view import Memory
from agentplane.plane.git import git
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.records import OBSERVING
from agentplane.text.markdown import document


if TYPE_CHECKING:
    from pathlib import Path

    from agentplane.plane.store.records import Observation


def with_observations(plan: Plan, memory: Memory) -> Plan:
    """Return the plan with the current state of the evidence of the entries that it approves or renews.

    An operation that changes the evidence of an entry counts as an approval. Other operations keep the state
    that an earlier one recorded.
    """
    if plan.verb not in OBSERVING:
        return plan
    renewed = {id_: memory.get(id_).head.evidence for id_ in plan.observed}
    wanted = {**renewed, **_approved(plan.edits, memory)}
    if not wanted:
        return plan
    project = memory.snapshot.layout.project
    return msgspec.structs.replace(plan, observed=_observed(wanted, project), commit=git.head(project))


def _approved(edits: Sequence[Edit], memory: Memory) -> dict[str, Sequence[str]]:
    """Return the evidence of each entry that is new, or that gets other evidence."""
    found: dict[str, Sequence[str]] = {}
    for edit in edits:
        head = _accepted(edit)
        if head is None:
            continue
        before = memory.entries.get(edit.id)
        is_same = before is not None and before.trusted and before.head.evidence == head.evidence
        if head.evidence and (edit.was is not None or not is_same):
            found[edit.id] = head.evidence
    return found


def _accepted(edit: Edit) -> Header | None:
    """Return the header of an accepted entry with evidence."""
    if edit.file == INBOX or edit.text is None or b"evidence" not in edit.text:
        return None
    blocks = document.parse(edit.text).blocks
    head = read_header(blocks[0].packed)[0] if blocks else None
    return head if head is not None and head.status == "accepted" else None


def _observed(wanted: Mapping[str, Sequence[str]], project: "Path") -> "dict[str, list[Observation]]":
    if not any(wanted.values()):
        return {id_: [] for id_ in wanted}
    from agentplane.curate.anchors.observe import observe
    from agentplane.curate.anchors.tree import WorkTree

    tree = WorkTree(project)
    return {id_: list(observe(evidence, tree)) for id_, evidence in wanted.items()}
