"""Requests to restart a run's command, granted only when no typed text would be lost.

A request is a file in the open run's `work/`, and a byte into the FIFO next to it. The process that runs the
command waits for that FIFO and for its other input together. A signal is not used, because a misdirected one
would reach the command. A third file has the reply to a request. Any program of the same person can write
these files. Therefore a request is only a wish, and its purpose is checked again when it is granted.
"""

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.runs.open import open_run
from agentplane.runs.open.hook_notes import BELL, HAPPENED
from agentplane.runs.restart.terminal_modes import LeftOn
from agentplane.runs.restart.unsent import Unsent
from agentplane.text import files
from agentplane.text.json import decode


SETTLING = 2.0
"""Seconds that a hook has, after a key or a turn, to report the text that was sent."""
REQUEST, REPLY = "restart.json", "restart-reply.json"


class Request(msgspec.Struct, frozen=True):
    at: str
    by: str
    auto: bool = False
    """True if the settings caused the request, without a person watching."""


class Reply(msgspec.Struct, frozen=True):
    """The current reply to a request."""

    state: str
    """`waits`, `refused` or `restarts`."""
    why: str


class Again(msgspec.Struct, frozen=True):
    """The next command, and the message about it."""

    command: list[str]
    words: str
    revision: str


class Waits(msgspec.Struct, frozen=True):
    why: str


class Never(msgspec.Struct, frozen=True):
    why: str


Decision = Again | Waits | Never


def ask(layout: Layout, run_id: str, request: Request) -> bool:
    """Request a restart. Return False if no process can do it."""
    work = open_run.work(layout, run_id)
    if not can_be_asked(layout, run_id):
        return False
    files.remove(work / REPLY)
    files.write_atomic(work / REQUEST, msgspec.json.encode(request), durable=False)
    return ring(str(work))


def can_be_asked(layout: Layout, run_id: str) -> bool:
    """True if the command of an open run has a terminal and its process accepts requests."""
    with suppress(AgentplaneError, OSError):
        return stat.S_ISFIFO(os.lstat(open_run.work(layout, run_id) / BELL).st_mode)
    return False


def is_asked(layout: Layout, run_id: str) -> bool:
    """True if a request is pending."""
    with suppress(AgentplaneError, OSError):
        return os.path.lexists(open_run.work(layout, run_id) / REQUEST)
    return False


def reply(layout: Layout, run_id: str) -> Reply | None:
    """Return the reply to a request, or None before the reply."""
    try:
        data = files.read_if(open_run.work(layout, run_id) / REPLY)
        return decode.Json(Reply).decode(data) if data else None
    except (AgentplaneError, msgspec.MsgspecError):
        return None


def ring(work: str) -> bool:
    """Wake the process that runs the command, without waiting."""
    try:
        fd = os.open(os.path.join(work, BELL), os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode) and os.write(fd, b"!") == 1
    except OSError:  # it is full, so enough wake-ups are pending
        return True
    finally:
        os.close(fd)


class Watch:
    """Watches a command and its terminal, and reports when the command must end for another one.

    Hooks report when a session is at work. A session without hooks is ended on request, without waiting. Text
    that a person has typed and not sent is never lost.
    """

    def __init__(
        self,
        work: Path,
        decide: Callable[[Request], Decision],
        hooked: Callable[[], bool],
        *,
        settling: float = SETTLING,
    ) -> None:
        """Create a closed watch. `hooked` returns True if the session's hooks report when it is at work."""
        self.left_on = LeftOn()
        self.again: Again | None = None
        """The next command, after the current command was told to end for it."""
        self.fd = -1
        self._work, self._decide, self._hooked, self._settling = work, decide, hooked, settling
        self._ends: list[int] = []
        self._request: Request | None = None
        self._unsent = Unsent()
        self._settled = 0.0
        """Time after which a hook has had a chance to report the text that was sent."""
        self._looked = False
        """True if no event has occurred since the last look."""
        self._reply: Reply | None = None

    def open(self) -> None:
        """Accept requests from now on, if the system supports FIFOs."""
        path, flags = self._work / BELL, os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(OSError):
            os.mkfifo(path, 0o600)
            self.fd = os.open(path, os.O_RDONLY | flags)
            # This extra writer stays open. Otherwise each closing writer would look like the end of the
            # input.
            self._ends = [self.fd, os.open(path, os.O_WRONLY | flags)]

    def close(self) -> None:
        for fd in self._ends:
            os.close(fd)
        self._ends, self.fd = [], -1
        with suppress(OSError):
            os.unlink(self._work / BELL)

    def printed(self, data: bytes) -> None:
        self.left_on.add(data)

    def pressed(self, keys: bytes) -> None:
        if self._unsent.add(keys):
            self._settle()

    def rung(self) -> None:
        rang = b""
        with suppress(BlockingIOError):
            rang = os.read(self.fd, 4096)
        self._looked = False
        if HAPPENED in rang:  # a hook, whose tool continues after the answer
            self._settle()
        try:
            data = files.read_if(self._work / REQUEST)
            self._request = decode.Json(Request).decode(data) if data else None
        except (AgentplaneError, msgspec.MsgspecError):
            self._request = None

    def patience(self, *, in_front: bool) -> float | None:
        """Return the seconds until the next useful look, or None to wait for an event."""
        if self._request is None or self._looked or self.again or not in_front:
            return None
        return max(self._settled - time.monotonic(), 0)

    def look(self, *, in_front: bool) -> bool:
        """True if the command must end now."""
        if self._request is None or self._looked or self.again:
            return False
        decision = self._decided(self._request, in_front=in_front)
        if isinstance(decision, Waits):
            self._say(Reply("waits", decision.why))
            return False
        request, self._request = self._request, None
        with suppress(AgentplaneError):
            files.remove(self._work / REQUEST)
        if isinstance(decision, Never):
            self._say(Reply("refused", decision.why))
            return False
        self.again = decision
        self._say(Reply("restarts", f"requested by {request.by}"))
        return True

    def _settle(self) -> None:
        self._settled, self._looked = time.monotonic() + self._settling, False

    def _decided(self, request: Request, *, in_front: bool) -> Decision:
        if not in_front:
            return Waits("the tool isn't in the foreground of its terminal")
        is_settled = time.monotonic() >= self._settled
        self._looked = is_settled
        if is_settled and not self._unsent.maybe:
            try:
                return self._decide(request)
            except (AgentplaneError, OSError) as error:
                return Waits(str(error))
        why = (
            "someone may be typing"
            if self._unsent.maybe
            else "someone is typing, or the tool has just finished a turn"
        )
        # Without hooks, the end of the turn is unknown.
        return Waits(why) if self._hooked() else Never(f"{why}. Try again when the tool is idle")

    def _say(self, reply: Reply) -> None:
        if reply == self._reply:
            return
        self._reply = reply
        with suppress(AgentplaneError):
            files.write_atomic(self._work / REPLY, msgspec.json.encode(reply), durable=False)
