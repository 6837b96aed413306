"""Masking of the likely secrets in an entry or a candidate. It replaces the secrets and no other byte."""

from collections.abc import Sequence
from typing import Any

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.memory.entry import Entry
from agentplane.memory.operations import check_untouched
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.review.gate import gate
from agentplane.scan.secrets import find
from agentplane.scan.secrets.mask import ROUNDS, masked_text
from agentplane.text.markdown import header


_NO_TEXT = b"(withheld because the text looks like it contains a secret)\n"
_LISTS = ("tags", "evidence", "scope")
_TEXTS = ("check", "layer", "sent_back")


def plan(memory: Memory, wanted: str, seen_digest: str | None = None) -> Plan:
    """Plan the masking of one entry. `seen_digest` is the digest of the text that the person saw, if it was shown."""
    entry = memory.get(wanted)
    if seen_digest is not None and entry.digest != seen_digest:
        raise Refused(f"{entry.id} has changed since it was shown.", todo="Review the entry again.")
    if entry.file != INBOX:
        check_untouched(memory, entry)
    if not gate.likely_secrets(entry):
        raise BadInput(f"{entry.id} doesn't seem to contain a secret, so nothing was masked.")
    return Plan("edit", [Edit(entry.id, entry.file, _masked(memory, entry))])


def for_tools(entry: Entry) -> Entry:
    """Return an entry as a tool may read it, with the likely secrets masked, or without text if that fails."""
    if not gate.likely_secrets(entry):
        return entry
    head = msgspec.structs.replace(entry.head, **_fields(entry))
    masked = entry.with_text(_masked_body(entry).encode(), head)
    if gate.likely_secrets(masked):
        bare = msgspec.structs.replace(
            entry.head, tags=(), evidence=(), scope=(), check=None, source=None, sent_back=None
        )
        return entry.with_text(_NO_TEXT, bare)
    return masked


def _masked(memory: Memory, entry: Entry) -> bytes:
    core = memory.snapshot.core(entry.file, entry.id) or b""
    fields = _fields(entry)
    if fields:
        core = header.set_fields(core, fields)
    body = entry.raw
    if not core.endswith(body):
        raise BadInput(
            f"agentplane can't mask the secret in {entry.id}.",
            todo=f"Remove the secret yourself: `agentplane edit {entry.id}`.",
        )
    core = core[: len(core) - len(body)] + _masked_body(entry).encode()
    if any(map(gate.likely_secrets, memory.entries_in(core, entry.file))):
        raise BadInput(
            f"agentplane can't mask the likely secret in the header of {entry.id}.",
            todo=f"Remove the secret yourself: `agentplane edit {entry.id}`.",
        )
    return core


def _fields(entry: Entry) -> dict[str, Any]:
    """Return the header fields that contain a secret, masked."""
    found: dict[str, Any] = {}
    for name in _LISTS:
        value = getattr(entry.head, name)
        masked_items = [masked_text(item) for item in value]
        if masked_items != list(value):
            found[name] = tuple(masked_items)
    for name in _TEXTS:
        text = getattr(entry.head, name)
        if text and (masked_field := masked_text(text)) != text:
            found[name] = masked_field
    return found


def _masked_body(entry: Entry) -> str:
    body = entry.body
    for _ in range(ROUNDS):
        spans = _spans(body, entry)
        if not spans:
            break
        for start, end, kind in reversed(spans):
            body = f"{body[:start]}[masked: {kind}]{body[end:]}"
    return body


def _spans(body: str, entry: Entry) -> list[tuple[int, int, str]]:
    """Return the spans of secrets in a body, found in the whole body and in the parts that the gate reads."""
    parts = [body, *_parts(body, entry.label)]
    found: list[tuple[int, int, str]] = []
    for part in parts:
        at = body.find(part)
        found += [(at + start, at + end, kind) for start, end, kind in find.spans(part)]
    return _without_overlaps(found)


def _parts(body: str, label: str) -> list[str]:
    statement, _, rationale = body.partition("\nRationale:")
    head = f"{label}:"
    words = statement.lstrip()
    words = words[len(head) :] if words.lower().startswith(head.lower()) else words
    return [part for text in (words, rationale) if (part := text.strip())]


def _without_overlaps(found: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(found, key=lambda one: (one[0], -one[1])):
        if merged and start < merged[-1][1]:
            first, last, name = merged[-1]
            merged[-1] = first, max(last, end), name
        else:
            merged.append((start, end, kind))
    return merged
