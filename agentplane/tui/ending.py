"""Being told to end: the terminal was closed, or somebody sent SIGTERM.

Heard by handlers of Python's own and not by the loop's: a terminal that takes nothing any more holds the loop up in
the middle of a paint, and then the loop hears nothing.
"""

import asyncio
import os
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


def _begin(work: Callable[..., None], *given: object) -> None:
    threading.Thread(target=work, args=given, name="ending", daemon=True).start()


def _leave(finish: Finish, code: int) -> None:
    finish(FINISH_SECONDS)
    os._exit(code)


def _insist(finish: Finish) -> None:
    """Where the loop is held up, nobody else ends the process."""
    threading.Event().wait(_HEED_SECONDS)
    _leave(finish, 128 + signal.SIGTERM)
