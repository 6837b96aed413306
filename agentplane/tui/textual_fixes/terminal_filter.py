"""The last filter before the terminal, which replaces characters that could control the terminal.

Screens spell out such characters in the texts they show. This filter covers every widget, in case one forgot
to.
"""

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from agentplane.text.visible import replaced


class TerminalFilter(LineFilter):
    """Replace hidden characters in the lines of all widgets."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else Segment(replaced(segment.text, _blank), segment.style)
            for segment in segments
        ]


def _blank(char: str) -> str:
    """Return a replacement with as many cells as the character, so that the text after it does not move."""
    return "?" * cell_len(char)
