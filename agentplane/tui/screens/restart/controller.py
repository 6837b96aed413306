"""The controller that names sessions with outdated memory, restarts them, and reports the results."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from agentplane.tui.backend.sessions.session_watch import Lookout
from agentplane.tui.messages import RestartInstructions, RestartOutcome


# A thread looks for sessions, and loads the modules that it needs.
if TYPE_CHECKING:
    from agentplane.tools.sessions.sessions import Session
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.model import PlaneModel
    from agentplane.tui.backend.sessions.session_watch import WatchedSession

_RESULT_SECONDS = 12.0


class Restarts:
    """The restarts of sessions.

    The program has a single instance, and only the thread of the screens calls it.
    """

    def __init__(
        self,
        app: "PlaneApp",
        model: "PlaneModel",
        post: Callable[[Message], object],
        quiet_in: Callable[[], float],
    ) -> None:
        self._app = app
        self._model = model
        self._watcher = Lookout(model, post, quiet_in)
        self.watched: tuple[WatchedSession, ...] = ()
        self._revision = ""
        self._waiting: dict[int, str] = {}
        """Messages about sessions that were asked to restart and have not answered, by process id."""
        self._results: dict[int, str] = {}
        """Messages about the results of other sessions, by process id."""
        self._fading: set[int] = set()
        """Process ids whose messages disappear after a while.

        A command to type stays until the session ends or the person hides the message.
        """
        self._hidden = False
        self._restart_requested = False
        """True if a person pressed the key before any session was known."""

    # Sessions

    def memory_changed(self, revision: str) -> None:
        """Look for sessions, because the memory has changed."""
        self._revision, self._hidden = revision, False
        self._watcher.look(revision)

    def look(self, revision: str) -> None:
        """Look for sessions, because a person wants to see them."""
        self._revision = revision
        self._watcher.look(revision)

    def tick(self) -> None:
        """Look at the sessions again, because time has passed or the plane's folder changed."""
        if self._old or self._waiting:
            self._watcher.look_again()
            self.show_messages()

    def follow(self, asked: "Sequence[Session]") -> None:
        """Follow sessions that restart because of the settings."""
        self._waiting |= {one.pid: f"{one.tool} restarts when idle" for one in asked}
        self._watcher.follow(asked)

    def close(self) -> None:
        self._watcher.close()

    def update(self, watched: "tuple[WatchedSession, ...]") -> None:
        self.watched = watched
        self._waiting |= {
            one.session.pid: f"{one.session.tool} restarts when idle"
            for one in watched
            if one.activity.asked and one.session.pid not in self._waiting
        }
        old = {one.session.pid for one in watched if one.session.state == "old"}
        self._results = {
            pid: message for pid, message in self._results.items() if pid in old or pid in self._fading
        }
        self.show_messages()
        if self._restart_requested:
            self._restart_requested = False
            if not self._old:
                self._app.say("No running session has outdated memory")

    @property
    def _old(self) -> "list[WatchedSession]":
        """The sessions that a person should know about, and that have not been asked to restart."""
        return [
            one for one in self.watched if _is_named(one.session) and one.session.pid not in self._waiting
        ]

    # Messages

    def show_messages(self) -> None:
        """Update the messages on every screen that has a list."""
        from agentplane.tui.backend.sessions import session_text
        from agentplane.tui.screens.restart.bar import SessionBar

        old = [one for one in self._old if one.session.pid not in self._results and not self._hidden]
        key = self._app.keys_wanted.key("restart")
        prompts = session_text.prompts(old, key, self._now) if old else []
        messages = [*self._waiting.values(), *self._results.values()]
        for screen in self._app.navigator.visited:
            if not screen.is_mounted:
                continue
            bars = list(screen.query(SessionBar))
            if not bars and (prompts or messages):
                bars = [SessionBar()]
                screen.mount(bars[0], before="StatusBar")
            for bar in bars:
                bar.show_messages(prompts, messages)

    def hide_messages(self) -> bool:
        """Hide the messages until the memory changes again. Return True if there were any."""
        had = bool(self._results or (self._old and not self._hidden))
        self._hidden = True
        self._results.clear()
        self._fading.clear()
        self.show_messages()
        return had

    @property
    def _now(self) -> float:
        return self._model.plane.store.clock().timestamp()

    # Actions

    def restart(self, revision: str) -> None:
        """Restart sessions with outdated memory. If there are several, the person chooses one or all."""
        self._hidden = False
        old = self._old
        if not old:
            self._restart_requested = True
            self._app.say("Looking for sessions")
            self.look(revision)
        elif len(old) == 1:
            self.ask([old[0].session])
        else:
            self._choose(old)

    def ask(self, wanted: "Sequence[Session]") -> None:
        """Ask sessions to restart. For a session that can't be asked, show the command to type."""
        from agentplane.tui.backend.sessions import session_text

        for one in wanted:
            self._results.pop(one.pid, None)
            if session_text.can_be_asked(one):
                self._waiting[one.pid] = f"{one.tool}: a restart was requested"
        self.show_messages()
        self._watcher.restart(wanted)

    def _choose(self, old: "list[WatchedSession]") -> None:
        from agentplane.tui.backend.sessions import session_text
        from agentplane.tui.widgets.modals.choose_modal import Pick

        sessions = [one.session for one in old]
        asked = [one for one in sessions if one.hooked and session_text.can_be_asked(one)]
        wanted: list[list[Session]] = [[one] for one in sessions]
        options = [session_text.choice(one, self._now) for one in old]
        if len(asked) > 1:
            wanted.insert(0, asked)
            options.insert(0, f"restart all {len(asked)} sessions that report when they are idle")

        def chosen(place: int | None) -> None:
            if place is not None:
                self.ask(wanted[place])

        self._app.push_screen(Pick("Restart a session with outdated memory", options), chosen)

    # Results

    def report_outcome(self, message: RestartOutcome) -> None:
        from agentplane.tui.backend.sessions import session_text

        one, outcome = message.session, message.outcome
        text = session_text.restart_result(one, outcome, message.revision)
        if outcome.state == "waits":
            self._waiting[one.pid] = text
        else:
            self._waiting.pop(one.pid, None)
            self._report(one.pid, text, stays=outcome.state == "refused")
            self._watcher.look(self._revision)
        self.show_messages()

    def show_instructions(self, message: RestartInstructions) -> None:
        """Show the commands to type, and copy them. Some terminals ignore copied text, so both are needed."""
        from agentplane.tui.backend.sessions import session_text

        commands = [help_.command for help_ in message.helps if help_.command]
        if commands:
            self._app.copy_to_clipboard("\n".join(commands))
        for help_ in message.helps:
            self._waiting.pop(help_.session.pid, None)
            self._report(help_.session.pid, session_text.instructions(help_), stays=bool(help_.command))
        self.show_messages()

    def drop_waiting(self) -> None:
        self._waiting.clear()
        self.show_messages()

    def _report(self, pid: int, text: str, *, stays: bool) -> None:
        self._results[pid] = text
        self._fading.discard(pid)
        if not stays:
            self._fading.add(pid)
            self._app.set_timer(_RESULT_SECONDS, lambda: self._fade(pid, text))

    def _fade(self, pid: int, text: str) -> None:
        if self._results.get(pid) == text:
            del self._results[pid]
            self._fading.discard(pid)
            self.show_messages()


def _is_named(one: "Session") -> bool:
    """Return True if a person should know about this session.

    This excludes sessions that get the new memory automatically, and scripted sessions, which soon end.
    """
    return one.state == "old" and not one.reloads and not one.scripted
