"""Modes of a terminal that a program switched on and did not switch off again: what has to be undone for one that was
ended before it could.

Only what is on is undone. Leaving an alternate screen that nobody entered would throw away what is on the screen.
"""

import re


_MODE = re.compile(rb"\x1b(?:\[\?([\d;]{1,60})([hl])|\[([><=])([\d;]{0,60})([um])|(c)|\[!(p))")
_BEGUN = re.compile(rb"\x1b(?:\[[?><=!]?[\d;]*)?\Z")
_WATCHED = {
    47, 1047, 1049,  # the alternate screen
    9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016,  # the mouse, and the window's focus
    1, 66,  # keys of the keypad
    2004, 2026, 2027, 2031,  # pasting; drawing at once; letters; light and dark
}  # fmt: skip
_SHOWN_BEFORE = {7, 25}
"""On in every terminal: the cursor is shown, and lines wrap."""
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
        """Is told all output."""
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
        """What to tell the terminal, so that it is as it was, and what was drawn below the cursor is gone."""
        if not self._draws:
            return b""
        told = [b"\x1b[?%dl" % mode for mode in sorted(self._on - set(_SCREENS))]
        told += [b"\x1b[?%dl" % mode for mode in sorted(self._on & set(_SCREENS))]
        told += [b"\x1b[?%dh" % mode for mode in sorted(self._off)]
        told += [b"\x1b[<%du" % self._keyboards] if self._keyboards else []
        told += [b"\x1b[>4m"] if self._other_keys else []
        return b"".join([*told, b"\x1b[0m\r\x1b[J"])

    def _switch(self, modes: set[int], *, on: bool) -> None:
        self._on = self._on | (modes & _WATCHED) if on else self._on - modes
        self._off = self._off - modes if on else self._off | (modes & _SHOWN_BEFORE)

    def _keyboard(self, mark: bytes, value: bytes) -> None:
        """A program lays its own way of telling keys upon the one before, and takes it off again."""
        if mark == b">":
            self._keyboards += 1
        elif mark == b"<":
            self._keyboards = max(0, self._keyboards - int(value.partition(b";")[0] or b"1"))

    def _reset(self, *, whole: bool) -> None:
        self._off, self._other_keys = set(), False
        self._on = set() if whole else self._on & set(_SCREENS)
        self._keyboards = 0 if whole else self._keyboards
