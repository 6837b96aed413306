"""Runs a command as it would run without us, and hands a copy of its output to a sink.

Where its output goes to a terminal, it gets a terminal of its own, with what else is no terminal left as it is;
where none does, it gets pipes. Call it from the main thread: it catches signals.
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
"""Seconds that a command has, after we were told to end."""

_AT_ONCE = 1 << 16
_LEFT_OVER = 1 << 20
"""A pipe holds no more. Whoever still writes after the command has ended is not waited for."""

_NOT_FOUND = (errno.ENOENT, errno.ENOTDIR)


class Ending(msgspec.Struct, frozen=True):
    code: int
    """For our own exit: the command's, or 128 and the signal that ended it."""
    signal: int | None = None
    """What ended the command, if a signal did."""
    told: int | None = None
    """SIGTERM or SIGHUP, if we were told to end. A terminal that went away counts as SIGHUP."""
    left_running: bool = False
    """The command outlived a hang-up."""
    terminal: bool = False
    """It had a terminal, so that both its streams may be one."""
    sink_error: Exception | None = None
    """What the sink failed with; it was told nothing since."""

    @property
    def hung_up(self) -> bool:
        return self.told is not None


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    sink: Sink,
    started: Callable[[int], None] = lambda _: None,
    grace: float = GRACE,
    watch: Watch | None = None,
) -> Ending:
    """Returns when the command has ended, or soon after we were told to end. `watch` may have it ended for another
    one, where it has a terminal of its own.
    """
    _stand_in_for_closed()
    terminal = os.isatty(1) or os.isatty(2)
    with Signals({*END, *(PtyJob if terminal else Piped).signals}) as signals:
        job = _start(command, env, cwd, signals if terminal else None)
        seen = watch if isinstance(job, PtyJob) and job.can_be_in_front else None
        try:
            if seen and isinstance(job, PtyJob):
                job.pressed = seen.pressed
                seen.open()
            started(job.pid)
            ending = Relay(job, signals, Tap(sink), grace, seen).until_end()
        finally:
            if seen:
                seen.close()
            job.close()
    return msgspec.structs.replace(ending, terminal=terminal)


def _stand_in_for_closed() -> None:
    """Else the next file that is opened would become our input or output."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


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
        return NotFound("no such folder to run a command in", where=str(cwd))
    if error.errno in _NOT_FOUND:
        todo = "check how it is spelled, and the PATH."
        if " " in word.strip():
            todo = "leave out the quotes around the whole command; for a line of the shell, `sh -c '…'`."
        return NotFound("command not found", where=word, todo=todo)
    what = error.strerror or str(error)
    return NotExecutable(f"cannot be run: {what[:1].lower()}{what[1:]}", where=word, todo="is it a program?")


def _read(source: Source) -> tuple[bytes, bool]:
    """What can be read now, in one piece: a terminal gives 4 kB at most, and whoever draws it wakes up for each write.
    And whether that was all there will ever be.
    """
    pieces: list[bytes] = []
    size = 0
    while size < _AT_ONCE:
        try:
            data = os.read(source.fd, _AT_ONCE)
        except BlockingIOError:
            return b"".join(pieces), False
        except OSError:  # Linux says EIO when nobody has the terminal open any more
            data = b""
        if not data:
            return b"".join(pieces), True
        pieces.append(data)
        size += len(data)
    return b"".join(pieces), False


class Relay:
    """The loop between a command and us."""

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
        self._told: int | None = None
        self._deadline: float | None = None
        self._replaced = False
        self._killed = False
        self._given_up = False

    def until_end(self) -> Ending:
        while not (self._ended or self._given_up):
            self._round()
        self._empty()
        self._drain()
        self._tap.flush()
        code = self._ended.code if self._ended else -(self._told or signal.SIGHUP)
        return Ending(
            code if code >= 0 else 128 - code,
            -code if self._ended and code < 0 else None,
            self._told,
            left_running=self._ended is None,
            sink_error=self._tap.error,
        )

    def _round(self) -> None:
        ready = self._wait(self._job.reads(), self._job.writes())
        self._serve_sources(ready)
        for news in self._job.serve(ready):
            self._on_news(news)
        if self._watch and not (self._ended or self._told) and self._watch.look(in_front=self._job.in_front):
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
            elif outlet.broken and self._told is None:  # our terminal is gone
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
        """How much could be passed on; 0 when there is nothing now."""
        data, at_end = _read(source)
        if data:
            source.outlet.write(data)
            self._tap.add(source.stream, data)
            if self._watch:
                self._watch.printed(data)
        if at_end and not source.outlet.full:  # else it is read once more when there is room
            self._at_end(source)
        return len(data)

    def _at_end(self, source: Source) -> None:
        del self._open[source.fd]
        # Where errors go we may have something to say ourselves, so that stays open.
        if source.follows and source.stream != "stderr" and not self._ended:
            source.outlet.end()

    def _shut(self, source: Source) -> None:
        """Nobody reads it: the command's next write fails, as it would without us."""
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
        self._told = self._told or number
        self._end(number)

    def _replace(self) -> None:
        """Ends the command for another one. What is typed from now on is the other one's."""
        self._replaced = True
        self._job.hold()
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        self._job.send(number)
        self._job.send(signal.SIGCONT)
        if self._deadline is None:
            self._deadline = time.monotonic() + self._grace

    def _look_at_clock(self) -> None:
        """A command that ignores SIGTERM is killed; one that ignores a hang-up meant to outlive its terminal."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return
        if (self._told == signal.SIGTERM or self._replaced) and not (self._killed or self._ended):
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
        """Passes on what fits, so that at least the record has it."""
        for source in list(self._open.values()):
            if not source.outlet.full:
                self._pass_on(source)

    def _drain(self) -> None:
        """Passes on what has been written so far, for as long as its reader takes."""
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
