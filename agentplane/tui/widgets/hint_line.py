"""The line with a hint for a new user. It has no height while there is no hint."""

from typing import ClassVar

from rich.text import Text

from agentplane.tui.widgets.text_line import Line


class HintLine(Line):
    PARTS = "hint"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"hint--name", "hint--text"}
    DEFAULT_CSS = """
    HintLine {
        height: 1; display: none; background: $surface;
        &.-shown { display: block; }
        & > .hint--name { color: $text-accent; text-style: bold; }
        & > .hint--text { color: $foreground; }
        &:ansi { & > .hint--name { color: ansi_default; text-style: bold; } }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = ""

    @property
    def plain(self) -> str:
        return self._text

    def show(self, text: str) -> None:
        """Show a hint. An empty text hides the line."""
        if text != self._text:
            self._text = text
            self.set_class(bool(text), "-shown")
            self.refresh()

    def render(self) -> Text:
        line = Text(" Hint ", self.look("name"), end="").append(self._text, self.look("text"))
        line.truncate(self.size.width, overflow="ellipsis")
        return line
