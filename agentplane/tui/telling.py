"""What a person is told, on whichever screen: the header, and the two lines at the foot."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from agentplane.text.visible import one_line, visible
from agentplane.tui import figures
from agentplane.tui.badge import Badge
from agentplane.tui.bars import StatusBar
from agentplane.tui.figures import Figures


if TYPE_CHECKING:
    from agentplane.errors import AgentplaneError
    from agentplane.tui.desk import Shown

_PLAIN_TERMINALS = ("linux", "dumb", "vt100", "vt220")


class Telling(App[None]):
    """The app, as far as it tells what was read, done, or went wrong."""

    def __init__(self) -> None:
        self.shown: Shown | None = None
        """What was read last."""
        self.glimpse: Mapping[str, Any] = {}
        """What is known before anything was read."""
        self._rooms: dict[str, Screen[Any]] = {}
        """The screens of the parts that were gone to."""
        self._left_to_look_at = 0
        self._problem = ""
        self._unreadable = ""
        super().__init__()

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """The terminal is another program's meanwhile. Whatever goes wrong with that, the screens come back: Textual's
        own way leaves a terminal in which nothing is drawn and no key is heard.
        """
        failed: Exception | None = None
        with super().suspend():
            try:
                yield
            except Exception as error:  # noqa: BLE001 -- raised again below, once the screens are back
                failed = error
        if failed is not None:
            raise failed

    @property
    def plain(self) -> bool:
        """Whether marks are drawn with plain characters."""
        wanted = self.shown.settings.ascii if self.shown else bool(self.glimpse.get("ascii"))
        return wanted or os.environ.get("TERM") in _PLAIN_TERMINALS

    def say(self, text: str, *, stays: bool = False, holds: Callable[[], bool] | None = None) -> None:
        """One line on what was done; `holds`: only as long as that is true."""
        for bar in self._status_bars():
            bar.flash(text, stays=stays, holds=holds)

    def fail(self, error: "AgentplaneError", todo: str | None = None) -> None:
        """What went wrong, until a key is pressed; `todo`: in place of what the error says to do."""
        for bar in self._status_bars():
            bar.fail(error.headline, todo or error.todo or "")
        if not self.screen.query(StatusBar):
            self.notify(visible(str(error)), severity="error", markup=False)

    def _status_bars(self) -> list[StatusBar]:
        found = list(self.screen.query(StatusBar))
        return found or [bar for room in self._rooms.values() for bar in room.query(StatusBar)]

    def tell_badge(self) -> None:
        told = self.figures()
        for screen in {*self._rooms.values(), *self.screen_stack}:
            for badge in screen.query(Badge):
                badge.show(told)

    def figures(self) -> Figures:
        dot = "*" if self.plain else "●"
        if self.shown is not None:
            problem = self._problem if self._unreadable else ""
            return figures.of_shown(self.shown, dot, self._left_to_look_at, problem)
        if self._unreadable:
            return Figures(dot=dot, problem=one_line(self._unreadable.partition("\n")[0], 60))
        return figures.of_glimpse(self.glimpse, dot)
