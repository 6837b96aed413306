"""The program between agentplane and a command in a terminal, with the arguments `CHANNEL TERMINAL`.

A terminal can only stop a command whose parent is in the same session, and a session has one terminal.
Therefore the command's new terminal needs a session whose leader is the command's parent. The leader reports
the state of the command to agentplane. The program imports no module of agentplane and no large module,
because it is started for each run.
"""

import fcntl
import marshal
import os
import select
import signal
import struct
import sys
import termios
from contextlib import suppress


STARTED, FAILED, STOPPED, ENDED = b"S", b"F", b"T", b"X"
FRONT, BACK = b"f", b"b"
"""Orders to continue the command, in the foreground of its terminal or not."""

REPORT = struct.Struct("=ci")
LENGTH = struct.Struct("=Q")


def main(channel: int, terminal: int) -> None:
    for fd in (channel, terminal):
        os.set_inheritable(fd, False)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    command, environment, front = marshal.loads(_read(channel, *LENGTH.unpack(_read(channel, LENGTH.size))))  # noqa: S302 -- from our own parent
    signals, wakeup = os.pipe()
    for fd in (signals, wakeup):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wakeup)
    signal.signal(signal.SIGCHLD, _caught)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _caught)
    pid, error = _start(command, environment, terminal if front else None)
    if error:
        _tell(channel, FAILED, error)
        return
    _tell(channel, STARTED, pid)
    _let_go_of_streams()
    code = _watch(pid, channel, terminal, signals)
    # When a session leader ends, the foreground group gets a hang-up. Daemons of the command should not
    # notice.
    _put_in_front(terminal, os.getpgrp())
    _tell(channel, ENDED, code)
    # The end also discards unread output of the terminal, so agentplane must have read all of it first.
    os.read(channel, 1)


def _start(command: list[bytes], environment: dict[bytes, bytes], terminal: int | None) -> tuple[int, int]:
    """Return the new process id, and the error number if the process could not execute the command."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            if terminal is not None:
                _put_in_front(terminal, os.getpid())
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python and inherited otherwise
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(command[0], command, environment)  # noqa: S606 -- no shell is wanted
        except OSError as error:
            os.write(write, struct.pack("=i", error.errno or 0))
        finally:
            os._exit(127)
    os.close(write)
    failed = os.read(read, 4)
    os.close(read)
    return pid, struct.unpack("=i", failed)[0] if failed else 0


def _watch(pid: int, channel: int, terminal: int, signals: int) -> int:
    """Wait until the command has ended, and return its exit code."""
    poll = select.poll()
    for fd in (signals, channel):
        poll.register(fd, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == signals:
                if signal.SIGHUP in os.read(signals, 512):
                    _hang_up(pid)
                continue
            byte = os.read(channel, 1)
            if byte:
                _put_in_front(terminal, pid if byte == FRONT else os.getpgrp())
                _send(pid, signal.SIGCONT)
            else:
                poll.unregister(channel)
                _hang_up(pid)
        changed, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if not changed:
            continue
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        _tell(channel, STOPPED, os.WSTOPSIG(status))


def _hang_up(pid: int) -> None:
    _send(pid, signal.SIGHUP)
    _send(pid, signal.SIGCONT)


def _send(pid: int, number: int) -> None:
    with suppress(OSError):
        os.killpg(pid, number)


def _put_in_front(terminal: int, group: int) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    with suppress(OSError):  # the terminal may be gone
        os.tcsetpgrp(terminal, group)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _let_go_of_streams() -> None:
    """Close the standard streams. A pipe that this process kept open would never end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.close(nowhere)


def _read(channel: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(channel, size - len(data))
        if not more:
            sys.exit(1)
        data += more
    return data


def _tell(channel: int, what: bytes, value: int) -> None:
    with suppress(OSError):  # the reader may be gone
        os.write(channel, REPORT.pack(what, value))


def _caught(*_: object) -> None:
    """Do nothing. Only the byte on the wakeup descriptor matters."""


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
