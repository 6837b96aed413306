"""Approved entries as rows, grouped by kind. In each group, entries that are no longer in force come last."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentplane.tui.backend.entries.inbox_rows import EDIT
from agentplane.tui.backend.list_state import PLAIN, Row


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.memory.expiry import Expiry
    from agentplane.memory.view import HandEdit
    from agentplane.tui.backend.model import PlaneView

_BADGES = {"accepted": ("●", "clean"), "deprecated": ("×", "quiet"), "superseded": ("→", "quiet")}
_LOST = ("removed", "broken")


def rows(shown: "PlaneView", *, plain: bool = False) -> list[Row]:
    """Return all rows.

    Entries that a manual edit removed or broke come first, because they have no other place.
    """
    edits = {edit.id: edit for edit in shown.shelf_edits}
    lost = [edit for edit in shown.shelf_edits if edit.change in _LOST]
    made = [_lost_row(edit) for edit in lost]
    width = min(max((len(entry.id) for entry in shown.shelf), default=0), 14)
    order = {kind: place for place, kind in enumerate(shown.memory.kinds)}
    ranked = sorted(
        shown.shelf,
        key=lambda entry: (
            order.get(entry.head.type, len(order)),
            entry.head.type,
            entry.head.status != "accepted",
        ),
    )
    return [
        *made,
        *(
            row(entry, edits.get(entry.id), shown.expiring.get(entry.id), width, plain=plain)
            for entry in ranked
        ),
    ]


def row(entry: "Entry", edit: "HandEdit | None", expiry: "Expiry | None", width: int, *, plain: bool) -> Row:
    head = entry.head
    badge, state = _BADGES.get(head.status, ("?", "flag"))
    if expiry is not None:
        badge, state = ("×", "flag") if expiry.state == "expired" else ("●", "edited")
    if edit is not None:
        badge, state = "~", "edited"
    right = (
        edit.change
        if edit
        else expiry.text
        if expiry
        else ("pinned" if head.pinned else "")
        if head.status == "accepted"
        else head.status
    )
    return Row(
        id=entry.id,
        badge=badge.translate(PLAIN) if plain else badge,
        letter=head.type[:1].upper() or "-",
        text=f"{entry.id:<{width}}  {entry.statement}",
        right=right,
        state=state,
        group=f"{head.type or 'no kind'}s",
    )


def _lost_row(edit: "HandEdit") -> Row:
    text = f"{edit.id}  was {edit.change} manually in {edit.file}"
    return Row(f"{EDIT}{edit.id}", "~", "-", text, edit.change, "edited", "missing from their files")


def edits_among(shown: "PlaneView", ids: tuple[str, ...]) -> Iterator[str]:
    """Yield the ids of entries among these rows that have a manual edit."""
    edited = {edit.id for edit in shown.shelf_edits}
    yield from (id_.removeprefix(EDIT) for id_ in ids if id_.removeprefix(EDIT) in edited)
