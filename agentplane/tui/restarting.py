"""The program's part in restarting sessions: when they are looked for, and the keys. What does the work is loaded then."""

from typing import TYPE_CHECKING, Any

from textual.app import App

from agentplane.tui.messages import CameOf, Helps, LookFailed, SessionsSeen
from agentplane.tui.ops import Op


if TYPE_CHECKING:
    from agentplane.tui.desk import Desk, Shown
    from agentplane.tui.ops import Outcome
    from agentplane.tui.restarts import Restarts


class Restarting(App[None]):
    """What tools are given changes by an op here, by one elsewhere, or by another branch: each is noticed."""

    shown: "Shown | None"
    if TYPE_CHECKING:
        _post: Any
        _reader: Any
        _relay: Any
        say: Any
        fail: Any
        submit: Any

        @property
        def desk(self) -> Desk | None: ...

    _made: "Restarts | None" = None
    _memory: str | None = None
    """The revision that sessions were last measured by."""

    @property
    def restarts(self) -> "Restarts | None":
        """None as long as the plane was not opened."""
        desk = self.desk
        if self._made is None and desk is not None:
            from agentplane.tui.restarts import Restarts

            self._made = Restarts(self, desk, self._post, self._reader.quiet_in)  # type: ignore[arg-type]
        return self._made

    def _memory_is(self, revision: str) -> None:
        before, self._memory = self._memory, revision
        if before not in (None, revision) and (restarts := self.restarts):
            restarts.memory_is(revision)

    def _op_done(self, done: "Outcome") -> None:
        if done.revision:
            self._memory_is(done.revision)
        if done.restarting and (restarts := self.restarts):
            restarts.follow(done.restarting)

    def _moment_passed(self) -> None:
        """A moment has passed, or a file of the plane was changed."""
        if getattr(self.screen, "shows_sessions", False):
            self.look_for_sessions()
        elif self._made is not None:
            self._made.tick()

    def look_for_sessions(self) -> None:
        if self.shown is not None and (restarts := self.restarts):
            restarts.look(self.shown.revision)

    def on_sessions_seen(self, message: SessionsSeen) -> None:
        if self._made is not None:
            self._made.take(message.seen)
        self._relay(lambda: SessionsSeen(message.seen))

    def on_came_of(self, message: CameOf) -> None:
        if self._made is not None:
            self._made.came(message)

    def on_helps(self, message: Helps) -> None:
        if self._made is not None:
            self._made.helped(message)

    def on_look_failed(self, message: LookFailed) -> None:
        if self._made is not None:
            self._made.failed()
        self.fail(message.error)

    def action_restart(self) -> None:
        if self.shown is not None and self.shown.refusal:
            self.say(self.shown.refusal)
        elif self.shown is not None and (restarts := self.restarts):
            restarts.restart(self.shown.revision)

    def action_restart_by_itself(self) -> None:
        """Switches between asking and restarting without a question."""
        if self.shown is not None and self.shown.refusal:
            self.say(self.shown.refusal)
        elif self.shown is not None:
            auto = self.shown.memory.snapshot.settings.tools.restart == "auto"
            self.submit(Op("restarts", target="ask" if auto else "auto"))
