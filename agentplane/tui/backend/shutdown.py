"""Being told to end: the terminal was closed, or somebody sent SIGTERM.

A terminal that is closed sends SIGHUP only to those it controls, and some are started so that they never hear it
(nohup, setsid). Then nothing can be read from it any more, for ever, and that is noticed too.

Heard by handlers of Python's own and not by the loop's: a terminal that takes nothing any more holds the loop up in
the middle of a paint, and then the loop hears nothing.
"""

import asyncio
import os
import select
import signal
import threading
from collections.abc import Callable
from contextlib import suppress


FINISH_SECONDS = 120.0
"""What was decided is carried out, also where nobody sees it."""
_HEED_SECONDS = 10.0
"""So long the screens have to end by themselves."""

Finish = Callable[[float], object]


def listen(loop: asyncio.AbstractEventLoop, finish: Finish, end: Callable[[], None]) -> None:
    """`end` is called in the loop when SIGTERM comes; a hang-up ends the process once `finish` has waited."""

    def hung_up(*_: object) -> None:
        _begin(_leave, finish, 128 + signal.SIGHUP)

    def asked(*_: object) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(end)
        _begin(_insist, finish)

    signal.signal(signal.SIGHUP, hung_up)
    signal.signal(signal.SIGTERM, asked)
    if os.isatty(0):
        _begin(_until_closed, 0, finish)


def _begin(work: Callable[..., None], *given: object) -> None:
    threading.Thread(target=work, args=given, name="ending", daemon=True).start()


def _until_closed(terminal: int, finish: Finish) -> None:
    """Sleeps until nobody holds the other side of the terminal."""
    poll = select.poll()
    poll.register(terminal, 0)  # a hang-up is told in any case
    if any(told & select.POLLHUP for _, told in poll.poll()):
        _leave(finish, 128 + signal.SIGHUP)


def _leave(finish: Finish, code: int) -> None:
    finish(FINISH_SECONDS)
    os._exit(code)


def _insist(finish: Finish) -> None:
    """Where the loop is held up, nobody else ends the process."""
    threading.Event().wait(_HEED_SECONDS)
    _leave(finish, 128 + signal.SIGTERM)
