"""The dialog for choosing one of a few options."""

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from agentplane.tui.protocols import is_plain
from agentplane.tui.widgets.modals.modal import Box


class Pick(Box[int | None]):
    """A dialog that returns the index of the chosen option, or None if the person cancels."""

    DEFAULT_CSS = """
    Pick OptionList, Pick OptionList:focus {
        height: auto; max-height: 100%; min-width: 12; border: none; padding: 0; margin: 1 0 0 0; background: $surface;
        scrollbar-size-vertical: 1;
        & > .option-list--option-highlighted { background: $primary 30%; color: $foreground; text-style: bold; }
    }
    Pick:ansi OptionList, Pick:ansi OptionList:focus {
        background: ansi_default;
        & > .option-list--option-highlighted { background: ansi_default; text-style: bold reverse; }
    }
    Pick.-low OptionList { margin: 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Cancel"),
        Binding("j", "step('down')", show=False),
        Binding("k", "step('up')", show=False),
        *(Binding(str(n), f"take({n - 1})", show=False) for n in range(1, 10)),
    ]

    def __init__(self, title: str, options: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._options = options

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(self._title), classes="box-title")
            yield OptionList(
                *(Option(self._line(place, here=place == 0)) for place in range(len(self._options)))
            )
            yield Static(Text("enter select   esc cancel"), classes="box-keys")

    def _line(self, place: int, *, here: bool) -> Table:
        """Return the line of an option. A bar marks the cursor, because color alone is not enough."""
        bar = (">" if is_plain(self.app) else "▌") if here else " "
        grid = Table.grid(expand=True)
        grid.add_column(width=4, no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        grid.add_row(Text(f"{bar}{place + 1 if place < 9 else ' '}"), Text(self._options[place]))
        return grid

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        for place in range(len(self._options)):
            line = self._line(place, here=place == event.option_index)
            event.option_list.replace_option_prompt_at_index(place, line)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)

    def action_take(self, place: int) -> None:
        if place < len(self._options):
            self.dismiss(place)

    def action_step(self, direction: str) -> None:
        options = self.query_one(OptionList)
        options.action_cursor_down() if direction == "down" else options.action_cursor_up()
