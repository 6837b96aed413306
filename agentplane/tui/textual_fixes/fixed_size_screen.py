"""A screen that takes no size but that of its terminal."""

from typing import TypeVar

from textual import on
from textual.events import Resize
from textual.screen import Screen


_Answer = TypeVar("_Answer")


class Sized(Screen[_Answer]):
    """Two sizes in one breath, as when a window is resized while the program starts, come to rest here.

    A screen of Textual lays itself out for each size that it hears of, and then hears of the size it got: of two
    sizes on their way at a time, each calls back the other, for ever.
    """

    @on(Resize)
    def _keep_to_its_own(self, event: Resize) -> None:
        if event.size != self.app.size:
            event.prevent_default()
