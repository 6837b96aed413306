"""Agentplane's side of the process that leads the session of a command's terminal.

`session_leader_main` contains the program of that process.
"""

import errno
import marshal
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agentplane.runs.terminal import session_leader_main
from agentplane.runs.terminal.process import Ended, Stopped
from agentplane.system import programs


class Leader:
    """Call `start` first. Closing hangs up on a command that still runs."""

    def __init__(self, terminal: int, streams: Sequence[int | None], cwd: Path) -> None:
        self._channel, theirs = socket.socketpair()
        stdin, stdout, stderr = streams
        with theirs:
            self._process = subprocess.Popen(
                programs.bare_python(session_leader_main.__file__, str(theirs.fileno()), str(terminal)),
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(theirs.fileno(), terminal),
                start_new_session=True,
            )
        self.pid = self._process.pid

    def fileno(self) -> int:
        return self._channel.fileno()

    def start(self, command: Sequence[str], env: Mapping[str, str], *, front: bool) -> int:
        """Start the command and return its process id. Raise the error that prevented the start."""
        words = [os.fsencode(word) for word in command]
        variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        order = marshal.dumps((words, variables, front))
        with suppress(OSError):  # a process that could not start sends no report
            self._channel.sendall(session_leader_main.LENGTH.pack(len(order)) + order)
        report = self._received()
        if report is None:
            raise OSError(errno.ENXIO, "a terminal for the command could not be set up")
        what, value = report
        if what == session_leader_main.FAILED:
            raise OSError(value, os.strerror(value))
        self._channel.setblocking(False)
        return value

    def resume(self, *, front: bool) -> None:
        """Continue the command, in the foreground of its terminal or not."""
        with suppress(OSError):
            self._channel.send(session_leader_main.FRONT if front else session_leader_main.BACK)

    def news(self) -> Ended | Stopped | None:
        """Return the latest change of the command's state, or None."""
        try:
            report = self._received()
        except BlockingIOError:
            return None
        if report is None:  # the leader was killed, so the command lost its terminal
            return Ended(-signal.SIGKILL)
        what, value = report
        return Ended(value) if what == session_leader_main.ENDED else Stopped(value)

    def close(self) -> None:
        self._channel.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)

    def _received(self) -> tuple[bytes, int] | None:
        data = b""
        try:
            data = self._channel.recv(session_leader_main.REPORT.size, socket.MSG_WAITALL)
        except BlockingIOError:
            raise
        except OSError:
            pass
        if len(data) < session_leader_main.REPORT.size:
            return None
        what, value = session_leader_main.REPORT.unpack(data)
        return what, value
