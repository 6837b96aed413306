"""The process of a hook, with its streams, its time limit and its work after the answer."""

import os


TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_AFTERWARDS = 120
"""Seconds after which the system ends the work that continues without the tool."""
_LARGEST = 16 << 20
_MOST_FILES = 256
"""Descriptors that a tool may have left open for its hooks are below this number."""


def keep_streams_apart() -> None:
    """Open the null device in place of closed standard streams.

    Otherwise the next opened file would get the number of a closed stream. The replacement is read-only, so
    writing to it fails.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)


def read_input() -> bytes:
    """Return the tool's input.

    All of it is read even if it is too long, because a tool may fail if its pipe isn't read.
    """
    if os.isatty(0):
        return b""
    parts: list[bytes] = []
    size = 0
    try:
        while block := os.read(0, 1 << 16):
            size += len(block)
            if size <= _LARGEST:
                parts.append(block)
    except OSError:
        pass
    return b"".join(parts) if size <= _LARGEST else b""


def limit(seconds: int, then: "Callable[[int, FrameType | None], None] | None") -> None:
    import signal

    signal.signal(signal.SIGALRM, then or signal.SIG_DFL)
    signal.alarm(seconds)


def fork(work: "Callable[[], None]", failed: "Callable[[Exception], None]") -> int:
    """Do work in a separate process. The process outlives the tool and keeps none of the tool's files open."""
    child = os.fork()
    if child:
        return child
    try:
        detach()
        os.closerange(3, _MOST_FILES)
        work()
    except Exception as error:  # noqa: BLE001 -- border of the background process: the error goes to the log
        failed(error)
    finally:
        os._exit(0)


def run_apart(work: "Callable[[], bytes]", seconds: float, memory: int) -> bytes | None:
    """Return the result of `work` from a separate process, or None if it fails or takes longer.

    A process that takes longer continues without the tool, so that its result can be stored for the next
    time. Its input can't delay this process or use its memory.
    """
    from agentplane.cli import limited_process

    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            detach()
            os.dup2(write_end, 1)
            os.closerange(3, _MOST_FILES)
            limited_process.limit_memory(memory)
            result = work()
            while result:
                result = result[os.write(1, result) :]
        finally:
            os._exit(0)
    os.close(write_end)
    output = limited_process.read_within(read_end, seconds) or b""
    os.close(read_end)
    return output or None


def detach() -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    limit(_AFTERWARDS, None)


def wait(child: int, seconds: float) -> None:
    import time

    until = time.monotonic() + seconds
    while time.monotonic() < until and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.01)
