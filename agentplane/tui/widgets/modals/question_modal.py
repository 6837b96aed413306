"""The dialog that asks before an action that others notice or that can't be undone."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from agentplane.tui.widgets.modals.modal import SCROLL_KEYS, Box


class Question(Box[bool]):
    """A dialog that returns True if the person agrees. No key that opens a dialog answers it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes"),
        Binding("n,escape,q", "dismiss(False)", "cancel"),
        *SCROLL_KEYS,
    ]

    def __init__(self, title: str, text: str, verb: str) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._verb = verb

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(self._title), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Static(Text(self._text))
            yield Static(Text(f"y {self._verb}   esc cancel"), classes="box-keys")
