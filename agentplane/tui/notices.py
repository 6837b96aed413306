"""The notices on every screen, which are the figures in its header, the status line and errors."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentplane.text.visible import one_line, visible
from agentplane.tui.widgets import header_counts
from agentplane.tui.widgets.footer import StatusBar
from agentplane.tui.widgets.header import Badge
from agentplane.tui.widgets.header_counts import Figures
from agentplane.tui.widgets.hint_line import HintLine


if TYPE_CHECKING:
    from agentplane.errors import AgentplaneError
    from agentplane.tools.receivers import Receivers
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.navigator import Navigator


class Notices:
    """The headers and status lines of all screens."""

    def __init__(self, app: "PlaneApp", navigator: "Navigator") -> None:
        self._app = app
        self._navigator = navigator
        self.unreadable = ""
        """The error that keeps the plane from being read, or empty."""
        self._problem = ""
        """The same error in a few words."""
        self._tools: Receivers | None = None
        """The tools that get the memory, or None until they were looked for."""
        self._failed_extensions: set[str] = set()
        """The extensions whose failure was shown."""
        self._unchecked = 0
        """The number of candidates that were not checked yet."""

    # The status line

    def say(self, text: str, *, stays: bool = False, show_while: Callable[[], bool] | None = None) -> None:
        """Show a message for a few seconds. With `stays` it has no time limit.

        With `show_while` it is removed once that function returns False.
        """
        for bar in self._status_bars():
            bar.flash(text, stays=stays, show_while=show_while)

    def fail(self, error: "AgentplaneError", todo: str | None = None) -> None:
        """Show an error until a key is pressed. `todo` replaces the advice of the error."""
        for bar in self._status_bars():
            bar.fail(error.headline, todo or error.todo or "")
        if not self._app.screen.query(StatusBar):
            self._app.notify(visible(str(error)), severity="error", markup=False)

    def show_failed_extensions(self) -> None:
        """Show once that an extension failed and agentplane uses its own implementation instead."""
        from agentplane import extensions

        for error in extensions.unseen(self._failed_extensions):
            self.fail(error)

    def _status_bars(self) -> list[StatusBar]:
        """The status line of the open screen. If it has none, the status lines of all visited screens."""
        return list(self._app.screen.query(StatusBar)) or self._visited_bars()

    def _visited_bars(self) -> list[StatusBar]:
        return [bar for screen in self._navigator.visited for bar in screen.query(StatusBar)]

    def show_hint(self, text: str) -> None:
        """Show a hint for a new user in the inbox. An empty text removes it."""
        for line in self._navigator.home.query(HintLine):
            line.show(text)

    def drop_outdated(self) -> None:
        """Remove the messages that are no longer true."""
        for bar in self._visited_bars():
            bar.check()

    # The header

    def set_view(self, shown: "PlaneView") -> None:
        """Record that the plane was read again."""
        self.unreadable = ""
        # The thread that checks candidates reports later which of the other results are outdated.
        self._unchecked = sum(entry.id not in shown.reviewed for entry in shown.inbox)

    def set_unreadable(self, error: "AgentplaneError") -> None:
        """Show the error that keeps the plane from being read, unless it is already shown."""
        message = str(error)
        if message != self.unreadable:
            self.unreadable = message
            self.fail(error)
        self._problem = error.what
        self.show_figures()

    def set_unchecked(self, left: int) -> None:
        """Record that some candidates were checked. `left` is the number of unchecked ones."""
        self._unchecked = left

    def set_tools(self, tools: "Receivers") -> None:
        """Record which tools get the memory."""
        self._tools = tools
        self.show_figures()

    def show_figures(self) -> None:
        """Update the header of every screen."""
        figures = self.figures()
        for screen in self._navigator.open:
            for badge in screen.query(Badge):
                badge.show(figures)

    def figures(self) -> Figures:
        """Return the current figures for the header."""
        app = self._app
        dot = "*" if app.plain else "●"
        if app.shown is not None:
            problem = self._problem if self.unreadable else ""
            return header_counts.of_shown(app.shown, dot, self._unchecked, problem, self._tools)
        if self.unreadable:
            return Figures(dot=dot, problem=one_line(self.unreadable.partition("\n")[0], 60))
        return header_counts.of_glimpse(app.glimpse, dot)
