"""Writing output to a shared descriptor without waiting for its reader."""

import os
import select
import stat
import sys
from contextlib import suppress


class Outlet:
    """Buffers output that the other end has not read yet. While it is `full`, callers should read no more for
    it.
    """

    def __init__(self, fd: int) -> None:
        self._shared = fd
        self._own = _opened_again(fd)
        self.fd = fd if self._own is None else self._own
        # A writable pipe takes this many bytes without blocking. A file never blocks.
        self._piece = select.PIPE_BUF if self._own is None and not _is_file(fd) else None
        self._rest = memoryview(b"")
        self.broken: OSError | None = None

    @property
    def full(self) -> bool:
        return bool(self._rest)

    def write(self, data: bytes) -> None:
        if self.broken:
            return
        self._rest = memoryview(data)
        if self._piece is None or _writable(self.fd):
            self.flush()

    def flush(self) -> None:
        """Write as much as possible. If a write could block, write only after the descriptor was found
        writable.
        """
        while self._rest:
            try:
                written = os.write(self.fd, self._rest[: self._piece])
            except BlockingIOError:
                return
            except OSError as error:
                self.broken = error
                self.drop()
                return
            self._rest = self._rest[written:]
            if self._piece is not None and not _writable(self.fd):
                return

    def drop(self) -> None:
        self._rest = memoryview(b"")

    def end(self) -> None:
        """Signal the end of the output to the reader. The shared descriptor number stays open, so no other
        file gets it.
        """
        if _is_file(self._shared):
            return
        self.close()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._shared)
        os.close(nowhere)

    def close(self) -> None:
        if self._own is not None:
            os.close(self._own)
            self._own = None
            self.fd = self._shared


def _opened_again(fd: int) -> int | None:
    """Open the same terminal or pipe for agentplane only.

    Setting the shared descriptor to non-blocking would affect other processes too.
    """
    names = [f"/proc/self/fd/{fd}"] if sys.platform == "linux" else []
    if os.isatty(fd):
        with suppress(OSError):
            names.append(os.ttyname(fd))
    elif not stat.S_ISFIFO(os.fstat(fd).st_mode):
        return None
    for name in names:
        with suppress(OSError):
            return os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    return None


def _is_file(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(fd))


def _writable(fd: int) -> bool:
    return bool(select.select([], [fd], [], 0)[1])
