"""The app's access to running sessions.

The code that finds and restarts sessions is loaded on first use.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from agentplane.tui.protocols import ShowsSessions


if TYPE_CHECKING:
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.outcome_text import Outcome
    from agentplane.tui.backend.sessions.session_watch import WatchedSession
    from agentplane.tui.messages import RestartInstructions, RestartOutcome
    from agentplane.tui.screens.restart.controller import Restarts


class Sessions:
    """The running sessions of coding tools.

    A decision here, another process, or another branch changes the memory. After each change, the app looks
    for sessions with outdated memory.
    """

    def __init__(
        self, app: "PlaneApp", post: Callable[[Message], object], quiet_in: Callable[[], float]
    ) -> None:
        """`quiet_in` returns the seconds until typing has paused for a moment, or 0 if it already has."""
        self._app = app
        self._post = post
        self._quiet_in = quiet_in
        self._restarts: Restarts | None = None
        self._revision: str | None = None
        """The memory revision that the sessions were last compared with."""

    @property
    def restarts(self) -> "Restarts | None":
        """The controller of restarts, made on first use. None until the plane was opened."""
        model = self._app.model
        if self._restarts is None and model is not None:
            from agentplane.tui.screens.restart.controller import Restarts

            self._restarts = Restarts(self._app, model, self._post, self._quiet_in)
        return self._restarts

    def memory_changed(self, revision: str) -> None:
        """Look for sessions if the memory revision has changed, and once at the start.

        Before the start, another process or another person may have changed the memory.
        """
        before, self._revision = self._revision, revision
        if before != revision and (restarts := self.restarts):
            restarts.memory_changed(revision)

    def command_done(self, done: "Outcome") -> None:
        """Handle the new memory revision of a command, and the sessions that it restarts."""
        if done.revision:
            self.memory_changed(done.revision)
        if done.restarting and (restarts := self.restarts):
            restarts.follow(done.restarting)

    def look(self) -> None:
        """Look for all sessions, because a person wants to see them."""
        shown = self._app.shown
        if shown is not None and (restarts := self.restarts):
            restarts.look(shown.revision)

    def look_again(self) -> None:
        """Look at sessions again, because time has passed or a file of the plane changed.

        A screen that shows sessions needs a new search. Otherwise, a check of the known sessions is enough.
        """
        screen = self._app.screen
        if isinstance(screen, ShowsSessions) and screen.shows_sessions:
            self.look()
        elif self._restarts is not None:
            self._restarts.tick()

    def restart(self, revision: str) -> None:
        """Restart the sessions with outdated memory, after a question if there are several."""
        if restarts := self.restarts:
            restarts.restart(revision)

    def close(self) -> None:
        if self._restarts is not None:
            self._restarts.close()

    def show_messages(self) -> None:
        """Show the known sessions once the open screen is drawn."""
        if self._restarts is not None:
            self._app.call_after_refresh(self._restarts.show_messages)

    def hide_messages(self) -> None:
        """Hide the messages about sessions until the memory changes again."""
        if self._restarts is not None:
            self._restarts.hide_messages()

    # Reports of the thread that looks for sessions

    def update(self, watched: "tuple[WatchedSession, ...]") -> None:
        if self._restarts is not None:
            self._restarts.update(watched)

    def report_outcome(self, message: "RestartOutcome") -> None:
        if self._restarts is not None:
            self._restarts.report_outcome(message)

    def show_instructions(self, message: "RestartInstructions") -> None:
        if self._restarts is not None:
            self._restarts.show_instructions(message)

    def drop_waiting(self) -> None:
        if self._restarts is not None:
            self._restarts.drop_waiting()
