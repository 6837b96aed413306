"""The dialog for one line of text that a command needs, such as a comment, a date or tags."""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from agentplane.text.visible import one_line
from agentplane.tui.widgets.modals.modal import Box


class Line(Box[str | None]):
    """A dialog that returns the typed text, or None if the person cancels.

    If the text is invalid, the dialog shows the reason and stays open.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Line #problem { color: $text-error; height: auto; display: none; }
    Line #problem.-shown { display: block; }
    Line:ansi #problem { color: ansi_default; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(
        self, title: str, hint: str, verb: str, problem_of: Callable[[str], str], value: str = ""
    ) -> None:
        """`problem_of` returns the problem with a text, or an empty text if it is valid."""
        super().__init__()
        self._title = title
        self._hint = hint
        self._verb = verb
        self._problem_of = problem_of
        self._value = value

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(one_line(self._title)), classes="box-title")
            yield Input(self._value, placeholder=self._hint, select_on_focus=True)
            yield Static(id="problem")
            yield Static(Text(f"enter {self._verb}   esc cancel"), classes="box-keys")

    def on_mount(self) -> None:
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if problem := self._problem_of(event.value):
            line = self.query_one("#problem", Static)
            line.update(Text(one_line(problem, 160)))
            line.add_class("-shown")
        else:
            self.dismiss(event.value.strip())
