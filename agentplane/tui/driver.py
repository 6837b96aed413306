"""The terminal as the screens use it: going on after a stop that nobody could hear of."""

from textual.drivers.linux_driver import LinuxDriver


class Terminal(LinuxDriver):
    """After `kill -STOP` the shell may have changed the terminal, so it is set up anew, as after ctrl+z.

    The library sets it up a second time without leaving it first. Then two threads wait for each key: one takes it,
    the other waits for the next, and the program cannot end before that comes.
    """

    def _sigcont_application(self, *_: object) -> None:
        was_told = self._must_signal_resume
        if was_told:
            super()._sigcont_application()
        elif self._auto_restart and self._key_thread is not None:
            # Not here: the signal may have come in the middle of a write, which holds a lock.
            self._loop.call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        self.suspend_application_mode()
        self.resume_application_mode()
