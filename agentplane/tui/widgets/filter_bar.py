"""The field for typing a filter."""

from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from agentplane.tui.widgets.footer import StatusBar


class Filter(Input):
    """A filter field. Up and down move to the list. The screen handles escape and removes the filter."""

    DEFAULT_CSS: ClassVar[str] = """
    Filter, Filter:focus {
        height: 1; border: none; padding: 0 1; background: $panel; min-width: 8; width: 100%;
        &:ansi { background: ansi_default; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("down,up", "submit", "to the list", show=False)]

    def __init__(self, words: str, hint: str) -> None:
        super().__init__(words, placeholder=hint, select_on_focus=False, compact=True)
        self.cursor_blink = False

    async def open_on(self, screen: Screen[Any]) -> None:
        """Show the field on a screen. It has the focus on return, so that no typed letter decides on a row."""
        await screen.mount(self, before=screen.query_one(StatusBar))
        screen.set_focus(self)
