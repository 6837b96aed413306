"""The base of the header and of the two lines at the foot of a screen."""

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.widget import Widget


class Line(Widget, can_focus=False):
    """A widget that draws text in the styles of its parts. It knows which action belongs to a clicked spot."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Line {
        background: $panel;
        color: $foreground;
        &:ansi { background: ansi_default; color: ansi_default; }
    }
    """
    PARTS: ClassVar[str]
    """The prefix of the names of its component classes."""

    def __init__(self) -> None:
        super().__init__()
        self._spots: list[tuple[int, int, str]] = []

    def look(self, name: str) -> Style:
        return self.get_component_styles(f"{self.PARTS}--{name}").rich_style

    def spot(self, line: Text, start: int, name: str) -> None:
        """Make the text of the line from `start` on a spot called `name`."""
        self._spots.append((start, line.cell_len, name))

    def spot_at(self, event: events.Click) -> str | None:
        return next((name for start, end, name in self._spots if start <= event.x < end), None)
