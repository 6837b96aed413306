"""The dialog that shows the result of a command."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from agentplane.tui.widgets.modals.modal import SCROLL_KEYS, Box


class ReportDialog(Box[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "close"),
        *SCROLL_KEYS,
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="box wide"):
            yield Static(Text(self._title), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Static(Text(self._text))
            yield Static(Text("↑↓ scroll   esc close"), classes="box-keys")
