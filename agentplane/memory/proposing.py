"""Proposals, their checks, and the operation that makes candidates of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.memory import ids
from agentplane.memory.entry import ARRIVING, INBOX_STATUS, STATED, without_label
from agentplane.memory.kinds import kind_named
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.views import external_ids
from agentplane.text.markdown import header
from agentplane.text.visible import one_line


MAX_TEXT = 32 * 1024
WRITTEN = (
    *STATED, "supersedes", "superseded_by", "arrives", "refines", "unrelated", "harvested", "external_id", "layer",
    "systemic_scale",
)  # fmt: skip
"""Header keys that a candidate gets from the fields of its proposal, in the order of a header."""
_MARK = re.compile(r"[0-9a-f]{16}")


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A memory that is proposed for approval."""

    type: str
    statement: str
    rationale: str | None = None
    tags: list[str] = []
    source: str | None = None
    evidence: list[str] = []
    confidence: float | None = None
    expires_at: str | None = None
    check: str | None = None
    scope: list[str] = []
    supersedes: list[str] = []
    superseded_by: list[str] = []
    arrives: str | None = None
    refines: list[str] = []
    unrelated: list[str] = []
    harvested: str | None = None
    external_id: str | None = None
    layer: str | None = None
    systemic_scale: float | None = None


def propose(memory: Memory, proposal: Proposal, by: str, today: date, token: Callable[[int], str]) -> Plan:
    return propose_many(memory, [(proposal, by)], today, token)


def propose_many(
    memory: Memory,
    proposals: Sequence[tuple[Proposal, str]],
    today: date,
    token: Callable[[int], str],
    successors: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> Plan:
    """Propose all of them in one operation, each with its proposer.

    `successors` maps a proposal to the proposals that replaced it, by index.
    """
    known = memory.snapshot.ledger.known
    new_ids: set[str] = set()
    names: list[str] = []
    for proposal, _ in proposals:
        check_proposal(memory, proposal)
        id_ = ids.new_candidate(lambda id_: id_ in known or id_ in new_ids or memory.is_in_files(id_), token)
        new_ids.add(id_)
        names.append(id_)
    edits = []
    for place, (proposal, by) in enumerate(proposals):
        links = [*proposal.superseded_by, *(names[other] for other in successors.get(place, ()))]
        linked = msgspec.structs.replace(proposal, superseded_by=links)
        edits.append(_candidate(memory, linked, names[place], by, today))
    return Plan("propose", edits)


def _candidate(memory: Memory, proposal: Proposal, id_: str, by: str, today: date) -> Edit:
    kind, proposal = kind_named(memory.kinds, proposal.type), unlabelled(memory, proposal)
    fields: dict[str, Any] = {"id": id_, "type": kind.name, "status": INBOX_STATUS}
    for name in WRITTEN:
        value = getattr(proposal, name)
        if value not in (None, []):
            fields[name] = value
    fields |= {"proposed_by": by, "updated": today}
    body = f"{kind.label}: {proposal.statement.strip()}"
    if proposal.rationale and proposal.rationale.strip():
        body += f"\nRationale: {proposal.rationale.strip()}"
    return Edit(id_, INBOX, header.new_core(fields, body))


def unlabelled(memory: Memory, proposal: Proposal) -> Proposal:
    """Return the proposal without labels that its author wrote, because its kind adds them anyway."""
    label = kind_named(memory.kinds, proposal.type).label
    statement = without_label(proposal.statement, label)
    rationale = without_label(proposal.rationale, "Rationale") if proposal.rationale else None
    return msgspec.structs.replace(proposal, statement=statement, rationale=rationale)


def check_proposal(memory: Memory, proposal: Proposal) -> None:
    """Refuse a proposal that can't become a candidate."""
    kind_named(memory.kinds, proposal.type)
    if not proposal.statement.strip():
        raise BadInput("The statement is empty.", todo="Pass a sentence to remember.")
    links = (*proposal.supersedes, *proposal.superseded_by, *proposal.refines, *proposal.unrelated)
    words = (*proposal.tags, *proposal.evidence, *proposal.scope, *links)
    texts = (proposal.statement, proposal.rationale or "", proposal.check or "", *words)
    if any("\ud800" <= char <= "\udfff" for text in texts for char in text if not text.isascii()):
        raise BadInput("The text isn't valid UTF-8.", todo="Save the text as UTF-8.")
    if any("\0" in text for text in texts):
        raise BadInput("The text contains a NUL character.", todo="Remove that character.")
    if not all(word.strip() for word in words):
        raise BadInput(
            "A tag, evidence item, scope or ID is empty.",
            todo="Remove the empty value, or fill it in.",
        )
    if proposal.harvested is not None and not _MARK.fullmatch(proposal.harvested):
        raise BadInput(
            "Invalid value for `harvested`: the value must have 16 hexadecimal digits.",
            todo="Leave out `harvested`.",
        )
    if proposal.arrives is not None and proposal.arrives not in ARRIVING:
        todo = f"Use {' or '.join(ARRIVING)}, or leave out `arrives`."
        raise BadInput(f"Invalid value for `arrives`: {one_line(proposal.arrives, 30)}", todo=todo)
    if proposal.superseded_by and proposal.arrives is None:
        todo = "Add `arrives: superseded`, or leave out `superseded_by`."
        raise BadInput("`superseded_by` can be used only together with `arrives`", todo=todo)
    if proposal.external_id is not None and not external_ids.is_one(proposal.external_id):
        raise BadInput(
            f"Invalid ID: `{one_line(proposal.external_id, 40)}`",
            todo="Use only letters, digits and . _ : - in IDs, for example memory-schema-defined.",
        )
    if proposal.expires_at is not None and not _is_date(proposal.expires_at):
        raise BadInput(
            f"Invalid date: {one_line(proposal.expires_at, 30)}.", todo="Use a date in the form 2026-12-31."
        )
    size = len(proposal.statement) + len(proposal.rationale or "")
    if size > MAX_TEXT:
        raise BadInput(
            f"The text has {size:,} characters. The maximum is {MAX_TEXT:,}.", todo="Shorten the text."
        )
    if proposal.confidence is not None and not 0 <= proposal.confidence <= 1:
        raise BadInput(f"Invalid confidence: {proposal.confidence:g}. Use a number from 0 to 1.")


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
