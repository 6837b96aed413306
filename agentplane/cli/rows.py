"""Entries as JSON and as text: the shapes that list, show and inbox share."""

from typing import Any

from agentplane.cli import out
from agentplane.memory.entry import Entry
from agentplane.memory.shelf import HandEdit, Memory
from agentplane.text.visible import hidden, visible


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
        "expires_at": head.expires_at,
        "check": head.check,
        "anchor": head.anchor,
        "proposed_by": head.proposed_by,
        "approved_by": head.approved_by,
    }


def as_candidate(entry: Entry, flags: list[str]) -> dict[str, Any]:
    return {
        "id": entry.id,
        "type": entry.head.type,
        "statement": entry.statement,
        "status": entry.head.status,
        "source": entry.head.source,
        "confidence": entry.head.confidence,
        "proposed_by": entry.head.proposed_by,
        "updated": entry.head.updated,
        "flags": flags,
        "conflicts": [],
    }


def flags_of(memory: Memory, entry: Entry) -> list[str]:
    """What a reviewer should know before reading on."""
    flags = [f"hand edit: {edit.change}" for edit in memory.hand_edits if edit.id == entry.id]
    flags += list(entry.problems)
    if hidden(entry.body):
        flags.append("hidden characters")
    return flags


def as_hand_edit(edit: HandEdit) -> dict[str, Any]:
    return {"id": edit.id, "change": edit.change, "file": edit.file, "line": edit.line}


def print_entry(memory: Memory, entry: Entry) -> None:
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
        "expires": head.expires_at,
        "check": head.check,
        "updated": head.updated,
        "place": f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
        "trusted": ""
        if entry.head.status == "proposed"
        else "yes"
        if entry.trusted
        else "no: edited by hand",
        "note": "; ".join(flags_of(memory, entry)),
    }
    for name, value in facts.items():
        if value:
            out.line(f"  {name + ':':<14} {visible(value)}", dim=name not in ("note", "trusted"))
