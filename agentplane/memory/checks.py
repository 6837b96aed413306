"""Checks of entries for `doctor`, such as broken entries, double ids, manual edits and dead links."""

from collections.abc import Iterator

from agentplane.findings import Finding, Instruction, Remedy, Shell
from agentplane.memory import ids, links
from agentplane.memory.entry import INBOX_STATUS, SHELF_STATUSES, Entry
from agentplane.memory.view import HandEdit, Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger import union_cleanup
from agentplane.plane.store.store import Store
from agentplane.text.visible import one_line


_RECONCILE = ("agentplane", "reconcile")


def check(store: Store) -> Iterator[Finding]:
    memory = Memory(store.snapshot())
    yield from _broken(memory)
    yield from _doubled(memory)
    yield from _hand_edits(memory)
    for entry in memory.entries.values():
        yield from _entry(memory, entry)
    yield from _successors(memory)
    yield from _one_external_id(memory)


def _one_external_id(memory: Memory) -> Iterator[Finding]:
    """Report accepted entries with the same external id, for example after two branches promoted one fact."""
    found: dict[str, list[Entry]] = {}
    for entry in memory.shelf:
        if entry.head.external_id and entry.head.status == "accepted":
            found.setdefault(entry.head.external_id, []).append(entry)
    for name, entries in found.items():
        if len(entries) > 1:
            where = f"{memory.snapshot.layout.shown(entries[-1].file)}:{entries[-1].line}"
            ids_ = " and ".join(one_line(entry.id, 40) for entry in entries)
            what = f"{ids_} have the same external id, {one_line(name, 60)}"
            remedy = Instruction("Run `agentplane deprecate` on the entry that is wrong.")
            yield Finding("external-id-twice", "warning", where, what, (remedy,), name)


def _successors(memory: Memory) -> Iterator[Finding]:
    """Report entries with several successors in force, for example after decisions on two branches."""
    for id_, found in links.forks(memory).items():
        entry = memory.entries[id_]
        names = " and ".join(one_line(link, 40) for link in found)
        where = f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}"
        what = f"{one_line(entry.id, 40)} was superseded by {names}, which are all still in force"
        remedy = Instruction("Run `agentplane deprecate` on the entry that no longer applies.")
        yield Finding("superseded-twice", "warning", where, what, (remedy,), entry.id)


def _broken(memory: Memory) -> Iterator[Finding]:
    layout = memory.snapshot.layout
    for file, page in memory.snapshot.pages.items():
        troubles = page.document.troubles
        twice = {start for _, _, start, _ in union_cleanup.doubled(page.document.data)} if troubles else set()
        for trouble in troubles:
            where = f"{layout.shown(file)}:{trouble.line}"
            if trouble.start not in twice:
                yield Finding("entry-broken", "error", where, trouble.what, (Instruction(trouble.todo),))
            elif memory.snapshot.ledger.unsettled:
                remedy = Shell(_RECONCILE, "Run ", " to merge the two entries.")
                yield Finding("entry-twice", "warning", where, trouble.what, (remedy,))
            else:
                after = (
                    " if a Git merge left both entries. Otherwise, give one of the entries a different ID."
                )
                remedy = Shell(_RECONCILE, "Run ", after)
                yield Finding("entry-twice", "error", where, trouble.what, (remedy,))


def _doubled(memory: Memory) -> Iterator[Finding]:
    first: dict[str, str] = {}
    hidden = frozenset(memory.hidden)
    for file, page in memory.snapshot.pages.items():
        for block in page.document.blocks:
            where = f"{memory.snapshot.layout.shown(file)}:{block.line}"
            if block.id in first:
                what = f"{one_line(block.id, 40)} is also the ID of the entry at {first[block.id]}"
                if file == INBOX and block.id in hidden:
                    what += ", and that entry hides this candidate"
                rename = Instruction("Give one of the two entries a different ID, or delete one of them.")
                yield Finding("id-twice", "error", where, what, (rename,), block.id)
            first.setdefault(block.id, where)


def _hand_edits(memory: Memory) -> Iterator[Finding]:
    ledger = memory.snapshot.ledger
    for edit in memory.hand_edits:
        if edit.id in ledger.met:
            continue  # the finding about the two branches already covers it
        where = memory.snapshot.layout.shown(edit.file) + (f":{edit.line}" if edit.line else "")
        name, remedies = one_line(edit.id, 40), remedies_of(edit)
        if ledger.unsettled:
            remedies = (
                Shell(_RECONCILE, "Run ", " first, because a Git merge may have caused this. Then:"),
                *remedies,
            )
        what = (
            f"{name} can't be read"
            if edit.change == "broken"
            else f"{name} has a manual edit ({edit.change})"
        )
        yield Finding("hand-edit", "warning", where, what, remedies, edit.id)


def remedies_of(edit: HandEdit) -> tuple[Remedy, ...]:
    """Return the remedies for a manual edit, one sentence together."""
    if edit.change == "broken":
        discard = " ".join(edit.command("reject"))
        return (
            Instruction(
                f"Fix the header of the entry in the file, or delete the entry there and run `{discard}`."
            ),
        )
    return (
        Shell(edit.command("approve"), "Accept the edit with ", " or"),
        Shell(edit.command("reject"), "discard it with "),
    )


def _entry(memory: Memory, entry: Entry) -> Iterator[Finding]:
    where = f"{memory.snapshot.layout.shown(entry.file)}:{entry.line}"
    name = one_line(entry.id, 40)
    edit = Shell(("agentplane", "edit", name), "Run ", " to fix the header.")
    for problem in entry.problems:
        yield Finding("header-problem", "warning", where, f"{name}: {problem}", (edit,), entry.id)
    if not ids.is_plain(entry.id):
        what, remedy = (
            f"{name} isn't in the format of the IDs that agentplane assigns",
            Instruction("Choose an ID such as DEC-014."),
        )
        yield Finding("id-odd", "warning", where, what, (remedy,), entry.id)
    kind = memory.kinds.get(entry.head.type)
    if kind is None:
        what = f"{name} has the unknown kind `{one_line(entry.head.type, 30)}`"
        remedy = Instruction(f"Use one of {', '.join(memory.kinds)}, or define the kind in config.toml.")
        yield Finding("kind-unknown", "warning", where, what, (remedy,), entry.id)
    elif entry.file not in (INBOX, kind.file):
        what, remedy = (
            f"{name} is in the wrong file. Entries of its kind ({kind.name}) belong in {kind.file}",
            Instruction(f"Move the entry to {kind.file}, then run `agentplane approve {name}`."),
        )
        yield Finding("file-wrong", "warning", where, what, (remedy,), entry.id)
    wanted = (INBOX_STATUS,) if entry.file == INBOX else SHELF_STATUSES
    if entry.head.status not in wanted:
        what = f"{name} has the status `{one_line(entry.head.status, 30)}`, but in this file the status must be {' or '.join(wanted)}"
        yield Finding("status-wrong", "warning", where, what, (edit,), entry.id)
    for link in links.dead(memory, entry):
        what = f"{name} links to {one_line(link.id, 40)}, but no entry has this ID"
        yield Finding("link-nowhere", "warning", where, what, (edit,), entry.id)
