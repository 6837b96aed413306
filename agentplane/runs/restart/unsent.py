"""Detection of a typed line that is not sent yet and that ending the program would lose.

Every key counts as typed until Enter, Ctrl-C or Ctrl-U is the last one. Automatic reports of a terminal are
not keys.
"""

import re


_REPORTS = re.compile(
    rb"\x1b(?:\[(?:[IO]|\d+;\d+R|[?>=][\d;]*[a-zA-Z]|\?[\d;]*\$y|\d+(?:;\d+)*[ntx]|<[\d;]+[Mm]|M...|[\d;]*:3[u~A-Z])"
    rb"|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\))|[\x04\x0c\x1a]",
    re.DOTALL,
)
"""Replies to queries, window focus, mouse, released keys, and Ctrl-D, Ctrl-L and Ctrl-Z, which write no
text.
"""
_PASTE = re.compile(rb"\x1b\[20([01])~")
_DONE = re.compile(rb"(?:(?<![\\\x1b])\r|[\x03\x15]|\x1b\[(?:13(?:;1)?|99;5|117;5)u)\Z")
"""A last key that sends the line or clears it. After a backslash or Escape, Enter only starts another
line.
"""
_LONGEST = 16


class Unsent:
    def __init__(self) -> None:
        self.maybe = False
        """True if a line may have been begun."""
        self._last = b""
        self._pasting = False

    def add(self, keys: bytes) -> bool:
        """Process input of the terminal. Return True if it contains a key."""
        typed = _REPORTS.sub(b"", keys)
        if not typed:
            return False
        last = self._last + typed
        for mark in _PASTE.findall(last):
            self._pasting = mark == b"0"
        self._last = last[-_LONGEST:]
        self.maybe = self._pasting or not _DONE.search(self._last)
        return True
