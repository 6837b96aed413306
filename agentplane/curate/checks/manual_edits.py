"""Manual edits to approved entries that nobody has reviewed."""

import difflib
from collections.abc import Iterator

from agentplane.curate.finding import Diff, Finding, Lines, Proof
from agentplane.curate.remedies import Remedy, ReviewEdit
from agentplane.curate.subject import Subject
from agentplane.errors import AgentplaneError
from agentplane.memory.view import HandEdit
from agentplane.plane.layout import INBOX
from agentplane.text.visible import one_line


_LARGEST = 100_000
"""Maximum size of both texts, in bytes, for which a diff is computed."""
_SAYS = {
    "changed": "has a manual edit that nobody has reviewed",
    "added": "was added to the file manually, and nobody has reviewed it",
    "removed": "was removed from the file manually, and nobody has reviewed the removal",
    "broken": "was edited manually, and agentplane can no longer parse it",
}


def check(subject: Subject) -> Iterator[Finding]:
    ledger = subject.memory.snapshot.ledger
    if ledger.unsettled:
        return  # Git may have written the text while it merged branches, and `reconcile` comes first
    for edit in subject.memory.hand_edits:
        if edit.file != INBOX and edit.id not in ledger.met:
            yield _finding(subject, edit)


def _finding(subject: Subject, edit: HandEdit) -> Finding:
    where = subject.layout.shown(edit.file) + (f":{edit.line}" if edit.line else "")
    before, after = _approved(subject, edit), subject.memory.snapshot.core(edit.file, edit.id) or b""
    discard = ReviewEdit(edit.id, accept=False)
    remedies: tuple[Remedy, ...] = (discard,) if edit.change == "broken" else (ReviewEdit(edit.id), discard)
    return Finding(
        "manual-edit",
        (edit.id,),
        where,
        f"{one_line(edit.id, 40)} {_SAYS[edit.change]}",
        _proof(where, before, after),
        remedies,
        basis=f"{edit.change} {after!r}",
    )


def _approved(subject: Subject, edit: HandEdit) -> bytes:
    """Return the approved text. It is empty if there is none, or if it was pruned or can't be read."""
    if edit.change == "added":
        return b""
    try:
        return subject.memory.snapshot.approved_text(edit.id) or b""
    except AgentplaneError:
        return b""


def _proof(where: str, before: bytes, after: bytes) -> Proof:
    if len(before) + len(after) > _LARGEST:
        return Lines(
            where,
            f"The approved text has {len(before):,} bytes, and the text in the file has {len(after):,} bytes.",
        )
    old, new = (text.decode(errors="replace").splitlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, "approved", "in the file", lineterm="")
    return Diff(where, "\n".join(lines))
