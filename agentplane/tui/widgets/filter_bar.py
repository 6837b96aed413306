"""The line in which a filter is typed."""

from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from agentplane.tui.widgets.footer import StatusBar


class Filter(Input):
    """Escape is the screen's: it takes the filter away. Up and down leave the words and go to the list."""

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
        """Has the keys when this returns: what is typed on at once must not reach the list, where letters decide."""
        await screen.mount(self, before=screen.query_one(StatusBar))
        screen.set_focus(self)
