"""Runs one command for its parent, in a process of its own.

The parent writes a request to the standard input and keeps it open. If it closes, the command ends. The answer is
one JSON value on the standard output. Only a process in which nothing else runs can adopt all orphans and end all
its children.
"""

import os
import resource
import selectors
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, NoReturn

import msgspec

from agentplane.curate.conditions.commands import isolation, strays
from agentplane.curate.conditions.commands.isolation import Level


KEPT = 32 << 10
"""Bytes that are kept of the beginning and of the end of the output."""
MOST_PROCESSES = 500
_PIECE = 1 << 16
_TICK = 0.02
_LARGEST_FILE = 8 << 30
_EXEC_FAILED = 127

Ended = Literal["itself", "time", "processes", "parent"]
"""The reason for the end of the command."""


class Request(msgspec.Struct, frozen=True):
    command: str
    folder: str
    seconds: float
    mark: str
    bubblewrap: str | None = None
    """The path of bubblewrap, if it is installed."""
    levels: tuple[Level, ...] | None = None
    """The levels of isolation to try, or None for all."""


class Answer(msgspec.Struct, frozen=True):
    exit_code: int | None
    """None if the command was ended. A negative number is a signal that ended it."""
    ended: Ended
    head: bytes
    tail: bytes
    size: int
    """Number of bytes of the whole output."""
    has_network: bool


class _Child(msgspec.Struct, frozen=True):
    """The running command."""

    output: int
    status: int
    """A pipe with the exit code, which the command can't reach."""
    has_network: bool


def main() -> None:
    """Answer one request."""
    request = msgspec.json.decode(sys.stdin.buffer.readline(), type=Request)
    isolation.adopt_orphans()
    answer = _run(request)
    sys.stdout.buffer.write(msgspec.json.encode(answer))
    sys.stdout.buffer.flush()


def _run(request: Request) -> Answer:
    child = _started(request)
    output = _Output()
    try:
        ended, code = _watch(child, request, output)
    finally:
        strays.end_children(request.mark)
    output.drain(child.output)
    return Answer(code, ended, bytes(output.head), bytes(output.tail), output.size, child.has_network)


class _Output:
    """The beginning and the end of an output."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()
        self.size = 0

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        room = KEPT - len(self.head)
        self.head += piece[:room]
        self.tail += piece[max(0, room) :]
        del self.tail[:-KEPT]

    def drain(self, fd: int) -> None:
        """Add the rest, when all processes that could write have ended."""
        os.set_blocking(fd, False)
        with suppress(BlockingIOError):
            while piece := os.read(fd, _PIECE):
                self.add(piece)


def _watch(child: _Child, request: Request, output: _Output) -> tuple[Ended, int | None]:
    """Read the output until the command ends, or has to end."""
    until = time.monotonic() + request.seconds
    next_count = time.monotonic() + _TICK
    most_of_all = strays.count_of_all() + MOST_PROCESSES // 2
    with selectors.DefaultSelector() as selector:
        for fd in (child.output, child.status, sys.stdin.fileno()):
            selector.register(fd, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            if now >= until:
                return "time", None
            if now >= next_count:
                if (
                    strays.count_of_all() > most_of_all
                    and len(strays.below(os.getpid())) > MOST_PROCESSES // 2
                ):
                    return "processes", None
                next_count = time.monotonic() + _TICK
            ready = {key.fd for key, _ in selector.select(min(until, next_count) - now)}
            if sys.stdin.fileno() in ready:
                return "parent", None
            if child.output in ready:
                piece = os.read(child.output, _PIECE)
                output.add(piece)
                if not piece:
                    selector.unregister(child.output)
            if child.status in ready:
                return "itself", _exit_code(child.status)


def _exit_code(status: int) -> int | None:
    text = os.read(status, 16)
    return int(text) if text else None


# Starting


def _started(request: Request) -> _Child:
    """Start the command with the strictest isolation that works here."""
    for level in request.levels or isolation.levels():
        if child := _start(request, level):
            return child
    raise SystemExit(1)


def _start(request: Request, level: Level) -> _Child | None:
    """Start the command, or return None if this isolation doesn't work here."""
    words = ["/bin/sh", "-c", request.command]
    if level == "bubblewrap":
        if request.bubblewrap is None or not _bubblewrap_works(request.bubblewrap):
            return None
        words = [*isolation.bubblewrap(request.bubblewrap), *words]
    ready_read, ready_write = os.pipe()
    output_read, output_write = os.pipe()
    status_read, status_write = os.pipe()
    if os.fork() == 0:
        for fd in (ready_read, output_read, status_read):
            os.close(fd)
        _relay(request, level, words, (ready_write, output_write, status_write))
    for fd in (ready_write, output_write, status_write):
        os.close(fd)
    is_ready = os.read(ready_read, 1) == b"+"
    os.close(ready_read)
    if is_ready:
        return _Child(output_read, status_read, has_network=level == "none")
    os.close(output_read)
    os.close(status_read)
    return None


def _bubblewrap_works(program: str) -> bool:
    pid = os.fork()
    if pid == 0:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        _execute([*isolation.bubblewrap(program), "/bin/sh", "-c", ":"])
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _relay(request: Request, level: Level, words: Sequence[str], pipes: tuple[int, int, int]) -> NoReturn:
    """Be the parent of the command. The command may end it, because the supervisor still ends everything."""
    ready, output, status = pipes
    try:
        isolation.end_with_parent()
        os.setsid()
        isolation.enter(level)
        if level == "processes":
            _in_first_process()
        isolation.furnish(level)
        os.chdir(request.folder)
        os.write(ready, b"+")
        os.close(ready)
        command = os.fork()
        if command == 0:
            os.close(status)
            _become(request, words, output)
        os.close(output)
        _close_standard_streams()
        os.write(status, b"%d" % _code_of(command))
    finally:
        os._exit(0)


def _in_first_process() -> None:
    """Continue in the first process of the new namespace. Its end ends all others there."""
    first = os.fork()
    if first == 0:
        isolation.end_with_parent()
        return
    os.waitpid(first, 0)
    os._exit(0)


def _code_of(command: int) -> int:
    """Wait for the command, and for processes that lost their parents. Return its exit code."""
    while True:
        pid, status = os.wait()
        if pid == command:
            return os.waitstatus_to_exitcode(status)


def _become(request: Request, words: Sequence[str], output: int) -> NoReturn:
    """Become the command."""
    isolation.end_with_parent()
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, 256)
    for which in (signal.SIGPIPE, signal.SIGINT):
        signal.signal(which, signal.SIG_DFL)
    os.environ[strays.MARK] = request.mark
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _LARGEST_FILE)
    # It has no effect for root, whose processes only the supervisor counts.
    _limit(resource.RLIMIT_NPROC, strays.threads_of_user() + MOST_PROCESSES)
    with suppress(OSError):
        os.nice(5)
    _execute(words)


def _limit(which: int, most: int) -> None:
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _execute(words: Sequence[str]) -> NoReturn:
    try:
        os.execv(words[0], list(words))  # noqa: S606 -- the words are a shell and an approved command
    finally:
        os._exit(_EXEC_FAILED)


def _close_standard_streams() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)


if __name__ == "__main__":
    main()
