"""A screen that accepts only the size of its terminal."""

from typing import TypeVar

from textual import on
from textual.events import Resize
from textual.screen import Screen


_Answer = TypeVar("_Answer")


class FixedSizeScreen(Screen[_Answer]):
    """A screen that ignores outdated sizes, for example from a window that is resized while the program
    starts.

    A screen of Textual lays itself out for each size event, and gets another event for the resulting size. If
    two sizes are on their way at the same time, their events trigger each other endlessly.
    """

    @on(Resize)
    def _keep_to_its_own(self, event: Resize) -> None:
        if event.size != self.app.size:
            event.prevent_default()
