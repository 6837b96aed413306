"""Signals that come before the library listens to them."""

import os
import signal
import threading


ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def end_on_signals() -> None:
    """Ends the process at once, until something else takes the signals. For when nothing is being written.

    A handler alone is not enough: a signal that comes just before the main thread begins to read is told to it only
    when that read returns, which may be never. A descriptor is written to in any case.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)

    def wait() -> None:
        os.read(told, 1)
        os._exit(0)

    threading.Thread(target=wait, name="ending", daemon=True).start()
    signal.set_wakeup_fd(tell)
    for number in ENDING:
        signal.signal(number, lambda *_: None)
