"""Background work. A lane is a thread that carries out jobs one at a time, and each job has exactly one result.

A job has a key, a priority, and a function that gets a `Progress`. Submitting a job cancels the waiting job with
the same key, so that a later request replaces an earlier one. All state that only jobs of one lane use needs no
lock.
"""

import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec


T = TypeVar("T")

Report = Callable[[int, int, str], object]
"""Gets the number of things that are done, their total, and a phrase for the work. A total of 0 is unknown."""


class Done(msgspec.Struct, Generic[T], frozen=True):
    """The result of a job that ended."""

    value: T


class Failed(msgspec.Struct, frozen=True):
    """The result of a job that raised an error."""

    error: Exception


class Cancelled(msgspec.Struct, frozen=True):
    """The result of a job that was cancelled before its end."""


Result = Done[T] | Failed | Cancelled


class Stopped(Exception):
    """Raised in a cancelled job when it reports its progress."""


class Step(msgspec.Struct, frozen=True):
    """How far a job has come."""

    done: int = 0
    total: int = 0
    """The number of things to do, or 0 if it is unknown."""
    what: str = ""
    """A phrase such as "Checking candidates"."""


class Progress:
    """The progress of one job. The job reports it, and any thread may read it or cancel the job."""

    def __init__(self) -> None:
        self.step = Step()
        self.ended = False
        """True once the job has a result."""
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Ask the job to stop. It does so at its next report."""
        self._cancelled = True

    def report(self, done: int, total: int, what: str) -> None:
        """Record how far the job has come. Raise `Stopped` if the job was cancelled."""
        if self._cancelled:
            raise Stopped
        self.step = Step(done, total, what)


def ignore(*_: object) -> None:
    """Take a report or a result, and do nothing."""


class Job(msgspec.Struct, Generic[T], frozen=True, eq=False):
    """Work for a lane."""

    work: Callable[[Progress], T]
    then: Callable[[Result[T]], object] = ignore
    """Gets the result once. The lane's thread calls it, or the thread that cancels a job before its start."""
    key: str | None = None
    """Only one job with this key waits in a lane. None if the job replaces no other."""
    priority: int = 0
    """Jobs with a lower number go first."""


class Running(NamedTuple):
    """A job that has begun, and the time of its start."""

    job: Job[Any]
    progress: Progress
    since: float


class _Waiting(NamedTuple):
    priority: int
    number: int
    due: float
    job: Job[Any]


class Agenda:
    """The jobs that wait in a lane, each with the time from which it may begin."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: str) -> bool:
        return any(one.job.key == key for one in self._waiting)

    @property
    def due(self) -> float | None:
        """The time from which the first job may begin, or None if no job waits."""
        return min((one.due for one in self._waiting), default=None)

    def add(self, job: Job[Any], due: float) -> list[Job[Any]]:
        """Add a job. Return the jobs that it replaces."""
        replaced = [] if job.key is None else self.remove(job.key)
        self._waiting.append(_Waiting(job.priority, next(self._numbers), due, job))
        return replaced

    def take(self, now: float) -> Job[Any] | None:
        """Remove and return the most urgent job that may begin. Of equally urgent jobs, the oldest one goes first."""
        found = min((one for one in self._waiting if one.due <= now), default=None)
        if found is None:
            return None
        self._waiting.remove(found)
        return found.job

    def remove(self, key: str | None = None) -> list[Job[Any]]:
        """Remove and return the jobs with this key. The default is all jobs."""
        waiting, self._waiting = self._waiting, []
        if key is not None:
            self._waiting = [one for one in waiting if one.job.key != key]
        return [one.job for one in waiting if key is None or one.job.key == key]


class Lane:
    """A thread that carries out jobs one at a time. It starts with the first job."""

    def __init__(self, name: str, *, finishes: bool = False) -> None:
        """With `finishes`, every submitted job is carried out before the process ends.

        Otherwise the jobs are cancelled when the lane is closed or the process ends.
        """
        self._name = name
        self._finishes = finishes
        self._agenda = Agenda()
        self._wake = threading.Condition()
        self._running: Running | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def submit(self, job: Job[Any], after: float = 0.0) -> None:
        """Add a job that may begin after that many seconds. In a closed lane it is cancelled."""
        with self._wake:
            cancelled = [job] if self._closed else self._agenda.add(job, time.monotonic() + after)
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=not self._finishes)
                self._thread.start()
            self._wake.notify_all()
        _cancel(cancelled)

    @property
    def running(self) -> Running | None:
        """The job that has begun and not ended, or None."""
        return self._running

    @property
    def left(self) -> int:
        """The number of jobs that have not ended."""
        with self._wake:
            return len(self._agenda) + (self._running is not None)

    @property
    def alive(self) -> bool:
        """True while the thread exists."""
        return self._thread is not None and self._thread.is_alive()

    def has(self, key: str) -> bool:
        """True if a job with this key waits, or runs and has no result yet."""
        with self._wake:
            running = self._running
            return key in self._agenda or (
                running is not None and running.job.key == key and not running.progress.ended
            )

    def drop(self) -> None:
        """Cancel the jobs that have not begun."""
        with self._wake:
            cancelled = self._agenda.remove()
            self._wake.notify_all()
        _cancel(cancelled)

    def cancel(self, key: str) -> None:
        """Cancel the job with this key, even if it has begun."""
        with self._wake:
            cancelled = self._agenda.remove(key)
            if self._running is not None and self._running.job.key == key:
                self._running.progress.cancel()
            self._wake.notify_all()
        _cancel(cancelled)

    def finish(self, seconds: float | None = None) -> bool:
        """Wait until no job is left. Return False on a timeout."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._agenda and self._running is None, seconds)

    def close(self) -> None:
        """Take no more jobs, and let the thread end. The jobs that are left are carried out or cancelled."""
        with self._wake:
            self._closed = True
            cancelled = [] if self._finishes else self._agenda.remove()
            if self._running is not None and not self._finishes:
                self._running.progress.cancel()
            self._wake.notify_all()
        _cancel(cancelled)

    def _work(self) -> None:
        while (running := self._next()) is not None:
            try:
                result = _result(running)
                running.progress.ended = True
                _deliver(running.job, result)
            finally:
                with self._wake:
                    self._running = None
                    self._wake.notify_all()

    def _next(self) -> Running | None:
        """Wait for a job that may begin. Return None once the lane is closed and no job is left."""
        with self._wake:
            while self._agenda or not self._closed:
                now = time.monotonic()
                if (job := self._agenda.take(now)) is not None:
                    self._running = Running(job, Progress(), now)
                    return self._running
                due = self._agenda.due
                self._wake.wait(None if due is None else due - now)
        return None


def _result(running: Running) -> Result[Any]:
    try:
        return Done(running.job.work(running.progress))
    except Stopped:
        return Cancelled()
    except Exception as error:  # noqa: BLE001 -- border of the thread: whoever submitted the job gets the error
        return Failed(error)


def _cancel(jobs: list[Job[Any]]) -> None:
    for job in jobs:
        _deliver(job, Cancelled())


def _deliver(job: Job[Any], result: Result[Any]) -> None:
    """Hand over the result of a job. An error of the receiver is printed and must not end the lane."""
    try:
        job.then(result)
    except Exception:  # noqa: BLE001 -- border of the thread
        args = threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread()))
        threading.excepthook(args)
