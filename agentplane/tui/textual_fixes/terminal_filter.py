"""The last step before a line of a screen reaches the terminal: characters that could steer it are taken out.

Screens spell such characters out where they show a text. This filter holds for every widget, also where one forgot to.
"""

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from agentplane.text.visible import replaced


class Harmless(LineFilter):
    """Replace hidden characters in the lines of all widgets."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else Segment(replaced(segment.text, _blank), segment.style)
            for segment in segments
        ]


def _blank(char: str) -> str:
    """As many cells as the character took, so that nothing after it moves."""
    return "?" * cell_len(char)
