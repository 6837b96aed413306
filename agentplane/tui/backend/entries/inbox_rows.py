"""The rows of the inbox for candidates and manual edits, in groups."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import msgspec

from agentplane.text import ages
from agentplane.tui.backend.list_state import PLAIN, Row


# The first paint needs none of these modules.
if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.memory.view import HandEdit
    from agentplane.review.attention import Folded
    from agentplane.review.inbox import Reviewed, State
    from agentplane.tui.backend.model import PlaneView

By = Literal["run", "kind"]
EDIT = "edit:"
"""The prefix of row ids of manual edits. It keeps the row of an edited entry apart from the row of a candidate."""
_STAMP = re.compile(r"\d{8}T\d{6}Z", re.ASCII)
_BADGES: "Mapping[State, tuple[str, str]]" = {
    "conflict": ("!", "conflict"), "flagged": ("?", "flag"), "unchecked": ("·", "quiet"), "advice": ("≈", "clean"),
    "ready": ("●", "clean"),
}  # fmt: skip
"""The glyph and the style of each state. Color is never the only sign of a state."""
_EDITED = ("~", "edited")


class Place(msgspec.Struct, frozen=True):
    """The settings for building rows."""

    by: By
    now: datetime
    plain: bool = False
    folded: bool = False
    """True to include the folded candidates, after the others."""


def rows(shown: "PlaneView", place: Place) -> list[Row]:
    """Return all rows of the inbox in the order in which they are shown."""
    edited = {edit.id for edit in shown.hand_edits}
    reviewed = shown.reviewed
    folded = shown.attention.folded
    asking = (entry for entry in shown.inbox if entry.id not in folded)
    candidate_rows = [
        row(entry, reviewed.get(entry.id), place, edited=entry.id in edited) for entry in asking
    ]
    found = [*grouped(candidate_rows), *(edit_row(shown, edit) for edit in shown.shelf_edits)]
    return [*found, *_folded_rows(shown, place, edited)] if place.folded else found


def _folded_rows(shown: "PlaneView", place: Place, edited: Collection[str]) -> list[Row]:
    entries = {entry.id: entry for entry in shown.inbox}
    found = [
        folded_row(entry, one, shown.reviewed.get(id_), place, edited=id_ in edited)
        for id_, one in shown.attention.folded.items()
        if (entry := entries.get(id_))
    ]
    return grouped(found)


def folded_row(
    entry: "Entry", folded: "Folded", reviewed: "Reviewed | None", place: Place, *, edited: bool = False
) -> Row:
    made = row(entry, reviewed, place, edited=edited)
    until = _until(folded.until, place.now.date()) if folded.until else made.right
    return msgspec.structs.replace(made, group=folded.text(entry.head).partition(",")[0], right=until)


def grouped(ungrouped: Iterable[Row]) -> list[Row]:
    """Return the rows with each group together. Groups keep the order of their first rows."""
    groups: dict[str, list[Row]] = {}
    for one in ungrouped:
        groups.setdefault(one.group, []).append(one)
    return [one for members in groups.values() for one in members]


def row(entry: "Entry", reviewed: "Reviewed | None", place: Place, *, edited: bool = False) -> Row:
    badge, state = _badge(reviewed, edited=edited)
    return Row(
        id=entry.id,
        badge=badge.translate(PLAIN) if place.plain else badge,
        letter=entry.head.type[:1].upper() or "-",
        text=entry.statement,
        right=_days_at((entry.head.updated or "")[:10], place.now.date()),
        state=state,
        group=_group(entry, place),
    )


def _until(day: date, today: date) -> str:
    """Return a day in the few characters that a row has for it."""
    return f"until {day:%b} {day.day}" if day.year == today.year else str(day)


def edit_row(shown: "PlaneView", edit: "HandEdit") -> Row:
    entry = shown.memory.entries.get(edit.id)
    badge, state = _EDITED
    return Row(
        id=f"{EDIT}{edit.id}",
        badge=badge,
        letter=entry.head.type[:1].upper() if entry else "-",
        text=f"{edit.id} {edit.change}: {entry.statement if entry else edit.file}",
        right=edit.change,
        state=state,
        group="manual edits",
    )


def _badge(reviewed: "Reviewed | None", *, edited: bool) -> tuple[str, str]:
    if edited:
        return _EDITED
    return _BADGES["unchecked" if reviewed is None else reviewed.state]


def _group(entry: "Entry", place: Place) -> str:
    if place.by == "kind":
        return f"{entry.head.type or 'no kind'}s"
    who = entry.head.proposed_by or "manual"
    source = entry.head.source
    if not source:
        return f"{who} · no run"
    stamp, _, tail = source.partition("-")
    moment = _moment(stamp)
    if moment is None:
        return f"{who} · {source}"
    age = ages.age(moment, place.now)
    return f"{who} · run {tail or stamp} · {f'{age} ago' if age else 'just now'}"


@lru_cache(4096)
def _moment(stamp: str) -> datetime | None:
    try:
        return datetime.fromisoformat(stamp) if _STAMP.fullmatch(stamp) else None
    except ValueError:
        return None


@lru_cache(4096)
def _days_at(updated: str, today: date) -> str:
    try:
        return ages.age_of_day(date.fromisoformat(updated), today)
    except ValueError:
        return ""
