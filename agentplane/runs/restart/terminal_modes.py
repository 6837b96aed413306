"""Terminal modes that a program turned on and didn't turn off, because it was ended before it could.

Only active modes are undone. Leaving an alternate screen that was never entered would erase the screen.
"""

import re


_MODE = re.compile(rb"\x1b(?:\[\?([\d;]{1,60})([hl])|\[([><=])([\d;]{0,60})([um])|(c)|\[!(p))")
_BEGUN = re.compile(rb"\x1b(?:\[[?><=!]?[\d;]*)?\Z")
_WATCHED = {
    47, 1047, 1049,  # the alternate screen
    9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016,  # the mouse, and the window's focus
    1, 66,  # keypad keys
    2004, 2026, 2027, 2031,  # paste, synchronized drawing, letters, light and dark theme
}  # fmt: skip
_SHOWN_BEFORE = {7, 25}
"""Modes that are on in every terminal. They show the cursor and wrap lines."""
_SCREENS = (47, 1047, 1049)
_LONGEST = 64


class LeftOn:
    def __init__(self) -> None:
        self._on: set[int] = set()
        self._off: set[int] = set()
        self._keyboards = 0
        self._other_keys = False
        self._rest = b""
        self._draws = False

    def add(self, data: bytes) -> None:
        """Process output of the program. All output must pass through here."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        if b"\x1b" not in data:
            return
        self._draws = True
        for private, switch, mark, value, end, reset, soft in _MODE.findall(data):
            if private:
                self._switch({int(number) for number in private.split(b";") if number}, on=switch == b"h")
            elif end == b"u":
                self._keyboard(mark, value)
            elif end == b"m" and mark == b">":
                self._other_keys = value.startswith(b"4;") and not value.endswith(b";0")
            elif reset or soft:
                self._reset(whole=bool(reset))
        begun = _BEGUN.search(data[-_LONGEST:])
        self._rest = begun.group() if begun else b""

    def undone(self) -> bytes:
        """Return the bytes that restore the terminal and clear the area below the cursor."""
        if not self._draws:
            return b""
        sequences = [b"\x1b[?%dl" % mode for mode in sorted(self._on - set(_SCREENS))]
        sequences += [b"\x1b[?%dl" % mode for mode in sorted(self._on & set(_SCREENS))]
        sequences += [b"\x1b[?%dh" % mode for mode in sorted(self._off)]
        sequences += [b"\x1b[<%du" % self._keyboards] if self._keyboards else []
        sequences += [b"\x1b[>4m"] if self._other_keys else []
        return b"".join([*sequences, b"\x1b[0m\r\x1b[J"])

    def _switch(self, modes: set[int], *, on: bool) -> None:
        self._on = self._on | (modes & _WATCHED) if on else self._on - modes
        self._off = self._off - modes if on else self._off | (modes & _SHOWN_BEFORE)

    def _keyboard(self, mark: bytes, value: bytes) -> None:
        """Count keyboard protocols. A program pushes its own protocol on a stack and pops it again."""
        if mark == b">":
            self._keyboards += 1
        elif mark == b"<":
            self._keyboards = max(0, self._keyboards - int(value.partition(b";")[0] or b"1"))

    def _reset(self, *, whole: bool) -> None:
        self._off, self._other_keys = set(), False
        self._on = set() if whole else self._on & set(_SCREENS)
        self._keyboards = 0 if whole else self._keyboards
