"""The status and the changes of a memory as lines of text, the same in commands and screens."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from agentplane.memory.entry import Entry, Header
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line
from agentplane.text.word_changes import changes


if TYPE_CHECKING:
    from agentplane.api.memory_diff import EntryChange, MemoryDiff
    from agentplane.api.plane import LastPass, Status
    from agentplane.tools.receivers import Receivers

Mark = Literal["", "added", "removed", "changed"]
Readable = Callable[[str], str]
"""Returns a text in the form that the reader may see."""

_SIGNS: dict[str, str] = {"added": "+", "removed": "-", "changed": "~"}
_UNSHOWN = frozenset(("id", "updated"))
_NO_BASE = {
    "repository": "This project isn't in a Git repository, so agentplane lists every approved entry.",
    "commit": "No Git commit contains this memory yet, so agentplane lists every approved entry.",
}


class Piece(msgspec.Struct, frozen=True):
    """A part of a line, with its meaning for the color."""

    text: str
    mark: Mark = ""


Line = tuple[Piece, ...]


def status_lines(
    status: "Status", tools: "Receivers", root: Path, *, writer: str | None = None, checked: str = ""
) -> Iterator[str]:
    """Yield the lines of `agentplane status`. `checked` says how many candidates were checked."""
    yield f"Memory revision {status.revision}  {root}"
    yield f"  {', '.join(_counts(status))}"
    if status.writing:
        yield f"  Another process{f' (pid {writer})' if writer else ''} is writing a change."
    if status.weakened:
        yield f"  Trust settings that are weaker than their defaults: {', '.join(status.weakened)}"
    if checked:
        yield f"  {checked}"
    if status.findings is not None and status.findings.to_decide:
        yield f"  {_to_decide(status.findings)}"
    if tools.current:
        yield f"  Tools with the current memory: {', '.join(tools.current)}"
    if tools.behind:
        yield f"  Tools with outdated memory: {', '.join(tools.behind)}. Run `agentplane sync` to update them."
    if tools.missing:
        yield f"  Tools in this project that aren't connected: {', '.join(tools.missing)}. To connect a tool, run `agentplane tools connect NAME`."
    yield f"  Next: {status.next}"


def _to_decide(found: "LastPass") -> str:
    """Return how many findings of the curator need a decision, and when they were found if that isn't current."""
    count = counted(found.to_decide, "finding needs", "findings need")
    then = "" if found.current else f"As of {found.at:%Y-%m-%d %H:%M} UTC, "
    return f"{then}{count} a decision. Run `agentplane curate`."


def _counts(status: "Status") -> Iterator[str]:
    conflicts = f" ({status.conflicts} with conflicts)" if status.conflicts else ""
    yield counted(status.waiting, "candidate") + conflicts
    yield counted(status.hand_edits, "manual edit")
    if status.folded:
        yield counted(status.folded, "folded candidate")
    if status.broken:
        yield counted(status.broken, "unreadable entry", "unreadable entries")
    if status.expired:
        yield counted(status.expired, "expired entry", "expired entries")
    if status.expiring:
        soon = counted(status.expiring, "entry expires", "entries expire")
        yield f"{soon} within {counted(status.warn_days, 'day')}"
    if status.damaged:
        yield "damaged: the log doesn't match the memory files"


def diff_notes(found: "MemoryDiff", edits: int) -> Iterator[str]:
    """Yield what to know about a comparison. `edits` is the number of manual edits, which it doesn't include."""
    if found.missing:
        yield _NO_BASE[found.missing]
    elif not found.entries:
        since = f"commit {found.commit[:12]}" if found.commit else found.time
        yield f"No approved entries changed since {since}."
    if edits:
        yield f"This comparison doesn't include {counted(edits, 'manual edit')} awaiting review. Run `agentplane inbox` to list manual edits."


def diff_lines(entry: "EntryChange", readable: Readable = str) -> Iterator[Line]:
    """Yield the lines of a changed entry. Removed words are in `[-…-]` and added words in `{+…+}`."""
    shown = entry.after or entry.before
    text = f"  {one_line(readable(shown.statement))}" if shown else "  (the text was pruned)"
    yield Piece(f"{_SIGNS[entry.change]} {one_line(entry.id, 40)}", entry.change), Piece(text)
    if entry.before and entry.after:
        for name, before, after in _changed_fields(entry.before.head, entry.after.head, readable):
            yield (Piece(f"    {name}: {before or '-'} → {after or '-'}"),)
        old, new = _body(entry.before, readable), _body(entry.after, readable)
        lines = [*_changed_lines(old, new)]
        yield from ((Piece("    "), *line) for line in lines)
        if old != new and not lines:
            yield (Piece("    Only spaces and line breaks changed."),)


def _body(entry: Entry, readable: Readable) -> str:
    return readable(entry.body.strip("\r\n"))


def _changed_fields(before: Header, after: Header, readable: Readable) -> Iterator[tuple[str, str, str]]:
    for field in msgspec.structs.fields(Header):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new and field.name not in _UNSHOWN:
            yield field.encode_name, _value(old, readable), _value(new, readable)


def _value(value: object, readable: Readable) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
    return one_line(readable(text), 60)


def _changed_lines(before: str, after: str) -> Iterator[list[Piece]]:
    """Yield the lines with changed words."""
    line: list[Piece] = []
    differs = False
    for change in changes(before, after, exact=True):
        pieces = [Piece(change.here)] if change.same else [*_marked(change.here, change.there)]
        for piece in pieces:
            first, *rest = piece.text.split("\n")
            line.append(Piece(first, piece.mark))
            differs |= bool(piece.mark) and bool(first.strip())
            for part in rest:
                if differs:
                    yield line
                line, differs = [Piece(part, piece.mark)], bool(piece.mark) and bool(part.strip())
    if differs:
        yield line


def _marked(old: str, new: str) -> Iterator[Piece]:
    lead = old[: len(old) - len(old.lstrip())] or new[: len(new) - len(new.lstrip())]
    end = old[len(old.rstrip()) :] or new[len(new.rstrip()) :]
    yield Piece(lead)
    if old.strip():
        yield Piece(f"[-{old.strip()}-]", "removed")
    if new.strip():
        yield Piece(f"{{+{new.strip()}+}}", "added")
    yield Piece(end if old.strip() or new.strip() else "")
