"""The candidates that ask for attention now, and the ones that are folded.

A folded candidate stays in the inbox and can be decided as usual. It doesn't count in the badge, and no bulk
approval takes it. Nothing is stored except the day in the header of a postponed candidate.
"""

from datetime import date, timedelta
from typing import Literal

import msgspec

from agentplane.agents.catalog import BY_NAME
from agentplane.lazy import cached_property
from agentplane.memory import ids, postpone
from agentplane.memory.entry import Entry, Header
from agentplane.memory.view import Memory


Reason = postpone.Reason | Literal["over the limit"]
_HANDLING = frozenset({"approve", "supersede", "merge", "reject", "send-back", "snooze"})


class Folded(msgspec.Struct, frozen=True):
    """Why a candidate doesn't ask for attention."""

    reason: Reason
    until: date | None = None
    """The day on which it asks again, if that is known."""

    def text(self, head: Header) -> str:
        """Return the reason for people, such as `sent back to codex until 2026-12-04`."""
        if self.reason == "over the limit":
            return "over the daily limit"
        what = f"sent back to {head.proposed_by}" if self.reason == "sent back" else "snoozed"
        return f"{what} until {self.until}"


class Attention(msgspec.Struct, frozen=True, dict=True):
    """The division of an inbox on one day."""

    asking: tuple[str, ...]
    """The candidates that ask for attention, in the order of the file."""
    folded: dict[str, Folded]
    """The others. Candidates over the limit come in the order in which they will ask."""
    changes_on: date | None
    """The next day on which the division changes without a decision."""

    @cached_property
    def asking_ids(self) -> frozenset[str]:
        return frozenset(self.asking)

    def summary(self) -> str:
        """Return the folded candidates as text, such as `3 folded (1 sent back, 2 snoozed)`, or nothing."""
        reasons = [one.reason for one in self.folded.values()]
        kinds: tuple[Reason, ...] = ("sent back", "snoozed", "over the limit")
        parts = [f"{reasons.count(kind):,} {_SHOWN[kind]}" for kind in kinds if kind in reasons]
        return f"{len(reasons):,} folded ({', '.join(parts)})" if parts else ""


_SHOWN = {"sent back": "sent back", "snoozed": "snoozed", "over the limit": "over the daily limit"}


def divide(memory: Memory, today: date) -> Attention:
    """Return which candidates ask for attention today."""
    limit = memory.snapshot.settings.inbox.daily_limit
    if not limit and not postpone.any_in(memory):
        return Attention(tuple(memory.inbox_ids), {}, None)
    folded: dict[str, Folded] = {}
    waiting = []
    for entry in memory.inbox:
        if postponed := postpone.of(entry.head, today):
            folded[entry.id] = Folded(postponed.reason, postponed.until)
        else:
            waiting.append(entry)
    days = [one.until for one in folded.values() if one.until]
    over = _over_limit(memory, waiting, limit, today) if limit else ()
    folded |= {entry.id: Folded("over the limit") for entry in over}
    asking = tuple(entry.id for entry in waiting if entry.id not in folded)
    days += [today + timedelta(days=1)] if over else []
    return Attention(asking, folded, min(days, default=None))


def _over_limit(memory: Memory, waiting: list[Entry], limit: int, today: date) -> tuple[Entry, ...]:
    """Return the candidates that wait for another day. Each one that was handled today uses a place."""
    places = max(limit - _handled(memory, today), 0)
    return tuple(sorted(waiting, key=_rank)[places:])


def _handled(memory: Memory, today: date) -> int:
    """Return the number of candidates whose last operation was a decision of today."""
    ledger = memory.snapshot.ledger
    ops = {note.op for note in ledger.ops if note.verb in _HANDLING and note.ts.startswith(str(today))}
    if not ops:
        return 0
    return sum(mark.op in ops and ids.is_candidate(id_) for id_, mark in ledger.known.items())


def _rank(entry: Entry) -> tuple[bool, bool, bool, str]:
    """Return the sort key by source and evidence. Proposals of people come first, and older ones before newer
    ones.
    """
    head = entry.head
    return head.proposed_by in BY_NAME, not head.evidence, not head.source, head.updated or ""
