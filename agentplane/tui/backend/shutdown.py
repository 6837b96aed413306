"""The end of the program after the terminal was closed or SIGTERM was received.

A closed terminal sends SIGHUP only to the processes it controls, and some programs are started so that SIGHUP
never reaches them (nohup, setsid). Such a program can never read from its terminal again, and a thread
notices that too.

The signal handlers are Python's own and not those of the event loop. A terminal that accepts no more output
blocks the loop in the middle of a paint, and a blocked loop handles no signal.
"""

import asyncio
import os
import select
import signal
import threading
from collections.abc import Callable
from contextlib import suppress


FINISH_SECONDS = 120.0
"""The time for finishing the decided commands, even if no person sees the results."""
_LEAVE_SECONDS = 10.0
"""The time that the screens have to end on their own."""

Finish = Callable[[float], object]


def listen(loop: asyncio.AbstractEventLoop, finish: Finish, end: Callable[[], None]) -> None:
    """Install the handlers. SIGTERM calls `end` in the loop. A hang-up ends the process once `finish` has waited."""

    def on_sighup(*_: object) -> None:
        _begin(_leave, finish, 128 + signal.SIGHUP)

    def on_sigterm(*_: object) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(end)
        _begin(_end_if_blocked, finish)

    signal.signal(signal.SIGHUP, on_sighup)
    signal.signal(signal.SIGTERM, on_sigterm)
    if os.isatty(0):
        _begin(_until_closed, 0, finish)


def _begin(work: Callable[..., None], *given: object) -> None:
    threading.Thread(target=work, args=given, name="ending", daemon=True).start()


def _until_closed(terminal: int, finish: Finish) -> None:
    """Wait until the other side of the terminal is closed, and end the process then."""
    poll = select.poll()
    poll.register(terminal, 0)  # a hang-up is always reported
    if any(event & select.POLLHUP for _, event in poll.poll()):
        _leave(finish, 128 + signal.SIGHUP)


def _leave(finish: Finish, code: int) -> None:
    finish(FINISH_SECONDS)
    os._exit(code)


def _end_if_blocked(finish: Finish) -> None:
    """End the process in case the loop is blocked and can't do it."""
    threading.Event().wait(_LEAVE_SECONDS)
    _leave(finish, 128 + signal.SIGTERM)
