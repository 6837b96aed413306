"""What threads tell the app, and the app its screens. Threads post these and touch no widget."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from agentplane.commands import Command
from agentplane.tui.backend.outcome_text import Outcome


# Reading a plane takes a while to load, and the first paint does not need it.
if TYPE_CHECKING:
    from agentplane.errors import AgentplaneError
    from agentplane.tools.sessions.restart import Outcome as CameOut
    from agentplane.tools.sessions.sessions import Session
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.backend.session_watch import Help, Seen


class OpDone(Message, bubble=False):
    """An op was carried out."""

    def __init__(self, op: Command, done: Outcome) -> None:
        super().__init__()
        self.op = op
        self.done = done


class OpFailed(Message, bubble=False):
    """An op was refused, or could not be written."""

    def __init__(self, op: Command, error: "AgentplaneError") -> None:
        super().__init__()
        self.op = op
        self.error = error


class Refreshed(Message, bubble=False):
    """The plane was read anew."""

    def __init__(self, shown: "PlaneView") -> None:
        super().__init__()
        self.shown = shown


class Unreadable(Message, bubble=False):
    """The plane cannot be read; what was read before stays on the screen."""

    def __init__(self, error: "AgentplaneError") -> None:
        super().__init__()
        self.error = error


class Looked(Message, bubble=False):
    """Some candidates were looked at; what was found is in `shown.reviewed`."""

    def __init__(self, ids: tuple[str, ...], left: int) -> None:
        super().__init__()
        self.ids = ids
        self.left = left
        """How many are still to be looked at."""


class Changed(Message, bubble=False):
    """Something in the plane's folder is not as it was."""


class SessionsSeen(Message, bubble=False):
    """Sessions of coding tools were looked for, or looked at again."""

    def __init__(self, seen: "tuple[Seen, ...]") -> None:
        super().__init__()
        self.seen = seen


class CameOf(Message, bubble=False):
    """What came so far of asking for the restart of a session."""

    def __init__(self, session: "Session", outcome: "CameOut", revision: str) -> None:
        super().__init__()
        self.session = session
        self.outcome = outcome
        self.revision = revision
        """Of the memory that it has now, where it was restarted."""


class Helps(Message, bubble=False):
    """What a person does for sessions that nobody can be asked to restart."""

    def __init__(self, helps: "Sequence[Help]") -> None:
        super().__init__()
        self.helps = helps


class LookFailed(Message, bubble=False):
    """Sessions could not be looked for, or not be asked."""

    def __init__(self, error: "AgentplaneError") -> None:
        super().__init__()
        self.error = error
