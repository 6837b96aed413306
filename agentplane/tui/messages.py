"""The messages that threads post to the app, and that the app passes to its screens. Threads touch no widget."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from agentplane.commands import Command
from agentplane.tui.backend.outcome_text import Outcome


# These modules are slow to import, and the first paint doesn't need them.
if TYPE_CHECKING:
    from agentplane.errors import AgentplaneError
    from agentplane.tools.sessions import restart
    from agentplane.tools.sessions.sessions import Session
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.backend.sessions.session_watch import Help, WatchedSession


class OpDone(Message, bubble=False):
    """A command is done."""

    def __init__(self, op: Command, done: Outcome) -> None:
        super().__init__()
        self.op = op
        self.done = done


class OpFailed(Message, bubble=False):
    """A command was refused, or its changes could not be written."""

    def __init__(self, op: Command, error: "AgentplaneError") -> None:
        super().__init__()
        self.op = op
        self.error = error


class Refreshed(Message, bubble=False):
    """The plane was read again."""

    def __init__(self, shown: "PlaneView") -> None:
        super().__init__()
        self.shown = shown


class Unreadable(Message, bubble=False):
    """The plane cannot be read. The screens keep their previous contents."""

    def __init__(self, error: "AgentplaneError") -> None:
        super().__init__()
        self.error = error


class CandidatesChecked(Message, bubble=False):
    """Some candidates were checked. The results are in `shown.reviewed`."""

    def __init__(self, ids: tuple[str, ...], left: int) -> None:
        super().__init__()
        self.ids = ids
        self.left = left
        """The number of candidates that are still unchecked."""


class Changed(Message, bubble=False):
    """A file in the plane's folder may have changed."""


class SessionsSeen(Message, bubble=False):
    """The running sessions of coding tools were listed or updated."""

    def __init__(self, watched: "tuple[WatchedSession, ...]") -> None:
        super().__init__()
        self.watched = watched


class RestartOutcome(Message, bubble=False):
    """The result so far of a request to restart a session."""

    def __init__(self, session: "Session", outcome: "restart.Outcome", revision: str) -> None:
        super().__init__()
        self.session = session
        self.outcome = outcome
        self.revision = revision
        """The memory revision of the restarted session. Empty if it was not restarted."""


class RestartInstructions(Message, bubble=False):
    """Instructions for sessions that a person has to restart."""

    def __init__(self, helps: "Sequence[Help]") -> None:
        super().__init__()
        self.helps = helps


class SessionsFailed(Message, bubble=False):
    """An error while listing sessions or requesting restarts."""

    def __init__(self, error: "AgentplaneError") -> None:
        super().__init__()
        self.error = error


class WorkFailed(Message, bubble=False):
    """An error in work in the background of a screen."""

    def __init__(self, error: "AgentplaneError") -> None:
        super().__init__()
        self.error = error


class WorkEnded(Message, bubble=False):
    """A command of the palette has ended. `then` shows its result."""

    def __init__(self, then: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self.then = then
