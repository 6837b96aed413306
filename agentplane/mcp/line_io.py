"""Reading and writing lines over descriptors that nothing else uses.

Other output of this process goes to standard error, and child processes get no input. Loads nothing heavy.
"""

import fcntl
import os


LONGEST = 4 << 20
"""Maximum bytes of one message."""


class Line:
    def __init__(self) -> None:
        self._in = os.fdopen(fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3), "rb")
        self._out = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.dup2(2, 1)
        os.close(nowhere)

    def read(self) -> bytes | None:
        """Return the next line, or None at the end.

        A line that is too long is read to its end and returned cut.
        """
        line = self._in.readline(LONGEST + 1)
        rest = line
        while len(line) > LONGEST and rest and not rest.endswith(b"\n"):
            rest = self._in.readline(LONGEST)
        return line or None

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._out, view) :]
