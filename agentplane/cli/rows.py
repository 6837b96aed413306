"""Entries as JSON and as text: the shapes that list, show and inbox share."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.cli import out
from agentplane.memory.entry import Entry
from agentplane.memory.shelf import HandEdit, Memory
from agentplane.text.visible import visible


if TYPE_CHECKING:
    from agentplane.plane.ssh_keygen import Verdict
    from agentplane.review.inbox import Reviewed


def with_signer(act: msgspec.Struct, signed: "Mapping[str, Verdict]") -> dict[str, Any]:
    """What an op did, with who signed it. `signed_by` is null, and `signature` says why, if nothing proves a signer."""
    row: dict[str, Any] = msgspec.to_builtins(act)
    verdict = signed.get(row["op"])
    return {**row, "signed_by": verdict and verdict.by, "signature": verdict and (verdict.trouble or "valid")}


def as_entry(entry: Entry) -> dict[str, Any]:
    head = entry.head
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
        "refines": head.refines,
        "unrelated": head.unrelated,
        "expires_at": head.expires_at,
        "check": head.check,
        "anchor": head.anchor,
        "proposed_by": head.proposed_by,
        "approved_by": head.approved_by,
        "pinned": head.pinned,
    }


def as_shown(entry: Entry, reviewed: "Reviewed | None") -> dict[str, Any]:
    """An entry in full; a candidate with its conflicts and flags."""
    return as_entry(entry) | (as_candidate(reviewed) if reviewed else {})


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
        "like": reviewed.like,
        "refines": entry.head.refines,
        "unrelated": entry.head.unrelated,
        # Also a flag, so that a program that does not know `checked` does not take it for clean.
        "flags": [*reviewed.flags, *([] if reviewed.checked else ["not checked yet"])],
        "conflicts": [msgspec.to_builtins(conflict) for conflict in reviewed.conflicts],
        "near": [msgspec.to_builtins(conflict) for conflict in reviewed.near],
        "checked": reviewed.checked,
    }


def as_hand_edit(edit: HandEdit) -> dict[str, Any]:
    return {"id": edit.id, "change": edit.change, "file": edit.file, "line": edit.line}


def print_entry(memory: Memory, entry: Entry, reviewed: "Reviewed | None") -> None:
    """An entry in full."""
    head = entry.head
    out.line(f"{visible(entry.id)}  {visible(head.type)}  {visible(head.status)}", bold=True)
    for text in visible(entry.body.strip("\r\n")).splitlines():
        out.line(f"  {text}")
    facts = {
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
        "refines": ", ".join(head.refines),
        "unrelated to": ", ".join(head.unrelated),
        "expires": head.expires_at,
        "check": head.check,
        "updated": head.updated,
        "pinned": "yes" if head.pinned else "",
        "layer": head.layer,
        "scale": "" if head.systemic_scale is None else f"{head.systemic_scale:g}",
        "harvested": head.harvested,
        "place": f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
        "trusted": ""
        if entry.head.status == "proposed"
        else "yes"
        if entry.trusted
        else "no: edited by hand",
        "note": "; ".join(reviewed.flags if reviewed else entry.problems),
    }
    for name, value in facts.items():
        if value:
            out.line(f"  {name + ':':<14} {visible(value)}", dim=name not in ("note", "trusted"))
    _print_header(entry)
    if reviewed:
        from agentplane.review.resolve import described

        for conflict in reviewed.conflicts:
            out.line(f"  {'!' if conflict.needs_choice else '-'} {visible(described(conflict))}")
        for conflict in reviewed.near:
            out.line(f"  - {visible(described(conflict))}", dim=True)


def _print_header(entry: Entry) -> None:
    """The header as it is in the file, where it has more than the facts above."""
    from agentplane.review import gate_header

    text = gate_header.text_of(entry.header)
    if not entry.problems and next(gate_header.unshown(text), None) is None:
        return
    out.line("  header in the file:")
    for line in text.split("\n"):
        out.line(f"    {visible(line)}")
