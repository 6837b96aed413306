"""The dialog with a text field, for example for another budget of a context pack."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static

from agentplane.text.visible import one_line
from agentplane.tui.widgets.modals.modal import Box


Offer = tuple[str, str]
"""A value for the field, and its description."""


class Field(Box[str | None]):
    """A dialog whose result is the typed text, or None to keep the current value.

    If the text is invalid, the dialog shows the reason and stays open.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Field #wrong { color: $text-error; height: auto; display: none; }
    Field #wrong.-said { display: block; }
    Field:ansi #wrong { color: ansi_default; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel"),
        Binding("up", "offer(-1)", "previous suggestion", priority=True),
        Binding("down", "offer(1)", "next suggestion", priority=True),
    ]

    def __init__(
        self,
        title: str,
        value: str,
        hint: str,
        problem_of: Callable[[str], str],
        offers: Sequence[Offer] = (),
        verb: str = "try",
    ) -> None:
        """`problem_of` returns the problem with a text, or an empty text if it is valid. Enter does the `verb`."""
        super().__init__()
        self._title = title
        self._value = value
        self._hint = hint
        self._problem_of = problem_of
        self._offers = list(offers)
        self._verb = verb
        self._offer_index = -1

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(self._title), classes="box-title")
            yield Input(self._value, placeholder=self._hint, select_on_focus=True)
            yield Static(id="wrong")
            with VerticalScroll(can_focus=False):
                yield Static(id="offers")
            keys = f"enter {self._verb}   {'↑↓ suggestions   ' if self._verb == 'try' else ''}esc cancel"
            yield Static(Text(keys), classes="box-keys")

    def on_mount(self) -> None:
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()
        self._show_offers()

    def offer(self, offers: Sequence[Offer]) -> None:
        """Add values that the person can choose."""
        self._offers += offers
        self._show_offers()

    def _show_offers(self) -> None:
        self.query_one(VerticalScroll).display = bool(self._offers)
        lines = (f"{one_line(value, 40)}  {one_line(what, 60)}" for value, what in self._offers)
        self.query_one("#offers", Static).update(Text("\n".join(lines)))

    def action_offer(self, steps: int) -> None:
        if self._offers:
            self._offer_index = (
                (self._offer_index + steps) % len(self._offers) if self._offer_index >= 0 or steps > 0 else -1
            )
            field = self.query_one(Input)
            field.value = self._offers[self._offer_index][0]
            field.cursor_position = len(field.value)

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self._problem_of(event.value)
        if problem:
            line = self.query_one("#wrong", Static)
            line.update(Text(one_line(problem, 120)))
            line.add_class("-said")
        else:
            self.dismiss(event.value.strip())
