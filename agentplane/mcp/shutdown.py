"""Signals before the library handles them."""

import os
import signal
import threading


ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def end_on_signals() -> None:
    """End the process at once on a signal, until other code handles the signals.

    Use it while nothing is being written. A handler alone is not enough. If a signal comes just before the
    main thread starts to read, the handler runs only after that read. The read may never return. Python
    writes to the descriptor in any case.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def wait() -> None:
        os.read(read_end, 1)
        os._exit(0)

    threading.Thread(target=wait, name="ending", daemon=True).start()
    signal.set_wakeup_fd(write_end)
    for number in ENDING:
        signal.signal(number, lambda *_: None)
