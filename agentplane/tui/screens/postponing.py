"""Dialogs that send candidates back, snooze them or change tags. Each asks for one line and submits a command."""

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from agentplane.commands import SendBack, Snooze, Tag
from agentplane.errors import AgentplaneError
from agentplane.text import days
from agentplane.text.visible import one_line
from agentplane.tui.textual_fixes.push_and_focus import open_field


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.tui.screens.entry_list_screen import EntryScreen

_NOW = "now"


async def send_back(screen: "EntryScreen", entries: "Sequence[Entry]") -> None:
    """Ask for the comment, and send the candidates back to their proposers."""
    from agentplane.review import feedback
    from agentplane.tui.widgets.modals.line_modal import LineDialog

    def problem(text: str) -> str:
        if not text.strip():
            return "Enter a comment."
        return _problem(lambda: feedback.check_comment(text.strip()))

    def typed(text: str | None) -> None:
        if text is not None:
            screen.carry_out(SendBack(_ids(entries), text))

    who = {entry.head.proposed_by for entry in entries}
    to = f" to {one_line(who.pop() or 'nobody', 40)}" if len(who) == 1 else ""
    title = f"Send {_named(entries)} back{to}"
    await open_field(screen.app, LineDialog(title, "What should change?", "send back", problem), typed)


async def snooze(screen: "EntryScreen", entries: "Sequence[Entry]", today: date) -> None:
    """Ask for the day, and fold the candidates until then."""
    from agentplane.tui.widgets.modals.line_modal import LineDialog

    def day_of(text: str) -> date | None:
        return None if text.strip().lower() == _NOW else days.ahead(text, today)

    def problem(text: str) -> str:
        day = day_of(text)
        if text.strip().lower() != _NOW and day is None:
            return (
                "Enter a date (2026-12-31), a number of days or weeks (7d, 2w), or `now` to end the snooze."
            )
        return f"The date {day} isn't in the future." if day is not None and day <= today else ""

    def typed(text: str | None) -> None:
        if text is not None:
            screen.carry_out(Snooze(_ids(entries), day_of(text)))

    dialog = LineDialog(
        f"Snooze {_named(entries)} until", "7d, 2w, 2026-12-31 or now", "snooze", problem, "7d"
    )
    await open_field(screen.app, dialog, typed)


async def tag(screen: "EntryScreen", entries: "Sequence[Entry]") -> None:
    """Ask for tags to add and remove, and change them."""
    from agentplane.memory import entry_form
    from agentplane.review import feedback
    from agentplane.tui.widgets.modals.line_modal import LineDialog

    def problem(text: str) -> str:
        add, remove = entry_form.changes(text)
        if not add and not remove:
            return "Enter at least one tag. To remove a tag, put - in front of it."
        return entry_form.changes_problem(text) or _problem(partial(feedback.check_tags, add))

    def typed(text: str | None) -> None:
        if text is not None:
            screen.plane_app.submit(Tag(_ids(entries), *entry_form.changes(text)))

    dialog = LineDialog(
        f"Change the tags of {_named(entries)}",
        "ui, storage, -on call (- removes a tag)",
        "change tags",
        problem,
    )
    await open_field(screen.app, dialog, typed)


def _problem(check: Callable[[], None]) -> str:
    try:
        check()
    except AgentplaneError as error:
        return error.what
    return ""


def _ids(entries: "Sequence[Entry]") -> tuple[str, ...]:
    return tuple(entry.id for entry in entries)


def _named(entries: "Sequence[Entry]") -> str:
    return one_line(entries[0].id, 40) if len(entries) == 1 else f"{len(entries):,} entries"
