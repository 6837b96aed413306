"""The driver of the terminal, which uses the terminal's own size and continues after a stop without notice."""

import os

from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver


class Terminal(LinuxDriver):
    """A terminal that is set up again after `kill -STOP`, as after ctrl+z. The shell may have changed it
    meanwhile.

    Textual would set it up a second time without leaving it first. Then two threads wait for each key. One
    takes the key, and the other one waits for the next key. The program cannot end before that key comes.
    """

    _setting_up_again = False

    def _sigcont_application(self, *_: object) -> None:
        was_suspended = self._must_signal_resume
        if was_suspended:
            super()._sigcont_application()
        elif self._auto_restart and self._key_thread is not None:
            # The handler itself can't do it. The signal may have interrupted a write that holds a lock.
            self._loop.call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        """Leave the terminal and set it up again. No key is lost or read in another mode meanwhile."""
        original_attrs = self.attrs_before
        self.attrs_before = None
        self._setting_up_again = True
        # In the background the setup fails. Then the key thread has ended, and no thread writes the output.
        if self._key_thread is not None and self._key_thread.is_alive():
            self.suspend_application_mode()
        self._setting_up_again = False
        self.resume_application_mode()
        self.attrs_before = original_attrs

    def disable_input(self) -> None:
        """Stop reading keys. Textual discards typed keys that were not read yet. After a stop they are kept."""
        if not self._setting_up_again:
            super().disable_input()
        elif self._key_thread is not None:
            self.exit_event.set()
            self._key_thread.join()
            self.exit_event.clear()

    def _get_terminal_size(self) -> tuple[int, int]:
        """Return the terminal's own size. COLUMNS and LINES may describe another one, and ignore later resizes."""
        try:
            wide, high = os.get_terminal_size(self.fileno)
        except OSError:
            wide = high = 0
        return (wide, high) if wide and high else super()._get_terminal_size()


WIDEST, HIGHEST = 1000, 500
"""The size of the largest screen in cells. Each cell costs memory several times, and a page may ask for any size."""


def within(wide: object, high: object) -> tuple[int, int]:
    """Return the nearest size that a screen can have. A value that is not a number becomes the usual size."""
    return _clamped(wide, 80, WIDEST), _clamped(high, 24, HIGHEST)


def _clamped(value: object, usual: int, most: int) -> int:
    if isinstance(value, str) and value.isascii() and value.lstrip("+-").isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 -- no number
        return usual
    return int(max(1, min(value, most)))


def of_page() -> type[Driver]:
    """Return the driver class for a page in a browser. It limits the size of the screen."""
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
            # Typed text can contain the escape sequence with which a terminal reports its size.
            if isinstance(message, events.Resize):
                size = Size(*within(*message.size))
                message = events.Resize(size, size)
            super().process_message(message)

    return PageDriver


def of_terminal(usual: type[Driver]) -> type[Driver]:
    """Return the driver class that replaces Textual's choice for a terminal, a browser or a headless run."""
    if usual.__name__ == "WebDriver":
        return of_page()
    return Terminal if usual is LinuxDriver else usual
