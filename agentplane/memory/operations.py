"""Operations on entries. Each function returns the plan of one operation on the current memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.memory import condition_place, ids
from agentplane.memory.entry import (
    ARRIVING,
    INBOX_STATUS,
    POSTPONING,
    SHELF_STATUSES,
    Entry,
    Header,
    read_header,
)
from agentplane.memory.kinds import Kind, kind_named
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from agentplane.text.markdown import document, header
from agentplane.text.markdown.statement import statement_of
from agentplane.text.visible import one_line


_NO_TEXTS: Mapping[str, bytes] = {}


class Stamp(msgspec.Struct, frozen=True):
    """The fields that an approval writes into an entry."""

    today: date
    actor: str
    anchor: str | None


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
        core = header.set_fields(texts.get(entry.id) or core_of(memory, entry), changes)
        file = kind_named(memory.kinds, head.type).file
        edits += [Edit(entry.id, INBOX, None), Edit(durable, file, core, was=entry.id)]
    return Plan("approve", [*_linked(memory, durables), *edits])


def _durable_ids(memory: Memory, wanted: Sequence[str], texts: Mapping[str, bytes]) -> dict[str, str]:
    """Check the candidates, and return the id that each one gets."""
    entries = candidates(memory, wanted)
    for entry in entries:
        check_candidate(memory, entry)
    kinds = [kind_named(memory.kinds, _approved_version(memory, entry, texts).head.type) for entry in entries]
    return dict(zip([entry.id for entry in entries], new_ids(memory, kinds), strict=True))


def new_ids(memory: Memory, kinds: Sequence[Kind]) -> list[str]:
    """Return the next free id of each of these kinds. The same kind can occur several times."""
    found: list[str] = []
    numbers: dict[str, int] = {}
    ledger, in_files = memory.snapshot.ledger, memory.ids_in_files
    used = in_files | ledger.known.keys()
    for kind in kinds:
        if kind.prefix not in numbers:
            numbers[kind.prefix] = ids.next_number(kind.prefix, ledger.tops, in_files - ledger.known.keys())
        durable = ids.durable(kind.prefix, numbers[kind.prefix])
        if durable in used:
            raise Refused(
                f"{durable} is already in use.",
                todo=f"Assign a different ID to the entry with the highest {kind.prefix} number.",
            )
        numbers[kind.prefix] += 1
        found.append(durable)
    return found


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
            core = header.set_fields(core_of(memory, entry), {"superseded_by": _renamed(links, durables)})
            yield Edit(entry.id, entry.file, core)


def _renamed(links: Sequence[str], durables: Mapping[str, str]) -> list[str]:
    return [durables.get(link, link) for link in links]


def reject(memory: Memory, wanted: Sequence[str], why: str | None) -> Plan:
    return Plan("reject", [Edit(entry.id, INBOX, None) for entry in candidates(memory, wanted)], why=why)


def deprecate(memory: Memory, wanted: Sequence[str], today: date, why: str | None) -> Plan:
    edits = []
    for entry in distinct(memory, wanted):
        if entry.file == INBOX:
            raise BadInput(
                f"{entry.id} is a candidate, not an approved entry.",
                todo=f"Run `agentplane reject {entry.id}` instead.",
            )
        if entry.head.status == "deprecated":
            raise BadInput(f"{entry.id} is already deprecated.")
        edits.append(with_fields(memory, entry, {"status": "deprecated", "updated": today}))
    return Plan("deprecate", edits, why=why)


def renew(memory: Memory, wanted: Sequence[str], why: str | None) -> Plan:
    """Confirm that accepted entries are still true. Their texts stay the same."""
    entries = distinct(memory, wanted)
    for entry in entries:
        if entry.file == INBOX:
            raise BadInput(
                f"{entry.id} is a candidate, not an approved entry.", todo="Approve the candidate instead."
            )
        if entry.head.status != "accepted":
            raise BadInput(
                f"{entry.id} can't be renewed, because its status is {one_line(entry.head.status, 20)}.",
                todo="Renew an accepted entry instead. Tools get only accepted entries.",
            )
        check_untouched(memory, entry)
    return Plan("renew", (), why=why, observed={entry.id: () for entry in entries})


def pin(memory: Memory, wanted: Sequence[str]) -> Plan:
    """Pin accepted entries. In every context pack whose scope they match, they come before unpinned
    entries.
    """
    edits = []
    for entry in distinct(memory, wanted):
        if entry.file == INBOX:
            raise BadInput(
                f"{entry.id} is a candidate, not an approved entry.", todo="Approve the candidate first."
            )
        if entry.head.status != "accepted":
            what = f"{entry.id} can't be pinned, because its status is {one_line(entry.head.status, 20)}"
            raise BadInput(what, todo="Pin an accepted entry instead. Tools get only accepted entries.")
        if entry.head.pinned:
            raise BadInput(f"{entry.id} is already pinned.")
        edits.append(with_fields(memory, entry, {"pinned": True}))
    return Plan("pin", edits)


def unpin(memory: Memory, wanted: Sequence[str]) -> Plan:
    edits = []
    for entry in distinct(memory, wanted):
        if entry.file == INBOX or not entry.head.pinned:
            raise BadInput(f"{entry.id} is not pinned.")
        edits.append(with_fields(memory, entry, {"pinned": header.DROP}))
    return Plan("unpin", edits)


def tag(memory: Memory, wanted: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> Plan:
    """Add tags to entries and candidates, and remove others. Those that have the result already stay as they
    are.
    """
    edits = []
    for entry in distinct(memory, wanted):
        kept = [tag for tag in entry.head.tags if tag not in remove]
        tags = list(dict.fromkeys([*kept, *add]))
        if tags != list(entry.head.tags):
            check = check_candidate if entry.file == INBOX else check_untouched
            check(memory, entry)
            core = header.set_fields(core_of(memory, entry), {"tags": tags or header.DROP})
            edits.append(Edit(entry.id, entry.file, core))
    if not edits:
        raise BadInput("Nothing to change: the entries already have these tags.")
    return Plan("tag", edits)


def edit(
    memory: Memory, wanted: str, text: bytes, seen_digest: str, *, reads_check: bool = True
) -> Plan | None:
    """Replace an entry with `text` by a person who saw the entry with the digest `seen_digest`. None if nothing
    changed. Without `reads_check`, the check can have any text, as in edits by earlier versions.
    """
    entry = memory.get(wanted)
    if entry.digest != seen_digest:
        raise Refused(
            f"{entry.id} was changed while you were editing it.",
            where=f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}",
            todo="Read the current text, then edit the entry again.",
        )
    core = single(memory, entry, text)
    if core == core_of(memory, entry):
        return None
    if reads_check:
        condition_place.refuse_unreadable(text, core_of(memory, entry), entry.id)
    return Plan("edit", [Edit(entry.id, entry.file, core)])


def candidates(memory: Memory, wanted: Sequence[str]) -> list[Entry]:
    found = distinct(memory, wanted)
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


def distinct(memory: Memory, wanted: Iterable[str]) -> list[Entry]:
    """Return the entries that a person names, each once."""
    found = {entry.id: entry for entry in map(memory.get, wanted)}
    if not found:
        raise BadInput("An entry ID is required.")
    return list(found.values())


def with_fields(memory: Memory, entry: Entry, changes: dict[str, Any]) -> Edit:
    """Return the edit of an approved entry with other fields. Refuse an entry with a manual edit."""
    check_untouched(memory, entry)
    return Edit(entry.id, entry.file, header.set_fields(core_of(memory, entry), changes))


def core_of(memory: Memory, entry: Entry) -> bytes:
    """Return the text of an entry in its file, without the blank lines after it."""
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


def single(memory: Memory, entry: Entry, text: bytes, name: str | None = None) -> bytes:
    """Return the core of a text that a person wrote. It must be one entry with the same id and kind.

    `name` names the text in errors [default: the id].
    """
    page = document.parse(text)
    where = name or entry.id
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
