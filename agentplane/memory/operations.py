"""Operations on entries. Each function returns the plan of one operation on the current memory."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Any

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.memory import ids
from agentplane.memory.entry import INBOX_STATUS, SHELF_STATUSES, Entry, Header, read_header, without_label
from agentplane.memory.kinds import kind_named
from agentplane.memory.replaced_text import POSTPONING
from agentplane.memory.view import HandEdit, Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store import records
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.views import external_ids
from agentplane.text.markdown import document, header
from agentplane.text.markdown.draft import Gap
from agentplane.text.markdown.statement import statement_of
from agentplane.text.visible import one_line


MAX_TEXT = 32 * 1024
STATED = ("tags", "source", "evidence", "confidence", "expires_at", "check", "scope")
"""Header keys that describe a statement, in the order of a header."""
ARRIVING = ("superseded", "deprecated")
"""The statuses that a candidate can arrive with, if it wasn't in force any more when it was proposed."""
_MARK = re.compile(r"[0-9a-f]{16}")
_NO_TEXTS: Mapping[str, bytes] = {}


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


class Stamp(msgspec.Struct, frozen=True):
    """The fields that an approval writes into an entry."""

    today: date
    actor: str
    anchor: str | None


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
    for name in (
        *STATED,
        "supersedes",
        "superseded_by",
        "arrives",
        "refines",
        "unrelated",
        "harvested",
        "external_id",
        "layer",
    ):
        value = getattr(proposal, name)
        if value not in (None, []):
            fields[name] = value
    if proposal.systemic_scale is not None:
        fields["systemic_scale"] = proposal.systemic_scale
    fields |= {"proposed_by": by, "updated": today}
    body = f"{kind.label}: {proposal.statement.strip()}"
    if proposal.rationale and proposal.rationale.strip():
        body += f"\nRationale: {proposal.rationale.strip()}"
    return Edit(id_, INBOX, header.new_core(fields, body))


def approve(
    memory: Memory, wanted: Sequence[str], stamp: Stamp, texts: Mapping[str, bytes] = _NO_TEXTS
) -> Plan:
    """Approve candidates, each under the next free id of its kind. `texts` replaces the text of some of them.

    A candidate that was superseded or deprecated when it was proposed keeps that status. Entries that one of
    the candidates superseded are linked to its new id, in edits before the others.
    """
    durables = _durable_ids(memory, wanted, texts)
    edits: list[Edit] = []
    for name, durable in durables.items():
        entry = memory.get(name)
        head = _approved_version(memory, entry, texts).head
        changes: dict[str, Any] = {"id": durable, **_arrival(head, durables), "updated": stamp.today}
        changes |= {"anchor": stamp.anchor} if stamp.anchor else {}
        changes |= {name: header.DROP for name in POSTPONING if getattr(head, name) is not None}
        changes["approved_by"] = stamp.actor
        core = header.set_fields(texts.get(entry.id) or _core(memory, entry), changes)
        file = kind_named(memory.kinds, head.type).file
        edits += [Edit(entry.id, INBOX, None), Edit(durable, file, core, was=entry.id)]
    return Plan("approve", [*_linked(memory, durables), *edits])


def _durable_ids(memory: Memory, wanted: Sequence[str], texts: Mapping[str, bytes]) -> dict[str, str]:
    """Check the candidates, and return the id that each one gets."""
    durables: dict[str, str] = {}
    numbers: dict[str, int] = {}
    ledger, in_files = memory.snapshot.ledger, memory.ids_in_files
    used = in_files | ledger.known.keys()
    for entry in candidates(memory, wanted):
        check_candidate(memory, entry)
        kind = kind_named(memory.kinds, _approved_version(memory, entry, texts).head.type)
        if kind.prefix not in numbers:
            numbers[kind.prefix] = ids.next_number(kind.prefix, ledger.tops, in_files - ledger.known.keys())
        durable = ids.durable(kind.prefix, numbers[kind.prefix])
        if durable in used:
            raise Refused(
                f"{durable} is already used.",
                todo=f"Give the entry with the highest {kind.prefix} number another ID.",
            )
        numbers[kind.prefix] += 1
        durables[entry.id] = durable
    return durables


def _arrival(head: Header, durables: Mapping[str, str]) -> dict[str, Any]:
    """Return the status that an approved candidate gets, and the links that belong to it."""
    arrives = head.arrives if head.arrives in ARRIVING else None
    changes: dict[str, Any] = {"status": arrives or "accepted"}
    if head.arrives is not None:
        changes["arrives"] = header.DROP
    if arrives and head.superseded_by:
        changes["superseded_by"] = _renamed(head.superseded_by, durables)
    return changes


def _approved_version(memory: Memory, entry: Entry, texts: Mapping[str, bytes]) -> Entry:
    """Return the candidate with the text that is approved."""
    return memory.entries_in(texts[entry.id], INBOX)[0] if entry.id in texts else entry


def _linked(memory: Memory, durables: Mapping[str, str]) -> Iterator[Edit]:
    """Link superseded entries to the new ids of the candidates that replaced them, except entries with a manual edit."""
    for entry in memory.entries.values():
        links = entry.head.superseded_by
        if entry.id in durables or durables.keys().isdisjoint(links):
            continue
        mark = memory.known(entry.id)
        if mark is not None and mark.digest == entry.digest:
            core = header.set_fields(_core(memory, entry), {"superseded_by": _renamed(links, durables)})
            yield Edit(entry.id, entry.file, core)


def _renamed(links: Sequence[str], durables: Mapping[str, str]) -> list[str]:
    return [durables.get(link, link) for link in links]


def reject(memory: Memory, wanted: Sequence[str], why: str | None) -> Plan:
    return Plan("reject", [Edit(entry.id, INBOX, None) for entry in candidates(memory, wanted)], why=why)


def deprecate(memory: Memory, wanted: Sequence[str], today: date, why: str | None) -> Plan:
    edits = []
    for entry in _distinct(memory, wanted):
        if entry.file == INBOX:
            raise BadInput(
                f"{entry.id} is a candidate, not an approved entry.",
                todo=f"Run `agentplane reject {entry.id}` instead.",
            )
        if entry.head.status == "deprecated":
            raise BadInput(f"{entry.id} is already deprecated.")
        edits.append(_with(memory, entry, {"status": "deprecated", "updated": today}))
    return Plan("deprecate", edits, why=why)


def pin(memory: Memory, wanted: Sequence[str]) -> Plan:
    """Pin accepted entries. In every context pack whose scope they match, they come before unpinned
    entries.
    """
    edits = []
    for entry in _distinct(memory, wanted):
        if entry.file == INBOX:
            raise BadInput(
                f"{entry.id} is a candidate, not an approved entry.", todo="Approve the candidate first."
            )
        if entry.head.status != "accepted":
            what = f"{entry.id} can't be pinned, because its status is {one_line(entry.head.status, 20)}"
            raise BadInput(what, todo="Pin an accepted entry instead. Tools get only accepted entries.")
        if entry.head.pinned:
            raise BadInput(f"{entry.id} is already pinned.")
        edits.append(_with(memory, entry, {"pinned": True}))
    return Plan("pin", edits)


def unpin(memory: Memory, wanted: Sequence[str]) -> Plan:
    edits = []
    for entry in _distinct(memory, wanted):
        if entry.file == INBOX or not entry.head.pinned:
            raise BadInput(f"{entry.id} is not pinned.")
        edits.append(_with(memory, entry, {"pinned": header.DROP}))
    return Plan("unpin", edits)


def tag(memory: Memory, wanted: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> Plan:
    """Add tags to entries and candidates, and remove others. Those that have the result already stay as they
    are.
    """
    edits = []
    for entry in _distinct(memory, wanted):
        kept = [tag for tag in entry.head.tags if tag not in remove]
        tags = list(dict.fromkeys([*kept, *add]))
        if tags != list(entry.head.tags):
            check = check_candidate if entry.file == INBOX else check_untouched
            check(memory, entry)
            core = header.set_fields(_core(memory, entry), {"tags": tags or header.DROP})
            edits.append(Edit(entry.id, entry.file, core))
    if not edits:
        raise BadInput("Nothing to change: the entries already have these tags.")
    return Plan("tag", edits)


def edit(memory: Memory, wanted: str, text: bytes, seen_digest: str) -> Plan | None:
    """Replace an entry with `text` by a person who saw the entry with the digest `seen_digest`. None if nothing
    changed.
    """
    entry = memory.get(wanted)
    if entry.digest != seen_digest:
        raise Refused(
            f"{entry.id} was changed while it was being edited.",
            where=f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
            todo="Read the current text, then edit the entry again.",
        )
    core = _single(memory, entry, text)
    if core == _core(memory, entry):
        return None
    return Plan("edit", [Edit(entry.id, entry.file, core)])


def adopt(
    memory: Memory, wanted: Collection[str], seen_digests: Mapping[str, str | None] | None = None
) -> Plan:
    """Approve the manual edits in the files, without changing their bytes.

    `seen_digests` contains the digests of the texts that the person saw, or None for a removed text.
    """
    edits = []
    chosen = _hand_edits(memory, wanted)
    for change in chosen if seen_digests is not None else ():
        _check_seen(memory, change, seen_digests or {})
    added = {change.id for change in chosen if change.change == "added"}
    for change in chosen:
        _check_readable(memory, change)
        mark = memory.known(change.id)
        if mark and mark.digest and mark.file != change.file and memory.snapshot.core(mark.file, change.id):
            raise Refused(
                f"{change.id} is already in {mark.file}.",
                where=_place_of(memory, change),
                todo=f"Give the new entry another ID, or run `agentplane reject {change.id}` to discard the edit.",
            )
        if change.change == "removed" and change.id in added:
            continue  # the entry was moved, and its new place is adopted
        text = None if change.change == "removed" else memory.snapshot.core(change.file, change.id)
        edits.append(Edit(change.id, change.file, text))
    return Plan("adopt", edits)


def _place_of(memory: Memory, change: HandEdit) -> str:
    """Return the file and, unless the entry is no longer in it, the line of a manual edit."""
    path = memory.snapshot.layout.shown(change.file)
    return path if change.line is None else f"{path}:{change.line}"


def _check_seen(memory: Memory, change: HandEdit, seen_digests: Mapping[str, str | None]) -> None:
    now = memory.entries.get(change.id)
    if seen_digests.get(change.id) != (now.digest if now else None):
        raise Refused(
            f"{change.id} was edited again after you reviewed it.",
            where=_place_of(memory, change),
            todo="No edit was accepted. Review the current text.",
        )


def adopt_what_counts(memory: Memory) -> Plan | None:
    """Adopt all manual edits of approved entries that can be adopted, for settings that trust manual edits.

    Return None if there are none.
    """
    edits = memory.all_hand_edits
    files = {(change.id, change.change): change.file for change in edits}
    names = []
    for change in edits:
        mark = memory.known(change.id)
        copied = (
            mark and mark.digest and mark.file != change.file and memory.snapshot.core(mark.file, change.id)
        )
        if (
            INBOX not in (change.file, files.get((change.id, "added")))
            and change.change != "broken"
            and not copied
        ):
            names.append(change.id)
    return adopt(memory, names) if names else None


def revert(memory: Memory, wanted: Collection[str]) -> Plan:
    """Restore the approved text. The manual edit is kept in the record of the operation."""
    edits = []
    for change in _hand_edits(memory, wanted):
        _check_readable(memory, change)
        mark = memory.known(change.id)
        if change.change == "added" or mark is None:
            edits.append(Edit(change.id, change.file, None, after=mark.digest if mark else None))
            continue
        text = memory.snapshot.approved_text(change.id)
        if text is None:
            raise Refused(
                f"The approved text of {change.id} was permanently removed, so it can't be restored.",
                todo=f"Run `agentplane approve {change.id}` to accept the edit.",
            )
        gap = _old_place(memory, change, text)
        edits.append(Edit(change.id, change.file, text, after=mark.digest, gap=gap))
    return Plan("revert", edits)


def _old_place(memory: Memory, change: HandEdit, text: bytes) -> Gap | None:
    """Return the gap after the entry that preceded it in its last operation. None means its current place or
    the end.
    """
    mark = memory.known(change.id)
    page = memory.snapshot.pages.get(change.file)
    if mark is None or page is None or change.change not in ("removed", "broken"):
        return None
    stored = records.load(memory.snapshot.layout, mark.op)
    old = next((item.gap for item in stored.record.changes if item.id == change.id), None)
    if old is None:
        return None
    line_break = "\r\n" if b"\r\n" in text else "\n"
    blocks = page.document.blocks
    predecessor = next((place for place, block in enumerate(blocks) if block.id == old.after), -1)
    follows = predecessor + 1 < len(blocks)
    before = page.document.data[: blocks[predecessor + 1].start if follows else None]
    is_separated = before.endswith((b"\n\n", b"\n\r\n")) and (old.after is None or predecessor >= 0)
    return Gap(
        old.after, lead="" if is_separated else line_break, tail=line_break * 2 if follows else line_break
    )


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
    texts = (proposal.statement, proposal.rationale or "", *words)
    if any("\ud800" <= char <= "\udfff" for text in texts for char in text if not text.isascii()):
        raise BadInput("The text isn't valid UTF-8.", todo="Save the text as UTF-8.")
    if any("\0" in text for text in texts):
        raise BadInput("The text contains a NUL character.", todo="Remove that character.")
    if not all(word.strip() for word in words):
        raise BadInput(
            "One of the tags, evidence, scopes or IDs is empty.",
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
            todo="Use letters, digits and . _ : - in IDs, for example memory-schema-defined.",
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


def candidates(memory: Memory, wanted: Sequence[str]) -> list[Entry]:
    found = _distinct(memory, wanted)
    for entry in found:
        if entry.file != INBOX:
            raise BadInput(
                f"{entry.id} is an approved entry, not a candidate.",
                todo=f"The entry has no manual edit to review. To retire the entry, run `agentplane deprecate {entry.id}`.",
            )
    return found


def check_candidate(memory: Memory, entry: Entry) -> None:
    """Refuse a candidate whose text was changed after it was proposed."""
    mark = memory.known(entry.id)
    if mark is None or mark.digest != entry.digest:
        raise Refused(
            f"{entry.id} has a manual edit that nobody has accepted yet.",
            where=f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
            todo=f"Run `agentplane approve --edits {one_line(entry.id, 40)}` to accept the edit, or `agentplane reject --edits {one_line(entry.id, 40)}` to discard it.",
        )


def _distinct(memory: Memory, wanted: Iterable[str]) -> list[Entry]:
    found = {entry.id: entry for entry in map(memory.get, wanted)}
    if not found:
        raise BadInput("An entry ID is required.")
    return list(found.values())


def _hand_edits(memory: Memory, wanted: Collection[str]) -> list[HandEdit]:
    """Return the manual edits with these names, or all of them if none is named."""
    edits = memory.all_hand_edits
    if not edits:
        raise BadInput("There are no manual edits.")
    if not wanted:
        return edits
    edited = {change.id for change in edits}
    names = {ids.match(name, edited | memory.entries.keys()) for name in wanted}
    for name in sorted(names - edited):
        raise BadInput(f"{name} has no manual edit.", todo="Run `agentplane inbox` to list manual edits.")
    return [change for change in edits if change.id in names]


def _check_readable(memory: Memory, change: HandEdit) -> None:
    """Refuse a broken entry. Adopting it would lose its text, and reverting it would add a second copy."""
    if change.change == "broken":
        raise Refused(
            f"{change.id} can't be read.",
            where=_place_of(memory, change),
            todo=f"Fix the header of the entry, or delete the entry and run `agentplane reject {change.id}`.",
        )


def _with(memory: Memory, entry: Entry, changes: dict[str, Any]) -> Edit:
    """Return the edit of an approved entry with other fields. Refuse an entry with a manual edit."""
    check_untouched(memory, entry)
    return Edit(entry.id, entry.file, header.set_fields(_core(memory, entry), changes))


def _core(memory: Memory, entry: Entry) -> bytes:
    core = memory.snapshot.core(entry.file, entry.id)
    if core is None:
        raise BadInput(f"Entry not found: {entry.id}")
    return core


def check_untouched(memory: Memory, entry: Entry) -> None:
    if not entry.trusted:
        raise Refused(
            f"{entry.id} has a manual edit.",
            where=f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
            todo=f"First run `agentplane approve {entry.id}` to accept the edit, or `agentplane reject {entry.id}` to discard it.",
        )


def _single(memory: Memory, entry: Entry, text: bytes) -> bytes:
    """Return the core of a text that a person wrote. It must be one entry with the same id and kind."""
    page = document.parse(text)
    where = entry.id
    if page.troubles:
        trouble = page.troubles[0]
        raise BadInput(trouble.what, where=f"{where}:{trouble.line}", todo=trouble.todo)
    if len(page.blocks) != 1 or text[: page.blocks[0].start].strip(b"\xef\xbb\xbf \t\r\n"):
        raise BadInput(
            "The text isn't a single entry.",
            where=where,
            todo="Write one entry, with its header between two `---` lines.",
        )
    block = page.blocks[0]
    if block.id != entry.id:
        raise BadInput(
            f"The ID can't be changed to {one_line(block.id, 40)}.",
            where=where,
            todo=f"Keep the ID {entry.id}.",
        )
    head, problems = read_header(block.packed)
    if problems:
        raise BadInput(problems[0], where=where, todo="Fix the header.")
    kind = kind_named(memory.kinds, head.type)
    if entry.file not in (INBOX, kind.file):
        raise BadInput(
            f"The kind of an approved entry can't be changed to {kind.name}.",
            where=where,
            todo="Propose a new entry instead.",
        )
    statuses = (INBOX_STATUS,) if entry.file == INBOX else SHELF_STATUSES
    if head.status not in statuses:
        raise BadInput(
            f"Invalid status `{one_line(head.status, 30)}`.",
            where=where,
            todo=f"Use {' or '.join(f'`{status}`' for status in statuses)}.",
        )
    if not statement_of(page.body(block), kind.label).strip():
        raise BadInput("The statement is empty.", where=where, todo="Write a sentence to remember.")
    return page.core(block)
