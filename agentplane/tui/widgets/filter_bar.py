"""The field for typing a filter, and the line above it with completions or the error of the query."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from agentplane.text.visible import one_line
from agentplane.tui.widgets.footer import StatusBar
from agentplane.tui.widgets.text_line import Line


if TYPE_CHECKING:
    from agentplane.query.complete import Completion
    from agentplane.query.fields import Target
    from agentplane.query.parse import QueryError


class FilterHint(Line, can_focus=False):
    """Shows what tab completes the query to, or why the query can't be read."""

    PARTS = "filter-hint"
    COMPONENT_CLASSES = {  # noqa: RUF012 -- Textual's own type for it is a plain set
        "filter-hint--error",
        "filter-hint--here",
        "filter-hint--there",
        "filter-hint--what",
    }
    DEFAULT_CSS = """
    FilterHint {
        height: 1;
        & > .filter-hint--error { color: $text-error; text-style: bold; }
        & > .filter-hint--here { color: $foreground; text-style: bold reverse; }
        & > .filter-hint--there { color: $foreground; }
        & > .filter-hint--what { color: $text-muted; }
        &:ansi {
            & > .filter-hint--error { color: ansi_red; text-style: bold; }
            & > .filter-hint--here { color: ansi_default; text-style: bold reverse; }
            & > .filter-hint--there { color: ansi_default; }
            & > .filter-hint--what { color: ansi_default; text-style: dim; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._error = ""
        self._offers: list[Completion] = []
        self._here = -1

    @property
    def plain(self) -> str:
        """The text of the line."""
        return self.render().plain

    def show(self, error: str, offers: "list[Completion]", here: int) -> None:
        """Show an error, or else the offered completions. `here` is the place of the completion in the field."""
        self._error, self._offers, self._here = error, offers, here
        self.refresh()

    def render(self) -> Text:
        width = max(self.size.width, 1)
        line = Text(" ", end="")
        if self._error:
            return line.append(one_line(f"✗ {self._error}", width - 1), self.look("error"))
        if self._offers:
            line.append("tab  ", self.look("what"))
        for place, offer in enumerate(self._offers):
            shown = one_line(offer.shown, 40)
            if line.cell_len + cell_len(shown) + 2 > width:
                break
            line.append(shown, self.look("here" if place == self._here else "there"))
            line.append("  ")
        what = self._what()
        if what and line.cell_len + 10 < width:
            line.append(one_line(what, width - line.cell_len), self.look("what"))
        return line

    def _what(self) -> str:
        """Return the meaning of the completion in the field, or of the only completion."""
        if len(self._offers) == 1:
            return self._offers[0].what
        return self._offers[self._here].what if self._here >= 0 else ""


class Filter(Input):
    """A filter field. Up and down move to the list. The screen handles escape and removes the filter.

    In a field with a target, tab completes the query.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Filter, Filter:focus {
        height: 1; border: none; padding: 0 1; background: $panel; min-width: 8; width: 100%;
        &:ansi { background: ansi_default; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,up", "submit", "to the list", show=False),
        Binding("tab", "complete(1)", "complete", show=False),
        Binding("shift+tab", "complete(-1)", "previous completion", show=False),
    ]

    def __init__(self, words: str, hint: str, target: "Target | None" = None) -> None:
        # Textual calls the watchers of a text with which the field starts before its constructor returns.
        self._target = target
        self._hint = FilterHint() if target else None
        self._values: Mapping[str, tuple[str, ...]] = {}
        self._offers: list[Completion] = []
        self._here = -1
        """The place in the offers of the completion that is in the field, or -1."""
        super().__init__(words, placeholder=hint, select_on_focus=False, compact=True)
        self.cursor_blink = False

    async def open_on(self, screen: Screen[Any]) -> None:
        """Show the field on a screen. It has the focus on return, so that no typed letter decides on a row."""
        foot = screen.query_one(StatusBar)
        if self._hint is not None:
            await screen.mount(self._hint, before=foot)
        await screen.mount(self, before=foot)
        self._offer()
        screen.set_focus(self)

    @property
    def hint(self) -> FilterHint | None:
        """The line with completions or the error, or None in a field without a target."""
        return self._hint

    def close(self) -> None:
        """Remove the field and its hint."""
        if self._hint is not None:
            self._hint.remove()
        self.remove()

    def offer_values(self, values: Mapping[str, tuple[str, ...]]) -> None:
        """Complete fields with these values of the list."""
        self._values = values
        self._offer()

    @property
    def error(self) -> "QueryError | None":
        """The error of the query, or None if it can be read."""
        if self._target is None:
            return None
        from agentplane.query.parse import QueryError, parse

        try:
            parse(self.value, self._target)
        except QueryError as error:
            return error
        return None

    def watch_value(self) -> None:
        self._offer_if_typed()

    def watch_selection(self) -> None:
        self._offer_if_typed()

    def _offer_if_typed(self) -> None:
        """Offer completions again, unless the last completion is still in the field."""
        if self._here < 0 or self.value != self._offers[self._here].text:
            self._offer()

    def _offer(self) -> None:
        """Update the offers for the term at the cursor."""
        if self._target is None:
            return
        from agentplane.query.complete import completions

        self._offers = completions(self.value, self.cursor_position, self._target, self._values)
        self._here = -1
        self._show_hint()

    def _show_hint(self) -> None:
        if self._hint is not None:
            error = self.error
            # A term that is still being typed isn't reported while it can be completed.
            unfinished = error is not None and self._offers and error.end == self.cursor_position
            self._hint.show("" if error is None or unfinished else error.line, self._offers, self._here)

    def action_complete(self, steps: int) -> None:
        """Complete the term at the cursor. The next call takes the next completion."""
        if self._target is None:
            self.screen.focus_next() if steps > 0 else self.screen.focus_previous()
        elif self._offers:
            first = 0 if steps > 0 else len(self._offers) - 1
            self._here = first if self._here < 0 else (self._here + steps) % len(self._offers)
            offer = self._offers[self._here]
            self.value = offer.text
            self.cursor_position = offer.cursor
            if len(self._offers) == 1:
                self._offer()
            else:
                self._show_hint()
