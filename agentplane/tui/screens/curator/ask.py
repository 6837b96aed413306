"""Dialogs that ask for the date or the globs of a remedy, and for the end of a snooze."""

from collections.abc import Callable
from datetime import date
from typing import Any

import msgspec
from textual.app import App

from agentplane.curate.remedies import Remedy, SetExpiry, SetScope
from agentplane.text import days
from agentplane.text.visible import one_line
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.widgets.modals.line_modal import LineDialog


_USUAL_SNOOZE, _USUAL_EXPIRY = "30d", "90d"
_DATES = "Enter a date (2026-12-31) or a number of days or weeks (7d, 2w)."


async def snooze(app: App[Any], what: str, today: date, then: Callable[[date], None]) -> None:
    """Ask for the day until which findings are put aside."""

    def typed(text: str | None) -> None:
        if text is not None and (day := days.ahead(text, today)) is not None:
            then(day)

    dialog = LineDialog(
        f"Snooze {what} until", "7d, 2w or 2026-12-31", "snooze", _future(today), _USUAL_SNOOZE
    )
    await open_field(app, dialog, typed)


async def expiry(app: App[Any], remedy: SetExpiry, today: date, then: Callable[[Remedy], None]) -> None:
    """Ask for the day on which entries expire."""

    def typed(text: str | None) -> None:
        if text is not None and (day := days.ahead(text, today)) is not None:
            then(msgspec.structs.replace(remedy, day=day.isoformat()))

    what = one_line(remedy.ids[0], 40) if len(remedy.ids) == 1 else f"{len(remedy.ids):,} entries"
    dialog = LineDialog(
        f"Expiry date of {what}", "90d, 12w or 2026-12-31", "continue", _future(today), _USUAL_EXPIRY
    )
    await open_field(app, dialog, typed)


async def scope(app: App[Any], remedy: SetScope, then: Callable[[Remedy], None]) -> None:
    """Ask for the globs of an entry's scope."""

    def typed(text: str | None) -> None:
        if text is not None:
            then(msgspec.structs.replace(remedy, scope=_globs(text)))

    def problem(text: str) -> str:
        return "" if _globs(text) else "Enter at least one glob, for example app/**."

    dialog = LineDialog(
        f"Scope of {one_line(remedy.id, 40)}", "for example app/**, docs/api.md", "continue", problem
    )
    await open_field(app, dialog, typed)


def _future(today: date) -> Callable[[str], str]:
    def problem(text: str) -> str:
        day = days.ahead(text, today)
        if day is None:
            return _DATES
        return f"The date {day} isn't in the future." if day <= today else ""

    return problem


def _globs(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
