"""The pane of a screen whose rows are not entries. The screen provides its content."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from agentplane.text.visible import visible
from agentplane.tui.screens.entry.pane import Detail, spaced
from agentplane.tui.widgets.markdown import Look


Sections = Callable[[Look], Iterable[Sequence[RenderableType]]]


class Page(Detail):
    """A pane that scrolls and looks like the pane of an entry."""

    def __init__(self) -> None:
        super().__init__()
        self._page_id = ""
        self._sections: Sections = lambda _: ()

    def show_page(self, page_id: str, sections: Sections) -> None:
        """Show the sections about `page_id`. If `page_id` is a new value, scroll to the top."""
        if page_id != self._page_id:
            self.scroll_home(animate=False)
        self._page_id, self._sections = page_id, sections
        self._draw()

    def _content(self) -> RenderableType:
        return Group(*spaced(self._sections(self.look)))


def diff(lines: Iterable[str], look: Look) -> Iterator[Text]:
    """Yield the lines of a unified diff. Each sign has a color, but the signs alone are enough to read it."""
    names = {"+": "good", "-": "bad", "@": "muted"}
    for line in lines:
        name = "heading" if line.startswith(("+++", "---")) else names.get(line[:1], "text")
        yield Text(visible(line), look(name))
