"""A list and what is said of the row under its cursor: side by side, one over the other, or one in place of the other."""

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
    """How they lie follows from the room there is, unless a person turned them."""

    def __init__(self, view: RowList) -> None:
        super().__init__(classes="body")
        self.view = view
        self.detail: Widget | None = None
        """Added after the first paint, which shows the list: what draws texts takes a while to load."""
        self._hidden = False
        self._side: Side | None = None

    def compose(self) -> ComposeResult:
        yield self.view

    def add(self, detail: Widget) -> None:
        self.detail = detail
        self.mount(detail)

    @property
    def reading(self) -> bool:
        """Whether the text takes the place of the list."""
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
