"""The dialog for the reason of a rejection, which is typed or picked from recent reasons by its number."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static

from agentplane.text.visible import one_line
from agentplane.tui.widgets.modals.modal import Box


class _ReasonInput(Input):
    """A field in which a digit picks a reason while the field is empty. A space first makes the digit plain text."""

    async def _on_key(self, event: events.Key) -> None:
        number, box = event.character or "", self.screen
        counts = not self.value and number in tuple("123456789")
        if counts and isinstance(box, RejectionDialog) and box.picked(int(number)):
            event.prevent_default()
            event.stop()
        else:
            await super()._on_key(event)


class RejectionDialog(Box[str | None]):
    """A dialog that returns the reason, or None if the person cancels. The reason may be empty."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "cancel"),
        Binding("up", "older", "earlier reason", priority=True),
        Binding("down", "newer", "later reason", priority=True),
    ]

    def __init__(self, title: str, recent: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._recent = recent
        self._at = -1

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(self._title), classes="box-title")
            yield _ReasonInput(
                placeholder="Optional reason, shown if this is proposed again.", select_on_focus=False
            )
            if self._recent:
                with VerticalScroll(can_focus=False):
                    yield Static(self._numbered())
            yield Static(Text(self._keys()), classes="box-keys")

    def on_mount(self) -> None:
        self._input.cursor_blink = False
        self._input.focus()

    def picked(self, number: int) -> bool:
        """Answer with the recent reason that has this number. Return False if there is none."""
        exists = number <= len(self._recent)
        if exists:
            self.dismiss(self._recent[number - 1])
        return exists

    @property
    def _input(self) -> Input:
        return self.query_one(Input)

    def _numbered(self) -> Text:
        return Text("\n".join(f"{number}  {one_line(why, 80)}" for number, why in enumerate(self._recent, 1)))

    def _keys(self) -> str:
        return "enter reject   " + ("1-9 or ↑ recent reason   " if self._recent else "") + "esc cancel"

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_older(self) -> None:
        self._pick(min(self._at + 1, len(self._recent) - 1))

    def action_newer(self) -> None:
        self._pick(max(self._at - 1, -1))

    def _pick(self, place: int) -> None:
        self._at = place
        self._input.value = self._recent[place] if place >= 0 else ""
        self._input.cursor_position = len(self._input.value)

    def action_cancel(self) -> None:
        self.dismiss(None)
