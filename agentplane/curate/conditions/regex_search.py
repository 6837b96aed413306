"""Searches with untrusted regular expressions."""

import selectors
import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from agentplane.system import programs


SECONDS = 2.0
"""Maximum time of one search."""
_FEWER_SECONDS = 0.2
"""Maximum time of one search after several were ended, so that many of them can't take long together."""
_MOST_ENDED = 5
_START_SECONDS = 1.0
"""Additional time for the start of the process."""
_WORKER = str(Path(__file__).with_name("regex_worker.py"))


class Found(msgspec.Struct, frozen=True):
    line: int
    """The line of the first match, counted from 1. 0 without a match."""


class TooSlow(msgspec.Struct, frozen=True):
    """The search took too long, or used too much memory."""


class Searcher:
    """Searches texts in another process, which is started when it is needed, and again after it was ended.

    A process, because Python's own `re` can't be interrupted. RE2 has no wheels for musl and older macOS.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._ended = 0
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe:
                    with suppress(OSError):
                        pipe.close()
            self._process.wait()
            self._process = None

    def search(self, pattern: str, text: str) -> Found | TooSlow:
        """Return the first line at which a pattern matches in a text."""
        data = [part.encode(errors="surrogateescape") for part in (pattern, text)]
        answer = self._asked(b"%d %d\n" % (len(data[0]), len(data[1])) + b"".join(data))
        if answer is None or not answer.strip().isdigit():
            self.close()
            self._ended += 1
            return TooSlow()
        return Found(int(answer))

    def _asked(self, request: bytes) -> bytes | None:
        is_new = self._process is None
        process = self._running()
        if process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(request)  # the worker reads all of it before it searches
            process.stdin.flush()
        except OSError:
            return None
        seconds = min(self._seconds, _FEWER_SECONDS) if self._ended >= _MOST_ENDED else self._seconds
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            ready = selector.select(seconds + (_START_SECONDS if is_new else 0))
        return process.stdout.readline() if ready else None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                programs.bare_python(_WORKER),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        return self._process
