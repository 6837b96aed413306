"""The line with the saved filters of a list, as tabs."""

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message

from agentplane.text.visible import one_line
from agentplane.tui.widgets.text_line import Line


class FilterTabs(Line, can_focus=False):
    """Shows a tab for the whole list and one for each saved filter. It is hidden if no filter is saved."""

    PARTS = "filter-tabs"
    COMPONENT_CLASSES = {"filter-tabs--here", "filter-tabs--there"}  # noqa: RUF012
    DEFAULT_CSS = """
    FilterTabs {
        height: 1; display: none;
        &.-shown { display: block; }
        & > .filter-tabs--here { text-style: bold underline; color: $foreground; }
        & > .filter-tabs--there { color: $text-muted; }
        &:ansi {
            & > .filter-tabs--here { color: ansi_default; text-style: bold reverse; }
            & > .filter-tabs--there { color: ansi_default; text-style: dim; }
        }
    }
    """

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[str, ...] = ()
        self._here = -1

    @property
    def plain(self) -> str:
        """The text of the line, or an empty text if it is hidden."""
        return self.render().plain if self.has_class("-shown") else ""

    def show(self, names: Sequence[str], here: int) -> None:
        """Show tabs with these names after the tab for the whole list. `here` is the place of the open tab, or -1."""
        if (tuple(names), here) != (self._names, self._here):
            self._names, self._here = tuple(names), here
            self.set_class(bool(names), "-shown")
            self.refresh()

    def render(self) -> Text:
        line, self._spots = Text(" ", end=""), []
        for place, name in enumerate(("All", *self._names)):
            start = line.cell_len
            line.append(one_line(name, 24), self.look("here" if place == self._here else "there"))
            self.spot(line, start, str(place))
            line.append("   ")
        line.truncate(max(self.size.width, 1))
        return line

    def on_click(self, event: events.Click) -> None:
        spot = self.spot_at(event)
        if spot is not None:
            self.post_message(self.Chosen(int(spot)))
