"""The dialog for a name."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from agentplane.text.visible import one_line
from agentplane.tui.widgets.modals.modal import Box


class NameDialog(Box[str | None]):
    """A dialog that returns the typed name, or None if the person cancels. An empty field stands for the hint."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(self, title: str, hint: str) -> None:
        super().__init__()
        self._title = title
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(self._title), classes="box-title")
            field = Input(placeholder=one_line(self._hint, 60), max_length=40, select_on_focus=False)
            field.cursor_blink = False
            yield field
            yield Static(Text("enter save   esc cancel"), classes="box-keys")

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(" ".join(event.value.split()) or self._hint)
