"""The draft of a merge: one text for entries that say the same."""

from collections.abc import Iterable, Sequence
from typing import Any

from agentplane.memory.entry import Entry, without_label
from agentplane.memory.operations import core_of
from agentplane.memory.view import Memory
from agentplane.text.markdown import document, header


_UNITED = ("tags", "evidence", "refines", "unrelated")


def draft(memory: Memory, entries: Sequence[Entry]) -> bytes:
    """Return the first entry with the tags, the evidence, the scopes and the rationales of all of them."""
    kept = entries[0]
    core = header.set_fields(core_of(memory, kept), _fields(entries))
    (block,) = document.parse(core).blocks
    label = f"{kept.label}: " if kept.label else ""
    lines = [f"{label}{kept.statement}"]
    if rationales := list(_different(map(_rationale, entries))):
        gap = "\n\n" if any("\n" in one for one in rationales) else " "
        lines.append(f"Rationale: {gap.join(rationales)}")
    return core[: block.body] + "\n".join(lines).encode()


def _fields(entries: Sequence[Entry]) -> dict[str, Any]:
    heads, ids = [entry.head for entry in entries], {entry.id for entry in entries}
    fields: dict[str, Any] = {}
    for name in _UNITED:
        values = [value for head in heads for value in getattr(head, name) if value not in ids]
        fields[name] = list(dict.fromkeys(values)) or header.DROP
    # An entry without a scope is about the whole project.
    globs = [glob for head in heads for glob in head.scope] if all(head.scope for head in heads) else []
    fields["scope"] = list(dict.fromkeys(globs)) or header.DROP
    fields["pinned"] = any(head.pinned for head in heads) or header.DROP
    return fields


def _rationale(entry: Entry) -> str:
    _, _, rest = entry.body.replace("\r\n", "\n").strip().partition("\n")
    return without_label(rest.strip(), "Rationale").strip()


def _different(texts: Iterable[str]) -> Iterable[str]:
    """Return the texts without empty ones and without those that are part of another one."""
    found = list(dict.fromkeys(filter(None, texts)))
    return [one for one in found if not any(one != other and one in other for other in found)]
