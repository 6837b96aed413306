"""The progress of a long command, on one line of the terminal that is erased at the end."""

import os
import sys
import threading
from contextlib import suppress
from typing import TextIO

import click

from agentplane.jobs import Job, Lane, Progress, Step
from agentplane.text.visible import cells, one_line


_KEY = "agentplane.progress_line"
_SOON = 1.0
"""Seconds before the line is shown. A shorter command shows nothing."""
_EVERY = 0.1
_ERASED = "\r\033[K"
_LONGEST_BAR, _SHORTEST_BAR = 30, 4
_COLUMNS = 80
"""The width of a terminal that doesn't report one."""


class ProgressLine:
    """A line on stderr. A report shows it after a second, and printing or the end of the command erases it.

    A job draws it, so that it appears even if the work doesn't report for a long time.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._progress = Progress()
        self._lane = Lane("progress line")
        self._lock = threading.Lock()
        self._begun = False
        self._shown = ""

    def report(self, done: int, total: int, what: str) -> None:
        """Show how far the work has come. The line is erased when everything is done."""
        if total and done >= total:
            self.erase()
            return
        with self._lock:
            self._progress.report(done, total, what)
            if not self._begun:
                self._begun = True
                self._lane.submit(Job(self._draw, key="draw"), after=_SOON)

    def erase(self) -> None:
        """Erase the line until the next report."""
        with self._lock:
            self._progress.report(0, 0, "")
            if self._shown:
                self._write("")

    def close(self) -> None:
        """Erase the line, and end the thread that draws it."""
        self._lane.close()
        self.erase()

    def _draw(self, _: Progress) -> None:
        with self._lock:
            step = self._progress.step
            text = drawn(step, self._columns, unicode=self._has_unicode) if step.what else ""
            if text != self._shown:
                self._write(text)
        self._lane.submit(Job(self._draw, key="draw"), after=_EVERY)

    def _write(self, text: str) -> None:
        self._shown = text
        with suppress(OSError, ValueError):  # the terminal was closed
            self._stream.write(_ERASED + text)
            self._stream.flush()

    @property
    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _COLUMNS
        except (OSError, ValueError):
            return _COLUMNS

    @property
    def _has_unicode(self) -> bool:
        return (self._stream.encoding or "").lower().startswith("utf")


def drawn(step: Step, columns: int, *, unicode: bool = True) -> str:
    """Return the text of the line. It is shorter than the terminal is wide, and it has a bar if there is room."""
    room = columns - 1
    full, empty, more = ("█", "░", "…") if unicode else ("#", "-", "...")
    if not step.total:
        return one_line(step.what + more, room)
    count = f"{step.done:,}/{step.total:,}"
    size = min(room - cells(step.what) - len(count) - 2, _LONGEST_BAR)
    if size < _SHORTEST_BAR:
        return one_line(f"{step.what} {count}", room)
    filled = size * step.done // step.total
    return f"{step.what} {full * filled}{empty * (size - filled)} {count}"


def of_command(context: click.Context) -> ProgressLine | None:
    """Return the progress line of a command. None if nobody reads it, or the output is JSON or quiet."""
    parameters = context.params
    if parameters.get("as_json") or parameters.get("quiet"):
        return None
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    line = ProgressLine(sys.stderr)
    context.meta[_KEY] = line
    context.call_on_close(line.close)
    return line


def erase() -> None:
    """Erase the progress line of the current command, if it has one. Call it before anything is printed."""
    context = click.get_current_context(silent=True)
    line: ProgressLine | None = context.meta.get(_KEY) if context else None
    if line is not None:
        line.erase()
