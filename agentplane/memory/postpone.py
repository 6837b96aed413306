"""Operations that send a candidate back to its proposer, snooze it until a day, or replace it.

The header of a postponed candidate has the day on which it asks for attention again. Whoever reads the inbox
compares this day with the current one, so no operation is needed when the day comes.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any, Literal

import msgspec

from agentplane.errors import BadInput
from agentplane.memory import operations
from agentplane.memory.entry import POSTPONING, Entry, Header
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.text import days
from agentplane.text.markdown import header
from agentplane.text.visible import one_line


SENT_BACK_DAYS = 14
"""Days until a candidate that was sent back asks for attention again, if nothing replaces it."""

_KEYS = tuple(name.encode() for name in POSTPONING)

Reason = Literal["sent back", "snoozed"]


class Postponed(msgspec.Struct, frozen=True):
    """The reason why a candidate doesn't ask for attention, and the day on which it does again."""

    reason: Reason
    until: date


def of(head: Header, today: date) -> Postponed | None:
    """Return the postponement of a candidate, or None if it asks for attention."""
    day = days.day_of(head.snoozed_until) if head.snoozed_until else None
    if day is None or day <= today:
        return None
    return Postponed("snoozed" if head.sent_back is None else "sent back", day)


def any_in(memory: Memory) -> bool:
    """True if any candidate may be postponed. The headers aren't read, because every prompt may ask."""
    page = memory.snapshot.pages.get(INBOX)
    return page is not None and any(key in block.packed for block in page.document.blocks for key in _KEYS)


def send_back(memory: Memory, wanted: Sequence[str], comment: str, today: date) -> Plan:
    """Send candidates back to their proposers with one comment."""
    words = " ".join(comment.split())
    if not words:
        raise BadInput("The comment is empty.", todo="Describe the change that you want.")
    entries = list(_candidates(memory, wanted))
    for entry in entries:
        if entry.head.proposed_by is None:
            raise BadInput(
                f"{entry.id} has no proposer, so it can't be sent back.",
                todo=f"Change the candidate yourself with `agentplane edit {one_line(entry.id, 40)}`.",
            )
    fields = {"sent_back": words, "snoozed_until": today + timedelta(days=SENT_BACK_DAYS)}
    return Plan("send-back", _edits(memory, entries, fields), why=words)


def snooze(memory: Memory, wanted: Sequence[str], until: date | None, today: date) -> Plan:
    """Keep candidates folded until a day, or unfold them if `until` is None."""
    if until is not None and until <= today:
        raise BadInput(f"The date {until} isn't in the future.", todo="Use a later date.")
    entries = list(_candidates(memory, wanted))
    if until is None and (awake := next((one for one in entries if of(one.head, today) is None), None)):
        raise BadInput(f"{awake.id} isn't snoozed.")
    value = header.DROP if until is None else until
    return Plan("snooze", _edits(memory, entries, {"snoozed_until": value}))


def replace(memory: Memory, proposed: Plan, wanted: str, by: str) -> Plan:
    """Return the plan of a proposal, extended to remove the sent-back candidate that it replaces."""
    (entry,) = _candidates(memory, [wanted])
    if entry.head.proposed_by != by:
        raise BadInput(f"{entry.id} was proposed by someone else, so you can't replace it.", where="replaces")
    if entry.head.sent_back is None:
        raise BadInput(
            f"{entry.id} wasn't sent back, so it can't be replaced.",
            where="replaces",
            todo="Leave out `replaces`. That candidate is still waiting for a decision.",
        )
    return Plan("replace", [*proposed.edits, Edit(entry.id, INBOX, None)])


def _candidates(memory: Memory, wanted: Sequence[str]) -> Iterator[Entry]:
    for entry in operations.candidates(memory, wanted):
        operations.check_candidate(memory, entry)
        yield entry


def _edits(memory: Memory, entries: Sequence[Entry], fields: dict[str, Any]) -> list[Edit]:
    """Return the edits of candidates with other fields. Those that have these fields already stay as they are."""
    edits = []
    for entry in entries:
        core = memory.snapshot.core(entry.file, entry.id) or b""
        if (text := header.set_fields(core, fields)) != core:
            edits.append(Edit(entry.id, INBOX, text))
    if not edits:
        raise BadInput("Nothing to change: the candidates are already in this state.")
    return edits
