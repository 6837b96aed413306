"""Entries as JSON and as text, in the forms that list, show and inbox share."""

import os
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.agents.catalog import tool_in
from agentplane.cli import output
from agentplane.memory import expiry
from agentplane.memory.entry import Entry
from agentplane.memory.expiry import Expiry
from agentplane.memory.view import HandEdit, Memory
from agentplane.text.visible import visible


if TYPE_CHECKING:
    from agentplane.plane.trust.ssh_keygen import Verdict
    from agentplane.review.conflicts.conflicts import Conflict
    from agentplane.review.inbox import Reviewed


def with_signer(op: msgspec.Struct, signed: "Mapping[str, Verdict]") -> dict[str, Any]:
    """Return an operation as JSON, with its signer.

    If nothing proves a signer, `signed_by` is null and `signature` has the reason.
    """
    row: dict[str, Any] = msgspec.to_builtins(op)
    verdict = signed.get(row["op"])
    return {**row, "signed_by": verdict and verdict.by, "signature": verdict and (verdict.trouble or "valid")}


def readable(memory: Memory, entries: Sequence[Entry]) -> list[Entry]:
    """Return entries in a form that the caller may read. In a tool's shell, secrets are masked."""
    if tool_in(os.environ) is None:
        return [*entries]
    from agentplane.review import delivery, mask_entry

    withheld = {entry.digest for entry in delivery.divided(memory.snapshot, entries).withheld}
    return [mask_entry.for_tools(entry) if entry.digest in withheld else entry for entry in entries]


def readable_candidate(memory: Memory, reviewed: "Reviewed") -> "Reviewed":
    """Return a reviewed candidate in a form that the caller may read.

    Reasons quote both texts, so a secret in one of them hides the reasons.
    """
    if tool_in(os.environ) is None:
        return reviewed
    from agentplane.review import delivery

    related = (*reviewed.conflicts, *reviewed.near)
    others = [memory.entries[one.id] for one in related if one.id in memory.entries]
    withheld = delivery.divided(memory.snapshot, [reviewed.entry, *others]).withheld_ids

    def without_quotes(conflicts: "Sequence[Conflict]") -> "tuple[Conflict, ...]":
        return tuple(
            msgspec.structs.replace(one, reasons=())
            if one.id in withheld or reviewed.entry.id in withheld
            else one
            for one in conflicts
        )

    (entry,) = readable(memory, [reviewed.entry])
    return msgspec.structs.replace(
        reviewed,
        entry=entry,
        conflicts=without_quotes(reviewed.conflicts),
        near=without_quotes(reviewed.near),
    )


def readable_text(text: str | None) -> str | None:
    """Return a text of the history in a form that the caller may read."""
    if text is None or tool_in(os.environ) is None:
        return text
    from agentplane.scan.secrets.mask import masked_text

    return masked_text(text)


def as_entry(entry: Entry, today: date) -> dict[str, Any]:
    head = entry.head
    expired = expiry.of(entry, today)
    return {
        "id": entry.id,
        "type": head.type,
        "status": head.status,
        "statement": entry.statement,
        "body": entry.body.strip("\r\n"),
        "tags": head.tags,
        "source": head.source,
        "updated": head.updated,
        "trusted": entry.trusted,
        "file": entry.file,
        "line": entry.line,
        "confidence": head.confidence,
        "evidence": head.evidence,
        "scope": head.scope,
        "supersedes": head.supersedes,
        "superseded_by": head.superseded_by,
        "arrives": head.arrives,
        "refines": head.refines,
        "unrelated": head.unrelated,
        "expires_at": head.expires_at,
        "expired": expired is not None,
        "check": head.check,
        "anchor": head.anchor,
        "proposed_by": head.proposed_by,
        "approved_by": head.approved_by,
        "pinned": head.pinned,
        "sent_back": head.sent_back,
        "snoozed_until": head.snoozed_until,
    }


def as_shown(entry: Entry, reviewed: "Reviewed | None", today: date) -> dict[str, Any]:
    """Return an entry in full, or a candidate with its conflicts and flags.

    The arguments come from `readable` and `readable_candidate`.
    """
    return as_entry(entry, today) | (as_candidate(reviewed) if reviewed else {})


def as_candidate(reviewed: "Reviewed") -> dict[str, Any]:
    entry = reviewed.entry
    return {
        "id": entry.id,
        "type": entry.head.type,
        "statement": entry.statement,
        "status": entry.head.status,
        "source": entry.head.source,
        "confidence": entry.head.confidence,
        "proposed_by": entry.head.proposed_by,
        "updated": entry.head.updated,
        "age_days": reviewed.age,
        "arrives": entry.head.arrives,
        "superseded_by": entry.head.superseded_by,
        "sent_back": entry.head.sent_back,
        "snoozed_until": entry.head.snoozed_until,
        "like": reviewed.like,
        "refines": entry.head.refines,
        "unrelated": entry.head.unrelated,
        # This is also a flag, so that programs that don't know `checked` don't take the candidate for ready.
        "flags": [*reviewed.flags, *([] if reviewed.checked else ["not checked yet"])],
        "noticed": [
            {"code": flag.code, "severity": flag.severity, "where": flag.where, "what": flag.what}
            for flag in reviewed.noticed
        ],
        "conflicts": [msgspec.to_builtins(conflict) for conflict in reviewed.conflicts],
        "near": [msgspec.to_builtins(conflict) for conflict in reviewed.near],
        "checked": reviewed.checked,
    }


def as_hand_edit(edit: HandEdit) -> dict[str, Any]:
    return {"id": edit.id, "change": edit.change, "file": edit.file, "line": edit.line}


def as_expiring(entry: Entry, expiring: Expiry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "statement": entry.statement,
        "state": expiring.state,
        "day": expiring.day,
        "days_left": expiring.left,
    }


def print_entry(memory: Memory, entry: Entry, reviewed: "Reviewed | None", expiring: Expiry | None) -> None:
    """Print an entry in full. `expiring` is its expiry, if there is something to report."""
    head = entry.head
    state = f"{head.status}, {expiring.text}" if expiring else head.status
    output.line(f"{visible(entry.id)}  {visible(head.type)}  {visible(state)}", bold=True)
    for text in visible(entry.body.strip("\r\n")).splitlines():
        output.line(f"  {text}")
    facts = _facts(entry) | {
        "place": f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
        "trusted": _trusted(entry),
        "note": "; ".join(reviewed.flags if reviewed else entry.problems),
    }
    for name, value in facts.items():
        if value:
            output.line(f"  {name + ':':<14} {visible(value)}", dim=name not in ("note", "trusted"))
    _print_header(entry)
    if reviewed:
        _print_conflicts(reviewed)


def _facts(entry: Entry) -> dict[str, str | None]:
    """Return the fields of a header by their names for people."""
    head = entry.head
    return {
        "external ID": head.external_id,
        "tags": ", ".join(head.tags),
        "scope": ", ".join(head.scope),
        "evidence": ", ".join(head.evidence),
        "confidence": "" if head.confidence is None else f"{head.confidence:g}",
        "source": head.source,
        "proposed by": head.proposed_by,
        "approved by": head.approved_by,
        "anchor": head.anchor,
        "supersedes": ", ".join(head.supersedes),
        "superseded by": ", ".join(head.superseded_by),
        "status when approved": head.arrives,
        "refines": ", ".join(head.refines),
        "unrelated to": ", ".join(head.unrelated),
        "expires": head.expires_at,
        "check": head.check,
        "updated": head.updated,
        "pinned": "yes" if head.pinned else "",
        "sent back": head.sent_back,
        "snoozed until": head.snoozed_until,
        "layer": head.layer,
        "scale": "" if head.systemic_scale is None else f"{head.systemic_scale:g}",
        "imported": head.harvested,
    }


def _trusted(entry: Entry) -> str:
    if entry.head.status == "proposed":
        return ""
    return "yes" if entry.trusted else "no (manual edit)"


def _print_conflicts(reviewed: "Reviewed") -> None:
    from agentplane.review.conflicts.resolve import described

    for conflict in reviewed.conflicts:
        output.line(f"  {'!' if conflict.needs_choice else '-'} {visible(described(conflict))}")
    for conflict in reviewed.near:
        output.line(f"  - {visible(described(conflict))}", dim=True)


def _print_header(entry: Entry) -> None:
    """Print the header from the file, if it has more than the facts above."""
    from agentplane.review.gate import raw_header

    text = raw_header.text_of(entry.header)
    if not entry.problems and next(raw_header.unshown(text), None) is None:
        return
    output.line("  header as it appears in the file:")
    for line in text.split("\n"):
        output.line(f"    {visible(line)}")
