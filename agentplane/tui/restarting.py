"""The app's part in restarting sessions: when they are looked for, and the keys. What does the work is loaded then."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from agentplane.commands import Command, SetRestart
from agentplane.tui.going import Going
from agentplane.tui.messages import CameOf, Helps, LookFailed, SessionsSeen


if TYPE_CHECKING:
    from agentplane.tui.actions import Keymap
    from agentplane.tui.desk import Desk
    from agentplane.tui.ops import Outcome
    from agentplane.tui.restarts import Restarts
    from agentplane.tui.work import Reader


class Restarting(Going):
    """What tools are given changes by an op here, by one elsewhere, or with the branch: each time it is looked who has
    the old memory.
    """

    if TYPE_CHECKING:
        _reader: Reader
        _post: Callable[[Message], None]
        submit: Callable[[Command], None]
        keys_wanted: Keymap

        @property
        def desk(self) -> Desk | None: ...

    def __init__(self) -> None:
        super().__init__()
        self._restarts: Restarts | None = None
        self._revision: str | None = None
        """Of the memory that sessions were last measured by."""

    @property
    def restarts(self) -> "Restarts | None":
        """Made when it is first needed; None as long as the plane was not opened."""
        desk = self.desk
        if self._restarts is None and desk is not None:
            from agentplane.tui.restarts import Restarts

            self._restarts = Restarts(self, desk, self._post, self._reader.quiet_in)
        return self._restarts

    def memory_is(self, revision: str) -> None:
        """That of now; where it is another one than before, sessions are looked for."""
        before, self._revision = self._revision, revision
        if before not in (None, revision) and (restarts := self.restarts):
            restarts.memory_is(revision)

    def op_done(self, done: "Outcome") -> None:
        if done.revision:
            self.memory_is(done.revision)
        if done.restarting and (restarts := self.restarts):
            restarts.follow(done.restarting)

    def look_for_sessions(self) -> None:
        """All of them: somebody wants to see them."""
        if self.shown is not None and (restarts := self.restarts):
            restarts.look(self.shown.revision)

    def look_at_sessions(self) -> None:
        """A moment has passed, or something in the plane's folder is not as it was."""
        if getattr(self.screen, "shows_sessions", False):
            self.look_for_sessions()
        elif self._restarts is not None:
            self._restarts.tick()

    def stop_looking(self) -> None:
        if self._restarts is not None:
            self._restarts.close()

    def arrived(self) -> None:
        super().arrived()
        if self._restarts is not None:
            self.call_after_refresh(self._restarts.tell)

    def on_sessions_seen(self, message: SessionsSeen) -> None:
        if self._restarts is not None:
            self._restarts.take(message.seen)
        self.relay(lambda: SessionsSeen(message.seen))

    def on_came_of(self, message: CameOf) -> None:
        if self._restarts is not None:
            self._restarts.came(message)

    def on_helps(self, message: Helps) -> None:
        if self._restarts is not None:
            self._restarts.helped(message)

    def on_look_failed(self, message: LookFailed) -> None:
        if self._restarts is not None:
            self._restarts.failed()
        self.fail(message.error)

    def may_decide(self) -> bool:
        """Whether a person decides here; where not, says why."""
        if self.shown is not None and self.shown.refusal:
            self.say(self.shown.refusal)
        return self.shown is not None and not self.shown.refusal

    def action_restart(self) -> None:
        if self.shown is not None and self.may_decide() and (restarts := self.restarts):
            restarts.restart(self.shown.revision)

    def action_restart_by_itself(self) -> None:
        """Between asking somebody and restarting without a question, and back."""
        if self.shown is not None and self.may_decide():
            auto = self.shown.memory.snapshot.settings.tools.restart == "auto"
            self.submit(SetRestart(auto=not auto))

    async def went_back(self) -> bool:
        """The last step puts away what is said of sessions."""
        return await super().went_back() or (self._restarts is not None and self._restarts.put_away())
