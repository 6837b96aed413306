"""The dialog for one line of text, such as a comment, a date, tags or the budget of a context."""

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


class LineDialog(Box[str | None]):
    """A dialog that returns the typed text, or None if the person cancels.

    If the text is invalid, the dialog shows the reason and stays open.
    """

    DEFAULT_CSS: ClassVar[str] = """
    LineDialog #problem { color: $text-error; height: auto; display: none; }
    LineDialog #problem.-shown { display: block; }
    LineDialog:ansi #problem { color: ansi_default; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("up", "offer(-1)", "Previous suggestion", priority=True),
        Binding("down", "offer(1)", "Next suggestion", priority=True),
    ]

    def __init__(
        self,
        title: str,
        hint: str,
        verb: str,
        problem_of: Callable[[str], str] = lambda _: "",
        value: str = "",
        offers: Sequence[Offer] = (),
    ) -> None:
        """Enter does the `verb`. `problem_of` returns the problem with a text, or an empty text if it is valid.

        The arrow keys choose one of the `offers`.
        """
        super().__init__()
        self._title = title
        self._hint = hint
        self._verb = verb
        self._problem_of = problem_of
        self._value = value
        self._offers = list(offers)
        self._offer_index = -1

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(one_line(self._title)), classes="box-title")
            yield Input(self._value, placeholder=one_line(self._hint), select_on_focus=True)
            yield Static(id="problem")
            with VerticalScroll(can_focus=False):
                yield Static(id="offers")
            yield Static(classes="box-keys")

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
        suggestions = "↑↓ suggestions   " if self._offers else ""
        self.query_one(".box-keys", Static).update(Text(f"enter {self._verb}   {suggestions}esc cancel"))

    def action_offer(self, steps: int) -> None:
        if self._offers:
            self._offer_index = (
                (self._offer_index + steps) % len(self._offers) if self._offer_index >= 0 or steps > 0 else -1
            )
            field = self.query_one(Input)
            field.value = self._offers[self._offer_index][0]
            field.cursor_position = len(field.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if problem := self._problem_of(event.value):
            line = self.query_one("#problem", Static)
            line.update(Text(one_line(problem, 160)))
            line.add_class("-shown")
        else:
            self.dismiss(event.value.strip())
