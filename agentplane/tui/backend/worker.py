"""The two lanes behind the screens. One runs commands, and the other one reads the plane and checks candidates.

Both post messages and touch no widget.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from agentplane.commands import Command
from agentplane.jobs import Done, Failed, Job, Lane, Progress, Result
from agentplane.tui.backend.outcome_text import DOING, Outcome
from agentplane.tui.messages import CandidatesChecked, OpDone, OpFailed, Refreshed, Unreadable


if TYPE_CHECKING:
    from agentplane.tui.backend.model import PlaneModel, PlaneView

Post = Callable[[Message], object]

_SLICE_SECONDS = 0.25
"""Approximate duration of one slice of checks. Short slices let candidates that come into sight go next."""
_FIRST_SLICE = 12
_TYPING_SECONDS = 0.25
_MANY = 200
_CALM_SECONDS = 2.0
"""Seconds without a key before `_MANY` or more candidates are checked again. Urgent checks don't wait that long."""
_RETRY_SECONDS = 2.0
_MOST_ROWS = 500
"""The largest number of rows that are redrawn at once because a change affected them."""

_READ, _CHECK, _RETRY = "read", "check", "retry"
_CHECKING = "Checking candidates"
_FIRST, _LATER = 0, 1
"""The priorities of reading the plane and of checking candidates."""


class CommandQueue:
    """Runs commands one at a time, in the order in which they were submitted.

    A command that was submitted is carried out before the process ends, unless it is dropped before its start.
    """

    def __init__(self, model_of: "Callable[[], PlaneModel]", post: Post) -> None:
        self._model_of = model_of
        self._post = post
        self._lane = Lane("ops", finishes=True)

    def submit(self, op: Command) -> None:
        self._lane.submit(Job(partial(self._do, op), partial(self._tell, op)))

    @property
    def left(self) -> int:
        """The number of commands that have not ended."""
        return self._lane.left

    @property
    def slow(self) -> tuple[str, float] | None:
        """A phrase for the running command and the seconds since its start, or None."""
        running = self._lane.running
        return (running.progress.step.what, time.monotonic() - running.since) if running else None

    def drop(self) -> None:
        """Remove the commands that have not begun."""
        self._lane.drop()

    def finish(self, seconds: float | None = None) -> bool:
        """Wait until no command is left. Return False on a timeout."""
        return self._lane.finish(seconds)

    def close(self) -> None:
        """Let the thread end once no command is left."""
        self._lane.close()

    def _do(self, op: Command, progress: Progress) -> Outcome:
        progress.report(0, 0, DOING[op.verb])
        return self._model_of().do(op)

    def _tell(self, op: Command, result: Result[Outcome]) -> None:
        match result:
            case Done(outcome):
                self._post(OpDone(op, outcome))
            case Failed(error):
                from agentplane.tui.backend.model import as_error

                self._post(OpFailed(op, as_error(error)))


class PlaneReader:
    """Reads the plane on request, and checks candidates in small groups while no key is pressed."""

    def __init__(self, open_model: "Callable[[], PlaneModel]", post: Post) -> None:
        self._open_model = open_model
        self._post = post
        self._lane = Lane("reader")
        self._opening = threading.Condition()
        self._model: PlaneModel | None = None
        self._failed: Exception | None = None
        self._first: Sequence[str] = ()
        self._typed_at = 0.0
        self._read_mark: str | None = None
        self._looked_at_reasons = False
        self._unkept = ""
        self._told_touched = True
        self._slice = _FIRST_SLICE

    def start(self) -> None:
        self.reload()

    @property
    def alive(self) -> bool:
        return self._lane.alive

    def model(self) -> "PlaneModel":
        """Wait until the plane is open, and return its model. Raise the error if it cannot be opened."""
        with self._opening:
            self._opening.wait_for(lambda: self._model is not None or self._failed is not None)
            if self._model is None:
                raise self._failed or RuntimeError("the project memory can't be opened")
            return self._model

    @property
    def opened(self) -> "PlaneModel | None":
        return self._model

    @property
    def reading(self) -> bool:
        """True if the plane will be read again soon, or is being read."""
        return self._lane.has(_READ)

    def reload(self, *, only_if_changed: bool = False) -> None:
        model = self._model
        if only_if_changed and model is not None and model.mark == self._read_mark:
            return
        self._lane.submit(Job(self._read, self._was_read, _READ, _FIRST))

    def in_sight(self, ids: Sequence[str]) -> None:
        """Check these candidates first."""
        self._first = ids

    def hush(self) -> None:
        """Stop checking for a moment, because a person types and keys come first."""
        self._typed_at = time.monotonic()

    def quiet_in(self, seconds: float | None = None) -> float:
        """Return the number of seconds until no key was pressed for so long. The default is a pause in typing."""
        pause = _TYPING_SECONDS if seconds is None else seconds
        return max(self._typed_at + pause - time.monotonic(), 0.0)

    def close(self) -> None:
        """End the thread after the current step. Nothing is read or checked after it."""
        self._lane.close()

    # Reading

    def _read(self, _: Progress) -> "PlaneView":
        model = self._model
        if model is None:
            model = self._open_model()
            with self._opening:
                self._model = model
                self._opening.notify_all()
        mark = model.mark
        shown = model.load()
        self._failed, self._read_mark = None, mark
        self._unkept, self._told_touched = "all", False
        return shown

    def _was_read(self, result: "Result[PlaneView]") -> None:
        match result:
            case Done(shown):
                self._lane.cancel(_RETRY)
                self._post(Refreshed(shown))
                self._check_next()
            case Failed(error):
                self._tell(error)

    def _tell(self, error: Exception) -> None:
        """Show an error, and read the plane again after a moment."""
        from agentplane.tui.backend.model import as_error

        with self._opening:
            self._failed, self._read_mark = error, None
            self._opening.notify_all()
        self._post(Unreadable(as_error(error)))
        self._lane.submit(Job(lambda _: self.reload(), key=_RETRY), after=_RETRY_SECONDS)

    # Checking

    def _check_next(self, after: float = 0.0) -> None:
        self._lane.submit(Job(self._check, self._was_checked, _CHECK, _LATER), after)

    def _was_checked(self, result: Result[None]) -> None:
        if isinstance(result, Failed):
            self._tell(result.error)

    def _check(self, progress: Progress) -> None:
        """Check a few candidates, and submit the check of the next ones. Each report may stop it."""
        model = self._model
        if model is None:
            return
        left = model.to_look_at(self._first)
        progress.report(0, len(left), _CHECKING)
        if not self._told_touched:
            self._told_touched = True
            if model.touched or not left:
                self._post(CandidatesChecked(model.touched[:_MOST_ROWS], len(left)))
        if not left:
            self._keep(model)
            self._learn_reasons(model)
            return
        only_again = len(left) >= _MANY and not any(map(model.is_urgent, left))
        wait = self.quiet_in(max(_CALM_SECONDS, _TYPING_SECONDS) if only_again else _TYPING_SECONDS)
        if not wait:
            self._look(model, left, progress)
            self._keep(model)
        self._check_next(wait)

    def _keep(self, model: "PlaneModel") -> None:
        """Save the first rows for the next start, once after the first checks and again after the last."""
        left = bool(model.to_look_at())
        if self._unkept == "all" or (self._unkept == "end" and not left):
            self._unkept = "end" if left else ""
            model.keep_glimpse()

    def _learn_reasons(self, model: "PlaneModel") -> None:
        if not self._looked_at_reasons:
            self._looked_at_reasons = True
            model.learn_reasons()

    def _look(self, model: "PlaneModel", left: Sequence[str], progress: Progress) -> None:
        ids = left[: self._slice]
        begin = time.perf_counter()
        model.look(ids)
        progress.report(len(ids), len(left), _CHECKING)
        model.save_results()
        progress.report(len(ids), len(left), _CHECKING)
        taken = time.perf_counter() - begin
        per_one = max(taken / len(ids), 1e-5)
        self._slice = max(min(int(_SLICE_SECONDS / per_one), self._slice * 4), 4)
        self._post(CandidatesChecked(tuple(ids), len(left) - len(ids)))
