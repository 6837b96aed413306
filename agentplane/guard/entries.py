"""The check that operations wrote all entry changes of a branch, and that new texts name their source."""

from collections.abc import Iterator, Sequence

import msgspec

from agentplane.findings import Finding, Instruction, Remedy, Shell
from agentplane.guard import proven_ops, recorded
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.memory import ids
from agentplane.memory.entry import Header, read_header
from agentplane.memory.view import HandEdit
from agentplane.plane.layout import INBOX


def findings(base: Side, now: Side, done: Sequence[LoggedOp]) -> Iterator[Finding]:
    yield from _unreadable(base, now)
    strays = set[tuple[str, str]]()
    edits = now.memory.all_hand_edits
    old = {_key(base, edit) for edit in base.memory.all_hand_edits} if edits else set()
    for edit in edits:
        strays.add((edit.file, edit.id))
        if edit.change != "broken" and _key(now, edit) not in old and not _counts(base, now, edit):
            yield _stray(base, now, edit, done)
    yield from _sources(base, now, done, strays)


def _key(side: Side, edit: HandEdit) -> tuple[str, str, str, str | None]:
    """Key of a manual edit by its effect, independent of its line in the file."""
    page = side.pages.get(edit.file)
    block = page.document.find(edit.id) if page else None
    return edit.id, edit.file, edit.change, block.digest if block else None


def _counts(base: Side, now: Side, edit: HandEdit) -> bool:
    """True if the settings of the base accept this manual edit immediately. Manual edits of candidates never
    count.
    """
    mark = now.memory.known(edit.id)
    inbox = INBOX in (edit.file, mark.file if mark and mark.digest else "")
    return base.settings.trust.hand_edits == "accept" and not inbox


def _unreadable(base: Side, now: Side) -> Iterator[Finding]:
    for name, what in now.odd.items():
        if base.odd.get(name) != what:
            real = Instruction("Replace this with the real file.")
            yield Finding("file-odd", "error", now.where(name), what, (real,), name)
    old = {
        (file, page.document.data[piece.start : piece.end])
        for file, page in base.pages.items()
        for piece in page.document.troubles
    }
    for file, page in now.pages.items():
        for piece in page.document.troubles:
            if (file, page.document.data[piece.start : piece.end]) not in old:
                where, remedy = now.where(file, piece.line), Instruction(piece.todo)
                yield Finding("entry-broken", "error", where, shown(piece.what, 200), (remedy,))


def _stray(base: Side, now: Side, edit: HandEdit, done: Sequence[LoggedOp]) -> Finding:
    name = shown(edit.id, 40)
    mark = now.memory.known(edit.id)
    op = next((op for op in done if mark and op.event.op == mark.op), None)
    by = op.name if op else "its last operation"
    remedies: tuple[Remedy, ...] = (
        Shell(edit.command("approve"), "Accept the edit with ", " and commit the result, or"),
        Shell(edit.command("reject"), "discard it with "),
    )
    if not ids.is_plain(edit.id):
        remedies = (Instruction("Remove the entry, or give it an ID such as DEC-014."),)
    if edit.change == "removed":
        line = _line_at(base, edit)
        what = f"{name} was removed manually: the entry was still in this file after {by}"
        return Finding("entry-removed", "error", now.where(edit.file, line), what, remedies, edit.id)
    if edit.change == "changed":
        fields = _differing(base, now, edit)
        code, what = (
            "entry-changed",
            f"{name} was changed manually{fields}: the entry differs from the text that {by} wrote",
        )
    elif mark is None:
        code, what = "entry-written", f"{name} was added manually: no operation in the log added it"
        remedies = (*remedies, Instruction("Next time, use `agentplane propose`."))
    elif mark.digest is None:
        code, what = "entry-put-back", f"{name} was restored manually: {by} had removed the entry"
    elif mark.file == INBOX:
        code = "entry-not-approved"
        what = f"{name} was moved to the approved entries, but nobody approved it: the entry was still in the inbox after {by}"
        remedies = (
            Instruction("Remove the entry here, then approve the candidate with `agentplane approve`."),
        )
    else:
        code, what = (
            "entry-moved",
            f"{name} was moved here manually: the entry was in {shown(mark.file, 60)} after {by}",
        )
    return Finding(code, "error", now.where(edit.file, edit.line), what, remedies, edit.id)


def _line_at(side: Side, edit: HandEdit) -> int | None:
    page = side.pages.get(edit.file)
    block = page.document.find(edit.id) if page else None
    return block.line if block else edit.line


def _differing(base: Side, now: Side, edit: HandEdit) -> str:
    """Return the fields of an entry that differ from the base, for example ` (status, text)`."""
    mark, page, old_page = now.memory.known(edit.id), now.pages[edit.file], base.pages.get(edit.file)
    block = page.document.find(edit.id)
    old = old_page.document.find(edit.id) if old_page else None
    if not (block and old and old_page and mark) or mark.digest != old.digest:
        return ""
    return recorded.differing_fields((old_page.document, old), (page.document, block))


class _ChangedEntry(msgspec.Struct, frozen=True):
    """An entry that differs from the base, with its location and its old header."""

    head: Header
    file: str
    line: int
    old: Header | None


def _changed(base: Side, now: Side) -> Iterator[_ChangedEntry]:
    for file, page in now.pages.items():
        old_page = base.pages.get(file)
        for block in page.document.blocks:
            old = old_page.document.find(block.id) if old_page else None
            if old is None or old.digest != block.digest:
                was = read_header(old.packed)[0] if old else None
                yield _ChangedEntry(read_header(block.packed)[0], file, block.line, was)


def _sources(
    base: Side, now: Side, done: Sequence[LoggedOp], strays: set[tuple[str, str]]
) -> Iterator[Finding]:
    """Yield findings for new texts that name neither a run in the log nor a person as their source."""
    runs, tools = proven_ops.runs_of(now), proven_ops.written_by_tool(done)
    for entry in _changed(base, now):
        head, name = entry.head, shown(entry.head.id, 40)
        was_so = entry.old is not None and entry.old.source == head.source
        if was_so or (entry.file, head.id) in strays or head.source in runs:
            continue
        where = now.where(entry.file, entry.line)
        if head.source is not None:
            what = f"{name} cites the run {shown(head.source, 40)}, which is not in the log"
            remedy = Instruction(
                "Commit the log line of this run, or correct `source:` with `agentplane edit`."
            )
            yield Finding("run-not-found", "error", where, what, (remedy,), head.id)
        elif tools.get(head.id, proven_ops.is_tool(head.proposed_by)):
            what = f"{name} was written by {shown(head.proposed_by or 'a tool', 40)} but doesn't cite a run"
            before, after = (
                "Add the run as `source:` with ",
                ". If you change the text yourself, no run is required.",
            )
            edit = Shell(("agentplane", "edit", name), before, after)
            yield Finding("run-not-named", "error", where, what, (edit,), head.id)
