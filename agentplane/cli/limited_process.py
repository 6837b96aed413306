"""Work in a separate process with a hard limit on time and memory.

Imports nothing heavy, because `badge` loads it. A timer in the same process can't end work inside a library,
and a signal handler can't free memory. A child process can be ended at any moment, and its parent still
answers.
"""

import os


TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 1 << 16
_FAILED = 70


def within(
    work: "Callable[[], int]", *, seconds: float, cpu_seconds: int, memory: int
) -> "tuple[int, bytes] | None":
    """Return the exit code and the standard output of `work`.

    Return None if it exceeded a limit or failed.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _work(work, write_end, cpu_seconds, memory)
    os.close(write_end)
    output = read_within(read_end, seconds)
    os.close(read_end)
    if output is None:
        import signal

        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return None if output is None or not 0 <= code < _FAILED else (code, output)


def read_within(fd: int, seconds: float) -> bytes | None:
    """Return the bytes that are written until the other end closes. Return None if that takes too long."""
    import select
    import time

    until = time.monotonic() + seconds
    parts: list[bytes] = []
    size = 0
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return None
        part = os.read(fd, _MOST)
        if not part:
            return b"".join(parts)
        size += len(part)
        if size <= _MOST:
            parts.append(part)


def _work(work: "Callable[[], int]", write_end: int, cpu_seconds: int, memory: int) -> None:
    """Run the child. It never returns, and prints only the output of `work`."""
    code = _FAILED
    try:
        import sys

        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(write_end, 1)
        os.dup2(nowhere, 2)
        # The old streams must not write to the pipe that replaced their files.
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        sys.stdout = os.fdopen(1, "w", encoding=encoding, errors="backslashreplace", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)
        _limit("RLIMIT_CORE", 0)
        _limit("RLIMIT_CPU", cpu_seconds)
        limit_memory(memory)
        made = work()
        sys.stdout.flush()
        code = made
    finally:
        os._exit(code)  # the parent reads this code and answers without the result, whatever ended the work


def limit_memory(size: int) -> None:
    """Limit the address space of this process, unless its limit is already lower."""
    _limit("RLIMIT_AS", size)


def _limit(name: str, value: int) -> None:
    import resource

    which = getattr(resource, name, None)
    if which is None:
        return
    soft, hard = resource.getrlimit(which)
    if soft != resource.RLIM_INFINITY and soft <= value:
        return
    try:
        resource.setrlimit(which, (value, hard))
    except (OSError, ValueError):  # macOS knows some limits by name only
        return
