"""The layout of a list and the details of a row, side by side, stacked, or one at a time."""

from typing import Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from agentplane.tui.widgets.row_list import RowList


Side = Literal["right", "bottom"]

_WIDE = 100
NARROW = 60
_LOW = 15
_LEAST_SHARE, _MOST_SHARE = 0.15, 0.85
"""The share of the room that the list has at least and at most."""


class Panes(Container):
    """A list with a detail pane. The layout depends on the available space, unless a person turned it."""

    def __init__(self, view: RowList) -> None:
        super().__init__(classes="body")
        self.view = view
        self.detail: Widget | None = None
        """The detail pane. It is added after the first paint, because the modules that draw texts load slowly."""
        self._hidden = False
        self._side: Side | None = None
        self._share: float | None = None
        """The share of the room that the list has since a person dragged the divider."""
        self._dragging = False

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
        self._apply_share()
        ((self.detail if full else None) or self.view).focus()

    def fit(self, width: int, height: int, wanted: str = "auto") -> None:
        wanted = self._side or wanted
        room = not self._hidden and width >= NARROW and (width >= _WIDE or height >= _LOW)
        right = wanted == "right" or (wanted == "auto" and width >= _WIDE)
        self.set_class(room and right, "-right")
        self.set_class(room and not right, "-bottom")
        self._apply_share()

    def toggle(self) -> None:
        self._hidden = not self._hidden

    def turn(self) -> None:
        self._side = "bottom" if self.has_class("-right") else "right"
        self._share = None
        self._hidden = False

    # The divider

    def _apply_share(self) -> None:
        """Give the list its share of the room. Without one, the style sheet decides."""
        styles = self.view.styles
        styles.clear_rule("width")
        styles.clear_rule("height")
        detail = self.detail.styles if self.detail else None
        if detail is not None:
            detail.clear_rule("width")
            detail.clear_rule("max_width")
        if self._share is not None and self.has_class("-right"):
            styles.width = f"{self._share:.2%}"
            if detail is not None and not self.reading:
                detail.width, detail.max_width = "1fr", "100%"
        elif self._share is not None and self.has_class("-bottom"):
            styles.height = f"{self._share:.2%}"

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start to drag the divider, which is the border of the detail pane."""
        if self.detail is None or self.reading:
            return
        region = self.detail.region
        at_border = (self.has_class("-right") and event.screen_x == region.x) or (
            self.has_class("-bottom") and event.screen_y == region.y
        )
        if at_border:
            self._dragging = True
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if not self._dragging:
            return
        event.stop()
        room = self.region
        share = (
            (event.screen_x - room.x) / max(room.width, 1)
            if self.has_class("-right")
            else (event.screen_y - room.y) / max(room.height, 1)
        )
        self._share = min(max(share, _LEAST_SHARE), _MOST_SHARE)
        self._apply_share()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            event.stop()
