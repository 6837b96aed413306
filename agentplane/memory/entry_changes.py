"""Changes to approved entries other than text edits: new field values, supersession, merges, splits and changes of
kind.

A successor gets the day and the actor of its operation. It keeps the commit of the earlier entry, because its
evidence was checked then. The earlier entry stays in its file as superseded, with a link to each successor. Links
of other entries to it stay, because following `superseded_by` leads to the entry in force.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from agentplane.errors import BadInput, Refused
from agentplane.memory import condition_place, links
from agentplane.memory.entry import Entry, Header, read_header
from agentplane.memory.kinds import kind_named
from agentplane.memory.operations import (
    Stamp,
    check_candidate,
    check_untouched,
    core_of,
    distinct,
    new_ids,
    single,
    with_fields,
)
from agentplane.memory.proposing import Proposal, check_proposal
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.text.markdown import document, header
from agentplane.text.markdown.statement import statement_of
from agentplane.text.visible import one_line


SETTABLE = ("tags", "evidence", "expires_at", "check", "scope")
"""The header keys that `set_fields` changes."""
OF_ONE_ENTRY = ("external_id", "harvested")
"""Header keys that identify one entry, so the parts of a split entry don't get them."""
_OUTSIDE = ("/", "~", "../")


class FieldChanges(msgspec.Struct, frozen=True, kw_only=True):
    """New values of header fields. Fields that are unset stay as they are."""

    expires_at: date | UnsetType | None = UNSET
    """The last day on which the entries are valid. None means that they don't expire."""
    scope: tuple[str, ...] | UnsetType = UNSET
    """Path globs. Without globs, the scope is the whole project."""
    check: str | UnsetType | None = UNSET
    """None removes the check."""
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    evidence: tuple[tuple[str, str], ...] = ()
    """Pieces of evidence, each with its replacement. An empty replacement removes the piece."""
    add_evidence: tuple[str, ...] = ()


def set_fields(memory: Memory, wanted: Sequence[str], changes: FieldChanges, today: date) -> Plan:
    """Set fields of entries and candidates. Entries that have these values already stay as they are."""
    if isinstance(changes.expires_at, date) and changes.expires_at < today:
        raise BadInput(
            f"The expiry date {changes.expires_at} is in the past.",
            todo="Use a later date, or run `agentplane deprecate` instead.",
        )
    edits = []
    for entry in distinct(memory, wanted):
        check = check_candidate if entry.file == INBOX else check_untouched
        check(memory, entry)
        fields = _new_fields(entry, changes)
        _check_fields(memory, entry, fields)
        before = core_of(memory, entry)
        core = header.set_fields(before, {name: value or header.DROP for name, value in fields.items()})
        condition_place.refuse_unreadable(core, before, entry.id)
        if core != before:
            edits.append(Edit(entry.id, entry.file, core))
    if not edits:
        raise BadInput("Nothing to change: the entries already have these values.")
    return Plan("set-fields", edits)


def _new_fields(entry: Entry, changes: FieldChanges) -> dict[str, Any]:
    """Return the changed fields. An empty value removes a field."""
    fields: dict[str, Any] = {}
    if changes.add_tags or changes.remove_tags:
        kept = [tag for tag in entry.head.tags if tag not in changes.remove_tags]
        fields["tags"] = list(dict.fromkeys([*kept, *changes.add_tags]))
    if changes.evidence or changes.add_evidence:
        fields["evidence"] = _new_evidence(entry, changes)
    if changes.expires_at is not UNSET:
        fields["expires_at"] = changes.expires_at and str(changes.expires_at)
    if changes.check is not UNSET:
        fields["check"] = changes.check
    if changes.scope is not UNSET:
        fields["scope"] = list(dict.fromkeys(changes.scope))
    return fields


def _new_evidence(entry: Entry, changes: FieldChanges) -> list[str]:
    for old, _ in changes.evidence:
        if old not in entry.head.evidence:
            raise BadInput(
                f"{entry.id} doesn't cite `{one_line(old, 60)}` as evidence.",
                todo=f"Run `agentplane show {one_line(entry.id, 40)}` to list its evidence.",
            )
    replaced = dict(changes.evidence)
    pieces = [replaced.get(piece, piece) for piece in entry.head.evidence]
    return list(dict.fromkeys([*filter(None, pieces), *changes.add_evidence]))


def _check_fields(memory: Memory, entry: Entry, fields: Mapping[str, Any]) -> None:
    """Check the new values by the rules for proposals. Unchanged values aren't checked again."""
    check_proposal(memory, Proposal(type=entry.head.type, statement=entry.statement, **fields))
    outside = next((glob for glob in fields.get("scope", ()) if glob.startswith(_OUTSIDE)), None)
    if outside is not None:
        raise BadInput(
            f"The scope {one_line(outside, 40)} is outside the project.",
            todo="Use paths within the project, for example `src/**`.",
        )
    check = fields.get("check")
    if check is not None and len(check.splitlines()) != 1:
        raise BadInput(
            "The check must be a single line.", todo="Write one condition, for example `file: X exists`."
        )


def supersede(memory: Memory, old: str, new: str, today: date, why: str | None = None) -> Plan:
    """Mark an approved entry as superseded by another approved entry, and link both."""
    entry, successor = memory.get(old), memory.get(new)
    name, other = one_line(entry.id, 40), one_line(successor.id, 40)
    if entry.id == successor.id:
        raise BadInput(
            f"{name} can't supersede itself.", todo="With --by, name the entry that supersedes it."
        )
    if entry.file == INBOX:
        raise BadInput(f"{name} is a candidate.", todo=f"Run `agentplane reject {name}` instead.")
    if successor.file == INBOX:
        raise BadInput(
            f"{other} is a candidate.", todo=f"Run `agentplane approve {other} --supersede {name}` instead."
        )
    for one in (entry, successor):
        check_untouched(memory, one)
    if successor.head.status != "accepted":
        raise BadInput(
            f"{other} can't supersede {name}, because its status is {one_line(successor.head.status, 20)}.",
            todo="With --by, name an accepted entry.",
        )
    if links.leads_to(memory, successor.id, entry.id):
        raise BadInput(
            f"{other} was itself superseded by {name}, so the links would form a loop.",
            todo=f"Run `agentplane edit {other}` to correct its links first.",
        )
    live = next(iter(links.successors_in_force(memory, entry)), None)
    if entry.head.status == "superseded" and live is not None:
        raise BadInput(
            f"{name} is already superseded by {one_line(live, 40)}.",
            todo=f"To choose another successor, run `agentplane supersede {one_line(live, 40)} --by {other}`.",
        )
    replaced = list(dict.fromkeys([*successor.head.supersedes, entry.id]))
    linked = with_fields(memory, successor, {"supersedes": replaced})
    return Plan("supersede-by", [_retired(memory, entry, [successor.id], today), linked], why=why)


def merge_entries(
    memory: Memory,
    wanted: Sequence[str],
    text: bytes,
    seen: Mapping[str, str],
    stamp: Stamp,
    why: str | None = None,
) -> Plan:
    """Merge approved entries into the first one, with a text by a person who saw them with the digests `seen`.

    The first entry keeps its id. The others are superseded by it.
    """
    entries = accepted(memory, wanted)
    if len(entries) < 2:
        raise BadInput(
            "Merging requires at least two entries.",
            todo="Pass the ID of each entry. To reconcile branches after a Git merge, run `agentplane reconcile`.",
        )
    for entry in entries:
        _check_seen(memory, entry, seen.get(entry.id))
    kept, *others = entries
    core = single(memory, kept, text)
    condition_place.refuse_unreadable(core, core_of(memory, kept), kept.id)
    head = _head(core)
    _check_accepted(head, kept.id)
    gone = [other.id for other in others]
    fields: dict[str, Any] = {"supersedes": list(dict.fromkeys([*head.supersedes, *gone]))}
    fields |= _without(head, gone) | _stamped(stamp)
    edits = [Edit(kept.id, kept.file, header.set_fields(core, fields))]
    edits += [_retired(memory, other, [kept.id], stamp.today) for other in others]
    return Plan("merge-entries", edits, why=why)


def _without(head: Header, gone: Sequence[str]) -> dict[str, Any]:
    """Return the links of a merged entry that pointed to the entries it absorbed, without these entries."""
    before = {name: list(getattr(head, name)) for name in ("superseded_by", "refines", "unrelated")}
    after = {name: [link for link in ids if link not in gone] for name, ids in before.items()}
    return {name: after[name] or header.DROP for name in before if after[name] != before[name]}


def split_entry(
    memory: Memory, wanted: str, texts: Sequence[bytes], seen: str, stamp: Stamp, why: str | None = None
) -> Plan:
    """Split an approved entry into several, with texts by a person who saw it with the digest `seen`.

    Each part gets a new id of the same kind, whatever id its text has.
    """
    (entry,) = accepted(memory, [wanted])
    _check_seen(memory, entry, seen)
    if len(texts) < 2:
        raise BadInput(
            f"{entry.id} can't be split into a single entry.",
            where=entry.id,
            todo="Write at least two entries, each with its own header.",
        )
    parts = [_part(memory, entry, text, number) for number, text in enumerate(texts, 1)]
    _check_different(entry, parts)
    kind = kind_named(memory.kinds, entry.head.type)
    names = new_ids(memory, [kind] * len(parts))
    edits = [
        Edit(name, kind.file, header.set_fields(part, {"id": name} | _as_successor(entry, part, stamp)))
        for name, part in zip(names, parts, strict=True)
    ]
    return Plan("split-entry", [_retired(memory, entry, names, stamp.today), *edits], why=why)


def _part(memory: Memory, entry: Entry, text: bytes, number: int) -> bytes:
    """Return the core of one part, under the id of the entry that is split."""
    name = f"{entry.id}, part {number}"
    page = document.parse(text)
    if len(page.blocks) == 1 and not page.troubles and not text[: page.blocks[0].start].strip():
        text = header.set_fields(page.core(page.blocks[0]), {"id": entry.id})
    core = single(memory, entry, text, name)
    condition_place.refuse_unreadable(core, core_of(memory, entry), name)
    _check_accepted(_head(core), name)
    return core


def _check_different(entry: Entry, parts: Sequence[bytes]) -> None:
    statements = [statement_of(_body(part), entry.label) for part in parts]
    twice = next((one for place, one in enumerate(statements) if one in statements[:place]), None)
    if twice is not None:
        raise BadInput(
            f"Two parts have the same statement: {one_line(twice, 60)}",
            where=entry.id,
            todo="Give each part its own statement.",
        )


def change_kind(memory: Memory, wanted: str, kind_name: str, stamp: Stamp, why: str | None = None) -> Plan:
    """Turn an approved entry into an entry of another kind, with a new id and the same text and fields."""
    (entry,) = accepted(memory, [wanted])
    kind = kind_named(memory.kinds, kind_name)
    if kind_named(memory.kinds, entry.head.type) is kind:
        raise BadInput(f"The kind of {entry.id} is already {kind.name}.")
    (name,) = new_ids(memory, [kind])
    core = _relabelled(core_of(memory, entry), entry.label, kind.label)
    fields = {"id": name, "type": kind.name} | _as_successor(entry, core, stamp, alone=True)
    retired = _retired(memory, entry, [name], stamp.today)
    return Plan("change-kind", [retired, Edit(name, kind.file, header.set_fields(core, fields))], why=why)


def _relabelled(core: bytes, old: str, new: str) -> bytes:
    """Return an entry with the label of another kind before its statement."""
    (block,) = document.parse(core).blocks
    body = core[block.body :].decode()
    start = len(body) - len(body.lstrip())
    if old and body[start:].lower().startswith(f"{old}:".lower()):
        body = f"{body[:start]}{new}{body[start + len(old) :]}"
    return core[: block.body] + body.encode()


def _as_successor(entry: Entry, core: bytes, stamp: Stamp, *, alone: bool = False) -> dict[str, Any]:
    """Return the fields of a new entry that supersedes `entry`, `alone` or together with others."""
    head = _head(core)
    own = [link for link in head.supersedes if not alone and link not in entry.head.supersedes]
    fields: dict[str, Any] = {"supersedes": list(dict.fromkeys([*own, entry.id]))}
    if head.superseded_by:
        fields["superseded_by"] = header.DROP
    if not alone:
        same = [name for name in OF_ONE_ENTRY if getattr(head, name) and _same(head, entry.head, name)]
        fields |= dict.fromkeys(same, header.DROP)
    return fields | _stamped(stamp)


def _same(one: Header, other: Header, name: str) -> bool:
    return bool(getattr(one, name) == getattr(other, name))


def accepted(memory: Memory, wanted: Sequence[str]) -> list[Entry]:
    """Return accepted entries without manual edits. Refuse others."""
    found = distinct(memory, wanted)
    for entry in found:
        name = one_line(entry.id, 40)
        if entry.file == INBOX:
            todo = f"Approve it first. To merge it into an entry, run `agentplane approve {name} --merge-into ID`."
            raise BadInput(f"{name} is a candidate, not an approved entry.", todo=todo)
        if entry.head.status != "accepted":
            raise BadInput(
                f"{name} is already {one_line(entry.head.status, 20)}.",
                todo="Use the ID of an accepted entry.",
            )
        check_untouched(memory, entry)
    return found


def _check_seen(memory: Memory, entry: Entry, digest: str | None) -> None:
    if entry.digest != digest:
        raise Refused(
            f"{entry.id} was changed while you were editing the draft.",
            where=f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
            todo="Read the current text, then start again.",
        )


def _check_accepted(head: Header, where: str) -> None:
    if head.status != "accepted":
        raise BadInput(
            f"Invalid status `{one_line(head.status, 30)}`.", where=where, todo="Use `accepted` here."
        )


def _retired(memory: Memory, entry: Entry, by: Sequence[str], today: date) -> Edit:
    """Return the edit that marks an entry as superseded by others."""
    successors = list(dict.fromkeys([*entry.head.superseded_by, *by]))
    return with_fields(memory, entry, {"status": "superseded", "superseded_by": successors, "updated": today})


def _stamped(stamp: Stamp) -> dict[str, Any]:
    return {"updated": stamp.today, "approved_by": stamp.actor}


def _head(core: bytes) -> Header:
    return read_header(document.parse(core).blocks[0].packed)[0]


def _body(core: bytes) -> str:
    page = document.parse(core)
    return page.body(page.blocks[0])
