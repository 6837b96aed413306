"""Running a command as it would run without agentplane, with a copy of its output for a sink.

If any output goes to a terminal, the command gets a separate terminal, and its other streams stay unchanged.
Otherwise it gets pipes. Call it from the main thread, because it catches signals.
"""

import errno
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from agentplane.errors import NotExecutable, NotFound
from agentplane.runs.record.tee import Sink, Tap
from agentplane.runs.restart.requests import Watch
from agentplane.runs.terminal.output import Outlet
from agentplane.runs.terminal.pipe_process import Piped
from agentplane.runs.terminal.poll import Ready, wait
from agentplane.runs.terminal.process import Ended, HungUp, Job, News, Source
from agentplane.runs.terminal.pty_process import PtyJob
from agentplane.runs.terminal.signals import END, Signals


GRACE = 2.0
"""Seconds until a command must have ended after agentplane received a signal to end."""

_AT_ONCE = 1 << 16
_LEFT_OVER = 1 << 20
"""Maximum number of bytes in a pipe. Processes that still write after the end of the command are not waited
for.
"""

_NOT_FOUND = (errno.ENOENT, errno.ENOTDIR)


class Exit(msgspec.Struct, frozen=True):
    """The end of a command, as the process that ran it saw it."""

    code: int
    """Exit code for agentplane. It is the command's code, or 128 plus the number of the signal that ended
    it.
    """
    signal: int | None = None
    """The signal that ended the command, if any."""
    end_signal: int | None = None
    """SIGTERM or SIGHUP, if agentplane received one. A terminal that went away counts as SIGHUP."""
    left_running: bool = False
    """True if the command survived a hang-up."""
    sink_error: Exception | None = None
    """The error of the sink, if it failed. It received nothing after the error."""

    @property
    def hung_up(self) -> bool:
        return self.end_signal is not None


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    sink: Sink,
    started: Callable[[int], None] = lambda _: None,
    grace: float = GRACE,
    watch: Watch | None = None,
) -> Exit:
    """Run a command until it has ended, or until shortly after a signal to end.

    `watch` can replace the command with another one, if the command has a separate terminal.
    """
    _stand_in_for_closed()
    terminal = os.isatty(1) or os.isatty(2)
    with Signals({*END, *(PtyJob if terminal else Piped).signals}) as signals:
        job = _start(command, env, cwd, signals if terminal else None)
        watching = watch if isinstance(job, PtyJob) and job.can_be_in_front else None
        try:
            if watching and isinstance(job, PtyJob):
                job.pressed = watching.pressed
                watching.open()
            started(job.pid)
            return Relay(job, signals, Tap(sink), grace, watching).until_end()
        finally:
            if watching:
                watching.close()
            job.close()


def _stand_in_for_closed() -> None:
    """Open `/dev/null` for closed standard streams. Otherwise the next opened file would become a standard
    stream.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number


def _start(command: Sequence[str], env: Mapping[str, str], cwd: Path, signals: Signals | None) -> Job:
    def attempt(words: Sequence[str]) -> Job:
        return Piped(words, env, cwd) if signals is None else PtyJob(words, env, cwd, signals)

    try:
        try:
            return attempt(command)
        except OSError as error:
            script = _path(command[0], env, cwd)
            if error.errno != errno.ENOEXEC or script is None:
                raise
            return attempt(["/bin/sh", script, *command[1:]])  # as a shell does
    except OSError as error:
        raise _not_started(command[0], cwd, error) from None


def _path(word: str, env: Mapping[str, str], cwd: Path) -> str | None:
    import shutil

    return str(cwd / word) if "/" in word else shutil.which(word, path=env.get("PATH"))


def _not_started(word: str, cwd: Path, error: OSError) -> NotFound | NotExecutable:
    if not cwd.is_dir():
        return NotFound(f"Directory not found: {cwd}")
    if error.errno in _NOT_FOUND:
        todo = "Check the spelling and your PATH."
        if " " in word.strip():
            todo = "Remove the quotes around the whole command. To run a shell command line, use `sh -c '…'`."
        return NotFound(f"Command not found: {word}", todo=todo)
    what = error.strerror or str(error)
    return NotExecutable(f"Can't run {word}: {what}.", todo="Check that it is an executable program.")


def _read(source: Source) -> tuple[bytes, bool]:
    """Return the available output in one piece, and True if the output has ended.

    One read of a terminal returns at most 4 kB. The outer terminal wakes up for each write, so larger pieces
    are cheaper.
    """
    pieces: list[bytes] = []
    size = 0
    while size < _AT_ONCE:
        try:
            data = os.read(source.fd, _AT_ONCE)
        except BlockingIOError:
            return b"".join(pieces), False
        except OSError:  # Linux reports EIO after the last process closed the terminal
            data = b""
        if not data:
            return b"".join(pieces), True
        pieces.append(data)
        size += len(data)
    return b"".join(pieces), False


class Relay:
    """The loop between a command and agentplane."""

    def __init__(
        self, job: Job, signals: Signals, tap: Tap, grace: float, watch: Watch | None = None
    ) -> None:
        self._job = job
        self._watch = watch
        self._signals = signals
        self._tap = tap
        self._grace = grace
        self._open = {source.fd: source for source in job.sources}
        self._ended: Ended | None = None
        self._end_signal: int | None = None
        self._deadline: float | None = None
        self._replaced = False
        self._killed = False
        self._given_up = False

    def until_end(self) -> Exit:
        while not (self._ended or self._given_up):
            self._round()
        self._empty()
        self._drain()
        self._tap.flush()
        code = self._ended.code if self._ended else -(self._end_signal or signal.SIGHUP)
        return Exit(
            code if code >= 0 else 128 - code,
            -code if self._ended and code < 0 else None,
            self._end_signal,
            left_running=self._ended is None,
            sink_error=self._tap.error,
        )

    def _round(self) -> None:
        ready = self._wait(self._job.reads(), self._job.writes())
        self._serve_sources(ready)
        for news in self._job.serve(ready):
            self._on_news(news)
        if (
            self._watch
            and not (self._ended or self._end_signal)
            and self._watch.look(in_front=self._job.in_front)
        ):
            self._replace()

    def _serve_sources(self, ready: Ready) -> None:
        for source in list(self._open.values()):
            outlet = source.outlet
            if outlet.fd in ready.writes:
                outlet.flush()
            if source.fd in ready.reads and not outlet.full:
                self._pass_on(source)
            if source.follows and (outlet.broken or outlet.fd in ready.broken):
                self._shut(source)
            elif outlet.broken and self._end_signal is None:  # the outer terminal is gone
                self._tell(signal.SIGHUP)

    def _on_news(self, news: News) -> None:
        if isinstance(news, Ended):
            self._ended = news
        elif isinstance(news, HungUp):
            self._tell(signal.SIGHUP)
        else:
            self._drain()
            self._tap.flush()
            self._job.stop(news.signal)

    def _pass_on(self, source: Source) -> int:
        """Pass on available output and return its size, or 0 if no output is available."""
        data, at_end = _read(source)
        if data:
            source.outlet.write(data)
            self._tap.add(source.stream, data)
            if self._watch:
                self._watch.printed(data)
        if at_end and not source.outlet.full:  # otherwise it is read again when there is room
            self._at_end(source)
        return len(data)

    def _at_end(self, source: Source) -> None:
        del self._open[source.fd]
        # Agentplane may have its own messages for stderr, so stderr stays open.
        if source.follows and source.stream != "stderr" and not self._ended:
            source.outlet.end()

    def _shut(self, source: Source) -> None:
        """Close a source without a reader. The command's next write fails, as it would without agentplane."""
        if not source.opened.closed:
            self._open.pop(source.fd, None)
            source.opened.close()

    def _outlets(self) -> list[Outlet]:
        return [source.outlet for source in self._job.sources if source.outlet.full]

    def _wait(self, reads: Sequence[int], writes: Sequence[int]) -> Ready:
        sources = [source for source in self._open.values() if not source.outlet.full]
        ins = [self._signals.fd, *reads, *(source.fd for source in sources)]
        ins += [self._watch.fd] if self._watch and self._watch.fd >= 0 else []
        outs = [*writes, *(outlet.fd for outlet in self._outlets())]
        watched = [source.outlet.fd for source in sources if source.follows]
        ready = wait(ins, outs, watched, 0) if self._tap.waiting else None
        if ready is None or not (ready.reads or ready.writes):
            self._tap.flush()
            ready = wait(ins, outs, watched, self._patience())
        if self._signals.fd in ready.reads:
            for number in self._signals.read():
                self._on_signal(number)
        if self._watch and self._watch.fd in ready.reads:
            self._watch.rung()
        self._look_at_clock()
        return ready

    def _on_signal(self, number: int) -> None:
        if number in END:
            self._tell(number)
        elif self._ended is None:
            self._job.on_signal(number)
        elif number in (signal.SIGINT, signal.SIGQUIT):
            self._given_up = True

    def _tell(self, number: int) -> None:
        if self._ended:
            self._given_up = True
            return
        self._end_signal = self._end_signal or number
        self._end(number)

    def _replace(self) -> None:
        """End the command so that another one can replace it. Keys typed from now on go to the new
        command.
        """
        self._replaced = True
        self._job.hold()
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        self._job.send(number)
        self._job.send(signal.SIGCONT)
        if self._deadline is None:
            self._deadline = time.monotonic() + self._grace

    def _look_at_clock(self) -> None:
        """Enforce the deadline. A command that ignores SIGTERM is killed.

        A command that ignores a hang-up is meant to outlive its terminal.
        """
        if self._deadline is None or time.monotonic() < self._deadline:
            return
        if (self._end_signal == signal.SIGTERM or self._replaced) and not (self._killed or self._ended):
            self._killed = True
            self._job.send(signal.SIGKILL)
            self._deadline = time.monotonic() + self._grace
        else:
            self._given_up = True

    def _patience(self) -> float | None:
        times = [self._job.patience()]
        if self._deadline is not None:
            times.append(max(self._deadline - time.monotonic(), 0))
        if self._watch:
            times.append(self._watch.patience(in_front=self._job.in_front))
        return min((each for each in times if each is not None), default=None)

    def _empty(self) -> None:
        """Pass on output that fits, so that at least the record has it."""
        for source in list(self._open.values()):
            if not source.outlet.full:
                self._pass_on(source)

    def _drain(self) -> None:
        """Pass on all output so far, while its reader accepts it."""
        left = dict.fromkeys(self._open, _LEFT_OVER)
        while not self._given_up:
            for fd in list(left):
                source = self._open.get(fd)
                if source and source.outlet.full:
                    continue
                passed = self._pass_on(source) if source else 0
                left[fd] -= passed
                if not passed or left[fd] < 0:
                    del left[fd]
            if self._outlets():
                ready = self._wait_for_room()
                for outlet in self._outlets():
                    if outlet.fd in ready.writes:
                        outlet.flush()
            elif not left:
                return

    def _wait_for_room(self) -> Ready:
        held, self._open = self._open, {}
        try:
            return self._wait((), ())
        finally:
            self._open = held
