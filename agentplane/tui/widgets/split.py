"""The layout of a list and the details of a row, side by side, stacked, or one at a time."""

from typing import Literal

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from agentplane.tui.widgets.row_list import RowList


Side = Literal["right", "bottom"]

_WIDE = 100
NARROW = 60
_LOW = 15


class Panes(Container):
    """A list with a detail pane. The layout depends on the available space, unless a person turned it."""

    def __init__(self, view: RowList) -> None:
        super().__init__(classes="body")
        self.view = view
        self.detail: Widget | None = None
        """The detail pane. It is added after the first paint, because the modules that draw texts load slowly."""
        self._hidden = False
        self._side: Side | None = None

    def compose(self) -> ComposeResult:
        yield self.view

    def add(self, detail: Widget) -> None:
        self.detail = detail
        self.mount(detail)

    @property
    def reading(self) -> bool:
        """True if the detail pane replaces the list."""
        return self.has_class("-reading")

    def read(self, *, full: bool) -> None:
        self.set_class(full, "-reading")
        ((self.detail if full else None) or self.view).focus()

    def fit(self, width: int, height: int, wanted: str = "auto") -> None:
        wanted = self._side or wanted
        room = not self._hidden and width >= NARROW and (width >= _WIDE or height >= _LOW)
        right = wanted == "right" or (wanted == "auto" and width >= _WIDE)
        self.set_class(room and right, "-right")
        self.set_class(room and not right, "-bottom")

    def toggle(self) -> None:
        self._hidden = not self._hidden

    def turn(self) -> None:
        self._side = "bottom" if self.has_class("-right") else "right"
        self._hidden = False
