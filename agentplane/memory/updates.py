"""Changes to an entry that a program proposes under the id that it gave the entry.

A candidate changes an accepted entry if it has that entry's `external_id` or its own id. Approving it keeps the
entry's id and its place in the file.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from agentplane.memory.entry import STATED, Entry
from agentplane.memory.operations import Stamp, check_candidate, check_untouched
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.text.markdown import document, header
from agentplane.text.visible import one_line


_CARRIED = (*STATED, "layer", "systemic_scale")
"""Header keys that such a candidate replaces. The entry keeps its other keys."""
_SHOWN = 60


def target(memory: Memory, external_id: str | None, kind: str) -> Entry | None:
    """Return the entry in force that a candidate of this kind with this external id changes, or None."""
    found = known_as(memory, external_id)
    if found is None or found.file == INBOX:
        return None
    if found.head.type == kind:
        return found
    # After a merge of branches, entries of different kinds can share one id.
    others = (entry for entry in memory.shelf if entry.head.external_id == external_id)
    return next((one for one in others if one.head.type == kind and one.head.status == "accepted"), None)


def known_as(memory: Memory, external_id: str | None) -> Entry | None:
    """Return the entry in force, of any kind, or else the candidate that a program means by an id."""
    if external_id is None:
        return None
    entry = memory.entries.get(external_id) or memory.by_external_id.get(external_id)
    is_in_force = entry is not None and (entry.file == INBOX or entry.head.status == "accepted")
    return entry if is_in_force else None


def target_of(memory: Memory, candidate: Entry) -> Entry | None:
    """Return the entry that a candidate changes when it is approved, or None if it becomes a new entry."""
    head = candidate.head
    return target(memory, head.external_id, head.type) if candidate.file == INBOX else None


def notice(memory: Memory, candidate: Entry, masked: Callable[[str], str]) -> str | None:
    """Return the notice for reviewers of a candidate that changes an entry. `masked` masks secrets
    in a text.
    """
    entry = target_of(memory, candidate)
    if entry is None:
        return None
    changes = "; ".join(differences(entry, candidate, masked)) or "only its source"
    return f"changes {one_line(entry.id, 40)}: {changes}"


def differences(entry: Entry, candidate: Entry, masked: Callable[[str], str]) -> list[str]:
    """Return the fields of an entry that a candidate changes, with both values."""
    before, after = msgspec.structs.asdict(entry.head), msgspec.structs.asdict(candidate.head)
    pairs = [("text", _body_text(entry), _body_text(candidate))]
    pairs += [(name, before[name], after[name]) for name in _CARRIED if name != "source"]
    return [f"{name} {_shown(old, masked)} → {_shown(new, masked)}" for name, old, new in pairs if old != new]


def plan(memory: Memory, candidate: Entry, entry: Entry, stamp: Stamp) -> Plan:
    """Plan to merge the candidate into the entry. Only the header and the text of the entry change."""
    check_candidate(memory, candidate)
    check_untouched(memory, entry)
    core = memory.snapshot.core(entry.file, entry.id) or b""
    after = msgspec.structs.asdict(candidate.head)
    changes: dict[str, Any] = {name: _value(after[name]) for name in _CARRIED}
    changes |= {"updated": stamp.today, "approved_by": stamp.actor}
    changes |= {"anchor": stamp.anchor} if stamp.anchor else {}
    kept = {name for name, value in changes.items() if value is header.DROP and not _has(entry, name)}
    made = header.set_fields(core, {name: value for name, value in changes.items() if name not in kept})
    if _body_text(entry) != _body_text(candidate):
        made = _with_body(made, candidate.raw)
    return Plan(
        "merge", [Edit(candidate.id, INBOX, None), Edit(entry.id, entry.file, made, was=candidate.id)]
    )


def _has(entry: Entry, name: str) -> bool:
    return getattr(entry.head, name) not in (None, ())


def _value(value: Any) -> Any:
    """Return a value for a header. An empty value drops its key."""
    return header.DROP if value in (None, ()) else value


def _with_body(core: bytes, raw: bytes) -> bytes:
    """Return an entry with the text of another one, in the entry's own line ends."""
    (block,) = document.parse(core).blocks
    text = raw.replace(b"\r\n", b"\n").strip(document.WHITE)
    return core[: block.body] + (text.replace(b"\n", b"\r\n") if b"\r\n" in core else text)


def _body_text(entry: Entry) -> str:
    return entry.body.replace("\r\n", "\n").strip()


def _shown(value: Any, masked: Callable[[str], str]) -> str:
    if value in (None, ()):
        return "none"
    text = (
        ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else value
    )
    # Masked before it is cut, because half of a secret wouldn't be found.
    return one_line(masked(text), _SHOWN)
