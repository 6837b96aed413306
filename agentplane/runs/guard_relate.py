"""What an op that relates may do without a person: say how a candidate stands to other entries, and nothing else."""

from typing import Any

from agentplane.plane.records import Record
from agentplane.runs import deeds, guard_settle
from agentplane.runs.sides import Side
from agentplane.text import document


LINKS = ("supersedes", "refines", "unrelated")


def only_links(record: Record, now: Side) -> bool:
    """Whether what the op left differs in links alone from what it had found, and is its own proposer's."""
    stored = guard_settle.stored_of(record.op, now)
    if not deeds.only_in_place(record):
        return False
    for change in record.changes:
        old = _bare(guard_settle.text_of(change.before, change, stored, now))
        new = _bare(guard_settle.text_of(change.after, change, stored, now))
        if old is None or old != new or old[0].get("proposed_by") != record.actor:
            return False
    return True


def _bare(text: bytes | None) -> tuple[dict[str, Any], str] | None:
    """Header and body without the links; None where that cannot be read."""
    read = document.parse(text) if text else None
    if read is None or len(read.blocks) != 1:
        return None
    fields = read.header(read.blocks[0])
    kept = {name: value for name, value in fields.items() if name not in LINKS}
    return kept, read.body(read.blocks[0])
