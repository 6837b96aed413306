"""Flags of a candidate that come from its history and its links, and figures of each source."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import msgspec

from agentplane.memory import updates
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.history import in_force
from agentplane.plane.store.snapshot import Snapshot
from agentplane.review.gate import receipts, repeat_counts
from agentplane.review.gate.gate import Context, check_again
from agentplane.review.gate.verdicts import earlier_text, shown_earlier
from agentplane.scan.secrets import mask
from agentplane.text.visible import one_line


class SourceFigures(msgspec.Struct, frozen=True):
    """Decisions about the proposals of one source."""

    source: str
    proposed: int
    approved: int
    rejected: int
    suppressed: int = 0
    """The number of refused repeats of rejected statements that this machine counted."""

    @property
    def accepted(self) -> float | None:
        """The approved share of the decided proposals."""
        decided = self.approved + self.rejected
        return self.approved / decided if decided else None


_APPROVING = ("approve", "supersede", "merge")


def flags(memory: Memory, entry: Entry, context: Context) -> list[str]:
    """Return the current flags of a candidate, including those of the gate, which checks it again."""
    edits = {entry.id: [edit.change for edit in memory.hand_edits if edit.id == entry.id]}
    found = own_flags(memory, entry, context, edits)
    verdict = check_again(entry, context)
    found += [flag.text for flag in (*verdict.refused, *verdict.flags)]
    return found


def own_flags(
    memory: Memory, entry: Entry, context: Context, edits: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the flags that don't come from the gate. `edits` are the manual edits of candidates by id."""
    found = [f"manual edit: {change}" for change in edits.get(entry.id, ())]
    found += entry.problems
    found += [notice] if (notice := change_notice(memory, entry)) else []
    found += lost_targets(memory, entry)
    found += _rejected_itself(entry, context)
    found += receipts.flag(memory, entry)
    return found


def change_notice(memory: Memory, candidate: Entry) -> str | None:
    """Return the notice for reviewers of a candidate that changes an entry. Tools read it too, so secrets are masked."""
    return updates.notice(memory, candidate, mask.masked_text)


def _rejected_itself(entry: Entry, context: Context) -> Iterator[str]:
    """Yield a flag for a candidate that was rejected and is in the inbox again, after a merge of branches or
    a manual edit.
    """
    earlier = context.tombstones.of(entry.id) if context.tombstones else None
    if earlier and context.looks_for("repeat"):
        yield f"this candidate was rejected before, {earlier_text(shown_earlier(earlier))}"


def lost_targets(memory: Memory, entry: Entry) -> Iterator[str]:
    """Yield flags for the entries that a candidate would supersede but that aren't in force any more."""
    for name in entry.head.supersedes:
        target = memory.entries.get(name)
        if target is None and name in memory.snapshot.ledger.known:
            yield f"supersedes {name}, which no longer exists (see `agentplane history {name}`)"
        elif target is None:
            yield f"supersedes {one_line(name, 40)}, but no entry has this ID"
        elif target.file == INBOX:
            yield f"supersedes {one_line(name, 40)}, which is only a candidate"
        elif target.head.status != "accepted":
            yield f"supersedes {name}, which is already {one_line(target.head.status, 20)}"


def age_in_days(entry: Entry, today: date) -> int | None:
    try:
        return (today - date.fromisoformat((entry.head.updated or "")[:10])).days
    except ValueError:
        return None


def provenance(entry: Entry) -> str:
    """Return the proposer, the run, and the relations to other entries that the proposer named."""
    head = entry.head
    parts = [f"by {head.proposed_by}" if head.proposed_by else "added manually"]
    parts += [f"from run {head.source}"] if head.source else []
    parts += [f"sent back with the comment “{one_line(head.sent_back, 200)}”"] if head.sent_back else []
    parts += [f"gets the status {one_line(head.arrives, 20)} when approved"] if head.arrives else []
    parts += [f"superseded by {', '.join(head.superseded_by)}"] if head.superseded_by else []
    parts += [f"refines {', '.join(head.refines)}, according to its proposer"] if head.refines else []
    parts += (
        [f"unrelated to {', '.join(head.unrelated)}, according to its proposer"] if head.unrelated else []
    )
    return ", ".join(parts)


def figures(snapshot: Snapshot) -> list[SourceFigures]:
    """Return the figures of each source, starting with the source of the most proposals."""
    proposed: Counter[str] = Counter()
    approved: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    source_of: dict[str, str] = {}
    for record in in_force(snapshot):
        for change in record.changes:
            if record.verb in ("propose", "replace") and change.left is not None:
                source_of[change.id] = record.actor
                proposed[record.actor] += 1
            elif (record.verb == "reject" or change.id in record.rejected) and change.id in source_of:
                rejected[source_of[change.id]] += 1
            elif record.verb in _APPROVING and change.was in source_of:
                approved[source_of[change.was]] += 1
    refused = repeat_counts.by_source(snapshot.layout)
    for name in refused:
        proposed[name] += 0
    return [
        SourceFigures(name, count, approved[name], rejected[name], refused[name])
        for name, count in _most(proposed)
    ]


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
