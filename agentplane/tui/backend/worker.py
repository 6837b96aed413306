"""The two threads behind the screens. One runs commands, and the other one reads the plane and checks
candidates.

Both post messages and touch no widget.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from agentplane.commands import Command
from agentplane.tui.messages import Looked, OpDone, OpFailed, Refreshed, Unreadable


if TYPE_CHECKING:
    from agentplane.tui.backend.model import PlaneModel

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


class CommandQueue:
    """A thread that runs commands one at a time, in the order in which they were submitted."""

    def __init__(self, model_of: "Callable[[], PlaneModel]", post: Post) -> None:
        self._model_of = model_of
        self._post = post
        self._waiting: deque[Command] = deque()
        self._wake = threading.Condition()
        self._running: Command | None = None
        self._since = 0.0
        self._closed = False
        self._thread: threading.Thread | None = None

    def submit(self, op: Command) -> None:
        with self._wake:
            self._waiting.append(op)
            if self._thread is None:
                # The thread is no daemon, so a command that has begun ends before the process does.
                self._thread = threading.Thread(target=self._work, name="ops", daemon=False)
                self._thread.start()
            self._wake.notify_all()

    @property
    def left(self) -> int:
        """The number of commands that have not ended."""
        with self._wake:
            return len(self._waiting) + (self._running is not None)

    @property
    def slow(self) -> tuple[Command, float] | None:
        """The running command and the seconds since its start, or None."""
        with self._wake:
            return (self._running, time.monotonic() - self._since) if self._running else None

    def drop(self) -> tuple[Command, ...]:
        """Remove the commands that have not begun, and return them."""
        with self._wake:
            dropped = tuple(self._waiting)
            self._waiting.clear()
            self._wake.notify_all()
            return dropped

    def finish(self, seconds: float | None = None) -> bool:
        """Wait until no command is left. Return False on a timeout."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._waiting and self._running is None, seconds)

    def close(self) -> None:
        """Let the thread end once no command is left."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def _work(self) -> None:
        while (op := self._next()) is not None:
            try:
                self._post(OpDone(op, self._model_of().do(op)))
            except Exception as error:  # noqa: BLE001 -- border of the thread: the screen shows the error
                from agentplane.tui.backend.model import as_error

                self._post(OpFailed(op, as_error(error)))
            with self._wake:
                self._running = None
                self._wake.notify_all()

    def _next(self) -> Command | None:
        with self._wake:
            self._wake.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return None
            self._running, self._since = self._waiting.popleft(), time.monotonic()
            return self._running


class PlaneReader:
    """A thread that reads the plane on request. It checks candidates in small groups while no key is pressed."""

    def __init__(self, open_model: "Callable[[], PlaneModel]", post: Post) -> None:
        self._open_model = open_model
        self._post = post
        self._model: PlaneModel | None = None
        self._failed: Exception | None = None
        self._wake = threading.Condition()
        self._reload = True
        self._loading = False
        self._first: Sequence[str] = ()
        self._typed_at = 0.0
        self._read_mark: str | None = None
        self._closed = False
        self._looked_at_reasons = False
        self._unkept = ""
        self._told_touched = True
        self._slice = _FIRST_SLICE
        self._thread = threading.Thread(target=self._work, name="reader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def model(self) -> "PlaneModel":
        """Wait until the plane is open, and return its model. Raise the error if it cannot be opened."""
        with self._wake:
            self._wake.wait_for(lambda: self._model is not None or self._failed is not None)
            if self._model is None:
                raise self._failed or RuntimeError("no plane")
            return self._model

    @property
    def opened(self) -> "PlaneModel | None":
        return self._model

    @property
    def reading(self) -> bool:
        """True if the plane will be read again soon, or is being read."""
        return self._reload or self._loading

    def reload(self, *, only_if_changed: bool = False) -> None:
        model = self._model
        if only_if_changed and model is not None and model.mark == self._read_mark:
            return
        with self._wake:
            self._reload = True
            self._wake.notify_all()

    def in_sight(self, ids: Sequence[str]) -> None:
        """Check these candidates first."""
        with self._wake:
            self._first = ids
            self._wake.notify_all()

    def hush(self) -> None:
        """Stop checking for a moment, because a person types and keys come first."""
        self._typed_at = time.monotonic()

    def quiet_in(self) -> float:
        """Return the number of seconds until typing counts as paused."""
        return max(self._typed_at + _TYPING_SECONDS - time.monotonic(), 0.0)

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def _work(self) -> None:
        while not self._closed:
            try:
                self._step()
            except Exception as error:  # noqa: BLE001 -- border of the thread: the screen shows the error
                from agentplane.tui.backend.model import as_error

                with self._wake:
                    self._failed, self._read_mark = error, None
                    self._wake.notify_all()
                self._post(Unreadable(as_error(error)))
                with self._wake:
                    self._wake.wait_for(lambda: self._reload or self._closed, _RETRY_SECONDS)
                    self._reload = True

    def _step(self) -> None:
        if self._model is None:
            model = self._open_model()
            with self._wake:
                self._model = model
                self._wake.notify_all()
        model = self._model
        if self._reload:
            with self._wake:
                self._reload, self._loading = False, True
            mark = model.mark
            try:
                shown = model.load()
            finally:
                self._loading = False
            self._failed, self._read_mark = None, mark
            self._unkept = "all"
            self._told_touched = False
            self._post(Refreshed(shown))
            return
        left = model.to_look_at(self._first)
        if not self._told_touched:
            self._told_touched = True
            if model.touched or not left:
                self._post(Looked(model.touched[:_MOST_ROWS], len(left)))
        if left:
            only_again = len(left) >= _MANY and not any(map(model.is_urgent, left))
            if not self._typing(max(_CALM_SECONDS, _TYPING_SECONDS) if only_again else _TYPING_SECONDS):
                self._look(model, left)
                self._keep(model)
            return
        self._keep(model)
        if not self._looked_at_reasons:
            self._looked_at_reasons = True
            model.learn_reasons()
        with self._wake:
            self._wake.wait_for(lambda: self._reload or self._closed, _RETRY_SECONDS)

    def _keep(self, model: "PlaneModel") -> None:
        """Save the first rows for the next start, once after the first checks and again after the last."""
        left = bool(model.to_look_at())
        if self._unkept == "all" or (self._unkept == "end" and not left):
            self._unkept = "end" if left else ""
            model.keep_glimpse()

    def _typing(self, seconds: float) -> bool:
        """If a key was pressed in the last seconds, wait and return True."""
        wait = self._typed_at + seconds - time.monotonic()
        if wait <= 0:
            return False
        with self._wake:
            self._wake.wait_for(lambda: self._reload or self._closed, wait)
        return True

    def _look(self, model: "PlaneModel", left: Sequence[str]) -> None:
        ids = left[: self._slice]
        begin = time.perf_counter()
        model.look(ids)
        taken = time.perf_counter() - begin
        per_one = max(taken / len(ids), 1e-5)
        self._slice = max(min(int(_SLICE_SECONDS / per_one), self._slice * 4), 4)
        self._post(Looked(tuple(ids), len(left) - len(ids)))
