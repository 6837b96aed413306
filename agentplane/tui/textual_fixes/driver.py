"""The terminal as the screens use it: its own size, and going on after a stop that nobody could hear of."""

import os

from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver


class Terminal(LinuxDriver):
    """After `kill -STOP` the shell may have changed the terminal, so it is set up anew, as after ctrl+z.

    The library sets it up a second time without leaving it first. Then two threads wait for each key: one takes it,
    the other waits for the next, and the program cannot end before that comes.
    """

    _goes_on = False

    def _sigcont_application(self, *_: object) -> None:
        was_told = self._must_signal_resume
        if was_told:
            super()._sigcont_application()
        elif self._auto_restart and self._key_thread is not None:
            # Not here: the signal may have come in the middle of a write, which holds a lock.
            self._loop.call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        """Leave the terminal and take it again. No key is lost, and none is read in another mode, on the way."""
        at_the_end = self.attrs_before
        self.attrs_before = None
        self._goes_on = True
        # In the background nothing can be set up: then this one has ended, and nobody writes what is said to it.
        if self._key_thread is not None and self._key_thread.is_alive():
            self.suspend_application_mode()
        self._goes_on = False
        self.resume_application_mode()
        self.attrs_before = at_the_end

    def disable_input(self) -> None:
        """Hear no more keys. The library throws away what was typed and not yet read; a program that goes on needs it."""
        if not self._goes_on:
            super().disable_input()
        elif self._key_thread is not None:
            self.exit_event.set()
            self._key_thread.join()
            self.exit_event.clear()

    def _get_terminal_size(self) -> tuple[int, int]:
        """What the terminal says: COLUMNS and LINES may be of another one, and do not change with the window."""
        try:
            wide, high = os.get_terminal_size(self.fileno)
        except OSError:
            wide = high = 0
        return (wide, high) if wide and high else super()._get_terminal_size()


WIDEST, HIGHEST = 1000, 500
"""Cells of the largest screen. Each cell costs memory several times over, and a page may ask for any number."""


def within(wide: object, high: object) -> tuple[int, int]:
    """Return a size that a screen can have, whatever is asked for."""
    return _clamped(wide, 80, WIDEST), _clamped(high, 24, HIGHEST)


def _clamped(value: object, usual: int, most: int) -> int:
    if isinstance(value, str) and value.isascii() and value.lstrip("+-").isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 -- no number
        return usual
    return int(max(1, min(value, most)))


def of_page() -> type[Driver]:
    """The driver of a page in a browser, which keeps to sizes that a screen can have."""
    from textual import events
    from textual.drivers.web_driver import WebDriver
    from textual.geometry import Size
    from textual.message import Message

    class PageDriver(WebDriver):
        def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
            if packet_type == "resize":
                wide, high = within(payload.get("width"), payload.get("height"))
                payload = {"width": wide, "height": high}
            super().on_meta(packet_type, payload)

        def process_message(self, message: Message) -> None:
            # What is typed can hold the sequence by which a terminal tells its size.
            if isinstance(message, events.Resize):
                size = Size(*within(*message.size))
                message = events.Resize(size, size)
            super().process_message(message)

    return PageDriver


def of_terminal(usual: type[Driver]) -> type[Driver]:
    """The driver for what the library takes this to be: a terminal, a browser, or nothing that is seen."""
    if usual.__name__ == "WebDriver":
        return of_page()
    return Terminal if usual is LinuxDriver else usual
