"""Code fences of Markdown, paired as in CommonMark, in time linear in the file."""

import re
from bisect import bisect_left
from itertools import accumulate
from typing import Final


# A fence of backticks with a backtick in its info is inline code.
_OPENING: Final = re.compile(rb" {0,3}(?:(`{3,})[^`\n]*(?![^\n])|(~{3,})[^\n]*)")
_NEXT_OPENING: Final = re.compile(rb"\n" + _OPENING.pattern)
_CLOSING: Final = {
    mark: re.compile(rb"\n {0,3}(" + mark + rb"{3,})[ \t]*\r?(?![^\n])") for mark in (b"`", b"~")
}


class Fences:
    """The fences of one file. A fence that never closes doesn't count."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.ahead = -1
        """No fence mark is between the text that was read and this offset."""
        # A search for a single character is much faster than for three, and often there is none.
        self.marks = {mark: -1 for mark in (b"```", b"~~~") if mark[:1] in data}
        self.last: dict[bytes, tuple[list[int], list[int]]] = {}

    def covering(self, text: int, target: int) -> int | None:
        """Return the end of the fence around `target`, or None. Reading continues from the line start `text`."""
        data = self.data
        while self.ahead < target:
            if self.ahead < text:
                self.ahead = self.next_mark(text)
                continue
            opening = _OPENING.match(data, text, target) or _NEXT_OPENING.search(
                data, max(text - 1, 0), target
            )
            if opening is None:
                return None
            end = self.closing(opening)
            if end is None:
                text = opening.end() + 1
            elif end > target:
                return end
            else:
                text = end
        return None

    def left_open(self, text: int) -> bool:
        """True if a fence that opens after the line start `text` never closes.

        Text that is added later could close it.
        """
        opening = _OPENING.match(self.data, text)
        while opening := opening or _NEXT_OPENING.search(self.data, max(text - 1, 0)):
            end = self.closing(opening)
            if end is None:
                return True
            text, opening = end, None
        return False

    def next_mark(self, offset: int) -> int:
        for mark, at in self.marks.items():
            if at < offset:
                found = self.data.find(mark, offset)
                self.marks[mark] = found if found >= 0 else len(self.data) + 1
        return min(self.marks.values(), default=len(self.data) + 1)

    def closing(self, opening: re.Match[bytes]) -> int | None:
        """Return the offset after the line that closes the fence, or None."""
        fence = opening[1] or opening[2]
        mark = fence[:1]
        if not self.closes_after(mark, len(fence), opening.end()):
            return None
        for closing in _CLOSING[mark].finditer(self.data, opening.end()):
            if len(closing[1]) >= len(fence):
                return min(closing.end() + 1, len(self.data))
        return None

    def closes_after(self, mark: bytes, length: int, offset: int) -> bool:
        """True if some closing follows.

        This is checked first, so that no opening without a closing costs a search to the end of the file.
        """
        if mark not in self.last:
            self.last[mark] = self._last_closings(mark)
        lengths, starts = self.last[mark]
        at = bisect_left(lengths, length)
        return at < len(starts) and starts[at] >= offset

    def _last_closings(self, mark: bytes) -> tuple[list[int], list[int]]:
        """Return ascending lengths, and the start of the last closing of at least each length."""
        last = {len(match[1]): match.start() for match in _CLOSING[mark].finditer(self.data)}
        lengths = sorted(last)
        starts = list(accumulate((last[length] for length in reversed(lengths)), max))
        return lengths, starts[::-1]
