"""The text area of the editor."""

from rich.text import Text
from textual.widgets import TextArea

from agentplane.text.visible import hidden


class SafeArea(TextArea):
    """A text area that shows each hidden or steering character as a mark of one cell.

    The character stays in the text.
    """

    def get_line(self, line_index: int) -> Text:
        line = self.document.get_line(line_index)
        for char in hidden(line):
            line = f"{line[: char.offset]}�{line[char.offset + 1 :]}"
        return Text(line, end="", no_wrap=True)

    def begin(self) -> None:
        """Focus the area, with the cursor at its end."""
        self.cursor_blink = False
        self.focus()
        self.move_cursor(self.document.end)

    def is_valid(self) -> bool:
        """Return True, because only the project memory knows whether the text is valid."""
        return True

    def close_menu(self) -> bool:
        """Return False, because the area has no menu."""
        return False
