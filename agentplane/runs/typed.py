"""What a person has typed and not sent yet, as far as the keys tell.

A terminal answers a program's questions on the same way: where the cursor is, what it can do, that its window came to
the front, where the mouse is. Those are no keys. What cannot be told for sure counts as typed, until a line is sent or
thrown away.
"""

import re
import time


_ESCAPE = 0x1B
_ENTER, _BREAK, _CLEAR, _RUBOUT = 0x0D, 0x03, 0x15, (0x08, 0x7F)
_WRITES_NOTHING = (0x04, 0x0C, 0x1A)
"""The end of input, drawing anew, and suspending."""
_PLAIN = {b"\x1b[13u": _ENTER, b"\x1b[13;1u": _ENTER, b"\x1b[99;5u": _BREAK, b"\x1b[117;5u": _CLEAR}
"""How a terminal that tells keys apart says these."""
_PASTE, _PASTED = b"\x1b[200~", b"\x1b[201~"
_MOUSE = b"\x1b[M"
_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)|[^\[OP\]^_X\x1b])"
)
_BEGUN = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|O|[\]P^_X][^\x07\x1b]*\x1b?)?\Z")
_NO_KEY = re.compile(
    rb"\x1b(?:\[(?:[IO]|\d+;\d+R|[?>=][\d;]*[a-zA-Z]|\?[\d;]*\$y|\d+(?:;\d+)*[ntx]|<[\d;]+[Mm]|M|[\d;]*:3[u~A-Z])"
    rb"|[\]P^_X].*)\Z",
    re.DOTALL,
)
"""Answers, the window's focus, the mouse, and a key that is let go."""
_ALONE = 0.1
"""Seconds after which an escape that came last was the key, and begins no sequence."""
_LONGEST = 1 << 16


class Typed:
    """Is told every byte of the keyboard. `last` is when somebody typed, as time.monotonic has it."""

    def __init__(self) -> None:
        self.last = 0.0
        self._count = 0
        self._unsure = False
        self._pasting = False
        self._mouse = 0
        """Bytes that follow of where the mouse is; they may be anything."""
        self._before = 0
        self._rest = b""
        self._at = 0.0

    @property
    def half(self) -> bool:
        """Whether a line may have been begun."""
        return self._unsure or self._count > 0

    def add(self, keys: bytes) -> None:
        now = time.monotonic()
        if self._rest == b"\x1b" and now - self._at > _ALONE:
            self._key(now)
            self._rest = b""
        data, self._rest, self._at = self._rest + keys, b"", now
        place = 0
        while place < len(data):
            if self._mouse:
                self._mouse -= 1
                place += 1
            elif data[place] != _ESCAPE:
                self._letter(data[place], now)
                place += 1
            elif found := _SEQUENCE.match(data, place):
                self._sequence(found.group(), now)
                place = found.end() + (
                    3 if found.group() == _MOUSE else 0
                )  # three bytes that may be anything
            elif _BEGUN.match(data, place) and len(data) - place < _LONGEST:
                self._rest = data[place:]
                return
            else:
                self._key(now)
                place += 1

    def _sequence(self, found: bytes, now: float) -> None:
        if found == _MOUSE:
            self._mouse = 3
        if found in (_PASTE, _PASTED):
            self._pasting = found == _PASTE
        if found in _PLAIN:
            self._letter(_PLAIN[found], now)
        elif not _NO_KEY.match(found):
            self._key(now)

    def _key(self, now: float) -> None:
        """One that may have put something into the line, as an arrow does that brings an earlier one back."""
        self.last, self._unsure, self._before = now, True, 0

    def _letter(self, letter: int, now: float) -> None:
        before, self._before, self.last = self._before, letter, now
        if self._pasting:
            self._unsure = True
        elif letter in (_BREAK, _CLEAR) or (letter == _ENTER and before != ord("\\")):
            self._unsure, self._count = False, 0
        elif letter in _RUBOUT:
            self._count = max(0, self._count - 1)
        elif letter < 0x20:
            self._unsure = self._unsure or letter not in _WRITES_NOTHING
        elif letter & 0xC0 != 0x80:  # else a further byte of one letter
            self._count += 1
